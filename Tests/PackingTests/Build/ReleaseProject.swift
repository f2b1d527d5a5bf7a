import Foundation
import TestSupport

@testable import PackBuild
@testable import PackProject

/// A project with a `packer.yml` and its sources, and helpers to build it.
struct ReleaseProject {
  let directory: TemporaryDirectory

  static let configuration = """
    app: {bundleID: com.example.arcade, group: group.com.example.arcade}
    serve: {baseURL: "https://cdn.example.com/packs/"}
    headroom: 2 %
    packs:
      - {id: core, root: build/core, delivery: essential, tags: [boot], name: Core, description: What all games share}
      - {id: "game-${name}", each: "build/games/*", delivery: prefetch, tags: ["${name}"]}
      - {id: movie, root: build/movie, delivery: prefetch, install: packed}
      - {id: voices-de, root: build/voices, delivery: onDemand, language: de, name: Voices}

    """

  init(_ text: String = configuration) throws {
    directory = try TemporaryDirectory()
    var random = SeededGenerator(seed: 4)
    try add("core/index.html", Array("<title>core</title>".utf8))
    try add("core/js/main.js", Array(repeating: 65, count: 9000))
    try add("core/empty.txt", [])
    try directory.makeDirectory("build/core/nothing/in/here")
    try add("games/kart/index.html", Array("<title>kart</title>".utf8))
    try add("games/kart/img/a/b/car.png", random.bytes(5000))
    try add("games/poker/index.html", Array("<title>poker</title>".utf8))
    try add("games/poker/cards.bin", random.bytes(70_000))
    try add("movie/intro.mp4", random.bytes(4097))
    try add("voices/hello.wav", random.bytes(300))
    try configure(text)
  }

  func configure(_ text: String) throws {
    try directory.write(text.utf8, to: "packer.yml")
  }

  /// Makes a source file.
  func add(_ path: String, _ bytes: [UInt8]) throws {
    try directory.write(bytes, to: "build/\(path)")
  }

  func remove(_ path: String) throws {
    try FileManager.default.removeItem(atPath: directory(path))
  }

  /// Returns the start of a day in November 2026 as a build time.
  static func time(_ day: Int64 = 1, isFixed: Bool = true) -> BuildTime {
    guard let now = ManifestTime(secondsSince1970: 1_793_491_200 + (day - 1) * 86_400) else { preconditionFailure("a day") }
    return BuildTime(now, isFixed: isFixed)
  }

  @discardableResult
  func build(
    on day: Int64 = 1, isFixed: Bool = true, key first: UInt8 = 0, signers: [UInt8] = [0], _ change: (inout ReleaseBuild) -> Void = { _ in }
  ) async throws(PackError) -> ReleaseBuildReport {
    var build = ReleaseBuild(try PackerConfiguration.read(directory("packer.yml")), time: Self.time(day, isFixed: isFixed))
    build.jobs = 2
    build.files = FaultyFiles()
    change(&build)
    let bytes = (0..<32).map { first &+ $0 }
    var keys: [ReleaseSigner] = []
    for signer in signers { keys.append(ReleaseSigner(try Self.signingKey(signer))) }
    return try await build.run(key: try PackKey(bytes: bytes.byteSpan), signers: keys)
  }

  /// Returns the signing key whose seed bytes count up from `first`.
  static func signingKey(_ first: UInt8) throws(PackError) -> SigningKey {
    let seed = (0..<32).map { first &+ $0 }
    return try SigningKey(seed: SecretBytes(copying: seed.byteSpan))
  }

  /// Returns the error that building fails with, or nil if it succeeds.
  func refusal(
    on day: Int64 = 1, key: UInt8 = 0, signers: [UInt8] = [0], _ change: (inout ReleaseBuild) -> Void = { _ in }
  ) async -> PackError? {
    do throws(PackError) {
      try await build(on: day, key: key, signers: signers, change)
      return nil
    } catch {
      return error
    }
  }

  /// Returns the contents of all files in a directory, by name.
  func contents(of name: String = "dist") -> [String: [UInt8]] {
    let root = directory(name)
    var files: [String: [UInt8]] = [:]
    for case let path as String in FileManager.default.enumerator(atPath: root) ?? .init() {
      var isDirectory = false as ObjCBool
      guard FileManager.default.fileExists(atPath: "\(root)/\(path)", isDirectory: &isDirectory), !isDirectory.boolValue else { continue }
      files[path] = directory.bytes(of: "\(name)/\(path)")
    }
    return files
  }

  func manifest() throws -> Manifest {
    let document = try SignedManifest(directory.bytes(of: "dist/manifest.json") ?? [])
    return try Manifest(parsingSigned: document.bytes.byteSpan.extracting(document.signedBytes))
  }

  /// The packs of the manifest and of its catalogue.
  func packs() throws -> [ManifestPack] { try ReleaseCatalogue(try manifest(), in: directory("dist")).packs }

  func pack(_ id: String) throws -> ManifestPack? {
    try packs().first { $0.id == id }
  }

  /// - Parameter keepsPacks: Whether the packs are kept for deltas.
  @discardableResult
  func record(_ app: ReleaseRecording.App? = nil, keepsPacks: Bool = false) throws(PackError) -> ReleaseRecording.Report {
    var recording = ReleaseRecording(dist: directory("dist"), lockPath: directory("packer.lock.json"))
    if keepsPacks { recording.configuration = try PackerConfiguration.read(directory("packer.yml")) }
    recording.files = FaultyFiles()
    return try recording.record(app)
  }

  func lock() throws(PackError) -> ReleaseLock { try ReleaseLock.read(directory("packer.lock.json")) }
}

extension ReleaseBuildReport {
  /// Returns the ids of the packs with this action.
  func ids(_ action: Item.Action) -> [String] { items.filter { $0.action == action }.map(\.id) }
}
