import Foundation
import TestSupport

/// Three consecutive releases of one app, built once for all tests. Tests must not change them.
///
/// | pack | class | 1 | 2 | 3 |
/// |---|---|---|---|---|
/// | core | essential | 1 | 2 | 3 |
/// | extra | prefetch | 1 | 1 | 2 |
/// | gone | prefetch | 1 | 1 | |
/// | music | prefetch, packed | 1 | 2 | 2 |
/// | voices-de | on demand | 1 | 1 | 1 |
struct Releases: Sendable {
  let directory: TemporaryDirectory
  let all: [SimulatedRelease]
  /// The content of the file in a pack, by pack and release, such as `core-1`.
  let sources: [String: [UInt8]]

  private static let making = Task { try await Releases() }
  /// The path of the directory, which is removed when the process ends.
  private static let place = Monitor("")

  static func made() async throws -> Releases { try await making.value }

  private init() async throws {
    let directory = try TemporaryDirectory()
    self.directory = directory
    Self.place.update { $0 = directory.path }
    atexit { try? FileManager.default.removeItem(atPath: Releases.place.withLock { $0 }) }
    (all, sources) = try await Self.build(in: directory)
  }

  private static func build(in directory: TemporaryDirectory) async throws -> ([SimulatedRelease], [String: [UInt8]]) {
    func fill(_ name: String, _ count: Int, seed: UInt64) throws {
      var random = SeededGenerator(seed: seed)
      try directory.write(random.bytes(count), to: "build/\(name)")
    }
    try fill("core/index.html", 30_000, seed: 1)
    try fill("extra/level.bin", 10_000, seed: 2)
    try fill("gone/old.bin", 4000, seed: 3)
    try fill("music/theme.ogg", 100_000, seed: 4)
    try fill("voices/hello.ogg", 5000, seed: 5)
    var releases: [SimulatedRelease] = []
    var sources: [String: [UInt8]] = [:]
    for number in 1...3 {
      if number == 2 { try fill("music/theme.ogg", 101_000, seed: 6) }
      if number == 3 { try fill("extra/level.bin", 11_000, seed: 7) }
      if number > 1 { try fill("core/index.html", 30_000 + number, seed: UInt64(10 + number)) }
      let gone = number < 3 ? "  - {id: gone, root: build/gone, delivery: prefetch}\n" : ""
      try directory.write((Self.configuration + gone).utf8, to: "packer.yml")
      let time = try Self.present(ManifestTime(secondsSince1970: 1_793_491_200 + Int64(number) * 864_000))
      var build = ReleaseBuild(try PackerConfiguration.read(directory("packer.yml")), time: BuildTime(time, isFixed: true))
      build.jobs = 1
      build.files = FaultyFiles()
      _ = try await build.run(key: try Self.key(), signers: [ReleaseSigner(try Self.signer())])
      var recording = ReleaseRecording(dist: directory("dist"), lockPath: directory("packer.lock.json"))
      recording.files = FaultyFiles()
      _ = try recording.record()
      try FileManager.default.copyItem(atPath: directory("dist"), toPath: directory("release-\(number)"))
      for (id, file) in [("core", "core/index.html"), ("extra", "extra/level.bin"), ("gone", "gone/old.bin")] {
        sources["\(id)-\(number)"] = directory.bytes(of: "build/\(file)")
      }
      releases.append(try SimulatedRelease(reading: directory("release-\(number)")))
    }
    return (releases, sources)
  }

  private static let configuration = """
    app: {bundleID: com.example.arcade, group: group.com.example.arcade}
    serve: {baseURL: "https://cdn.example.com/packs/"}
    headroom: 2 %
    packs:
      - {id: core, root: build/core, delivery: essential, tags: [boot]}
      - {id: extra, root: build/extra, delivery: prefetch}
      - {id: music, root: build/music, delivery: prefetch, install: packed}
      - {id: voices-de, root: build/voices, delivery: onDemand, tags: [german]}

    """

  static func present<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw PackError(.internalError, "a value is missing") }
    return value
  }

  static func key(_ first: UInt8 = 0) throws(PackError) -> PackKey {
    let bytes = (0..<32).map { first &+ $0 }
    return try PackKey(bytes: bytes.byteSpan)
  }

  static func signer(_ first: UInt8 = 0) throws(PackError) -> SigningKey {
    let seed = (0..<32).map { first &+ $0 }
    return try SigningKey(seed: SecretBytes(copying: seed.byteSpan))
  }

  /// Returns a release by its number, from 1.
  subscript(number: Int) -> SimulatedRelease { all[number - 1] }

  func pack(_ id: String, of number: Int) throws -> ManifestPack {
    try Self.present(self[number].manifest.packs.first { $0.id == id })
  }

  /// Returns the rules of an app for a release: the values that the build wrote, unless other numbers or hosts are given.
  func rules(_ number: Int, essential: UInt64? = nil, other: UInt64? = nil, hosts: [String]? = nil) throws -> SystemRules {
    var keys = try InfoPlist.read(directory("release-\(number)/Info.fragment.plist")).keys
    if let essential { keys.essentialDownloadAllowance = essential }
    if let other { keys.downloadAllowance = other }
    if let hosts { keys.allowList = AllowList(hosts) }
    return try SystemRules(InfoPlist(parsing: InfoPlist.fragment(of: keys), path: "Info.plist"))
  }

  func settings(_ event: DeliveryEvent, _ number: Int = 1, from earlier: Int? = nil, _ faults: String...) throws -> SimulationSettings {
    var settings = SimulationSettings(
      event, of: self[number], rules: try rules(number), trusted: TrustedKeys([try Self.signer().publicKey]), keys: KeyRing(try Self.key()))
    settings.earlier = earlier.map { self[$0] }
    settings.faults = try faults.map { try SimulatedFault(parsing: $0) }
    return settings
  }

  /// Returns a changed copy of a release.
  func copy(of number: Int, _ name: String, _ change: (String) throws -> Void) throws -> SimulatedRelease {
    let path = directory(name)
    try FileManager.default.copyItem(atPath: directory("release-\(number)"), toPath: path)
    try change(path)
    return try SimulatedRelease(reading: path)
  }
}

/// Runs a simulation on a temporary device.
func play(_ settings: SimulationSettings) async throws -> SimulationReport {
  let directory = try TemporaryDirectory()
  var simulation = Simulation(settings, in: directory.path)
  return try await simulation.run()
}

extension SimulationReport {
  /// Returns the codes that the system reported about a pack, in order; nil for the manifest. An error without a code is -1.
  func codes(_ pack: String?) -> [Int] { events.filter { $0.pack == pack }.compactMap { $0.error.map { $0.code ?? -1 } } }

  /// All reported codes.
  var codes: Set<Int> { Set(events.compactMap { $0.error?.code }) }

  var notReady: [String] { packs.filter { $0.state != "ready" }.map(\.id) }

  func remedies(_ code: Int) -> [String] { events.filter { $0.error?.code == code }.compactMap(\.remedy) }

  /// All events, findings and states, for the message of a failed test.
  var story: String {
    (events.map { "\($0.time) \($0.actor) \($0.text) \($0.error.map { "\($0)" } ?? "") \($0.remedy ?? "")" }
      + findings.map { "finding \($0.kind): \($0.message)" } + packs.map { "\($0.id) \($0.state)" }).joined(separator: "\n")
  }
}
