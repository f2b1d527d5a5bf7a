import Foundation
import TestSupport
import Testing

@testable import PackBuild
@testable import PackProject

@Suite("The shares of a build that machines make into a cache", .bounded)
struct ShareTests {
  private static let configuration = "perPackKeys: true\nupdates: {worth: 1}\n" + ReleaseProject.configuration

  private static func rootKey() throws(PackError) -> PackKey {
    let bytes = (0..<32).map { UInt8($0) }
    return try PackKey(bytes: bytes.byteSpan)
  }

  /// Makes a share with no key but those of its packs.
  @discardableResult
  private func fill(
    _ project: ReleaseProject, _ share: String? = nil, into shelf: Shelf, files: FaultyFiles = FaultyFiles(), maker: String = "1.0",
    _ change: (inout ReleaseBuild) -> Void = { _ in }
  ) async throws(PackError) -> ReleaseBuildReport {
    var build = ReleaseBuild(
      try PackerConfiguration.read(project.directory("packer.yml"), sources: .optional), time: ReleaseProject.time(20, isFixed: false))
    (build.jobs, build.files) = (2, files)
    change(&build)
    let packs = try build.packs(in: try share.map { (text) throws(PackError) in try BuildShare(parsing: text) })
    var keyed: [KeyedPack] = []
    for pack in packs { keyed.append(KeyedPack(pack, key: Shared(try Self.rootKey().packKey(for: pack.id)))) }
    return try await build.fill(PackCache(shelf, maker: maker, isRequired: true), with: keyed)
  }

  private func build(
    _ project: ReleaseProject, with shelf: Shelf?, on day: Int64 = 1, isFixed: Bool = true
  ) async throws -> ReleaseBuildReport {
    try await project.build(on: day, isFixed: isFixed) { $0.cache = shelf.map { PackCache($0, maker: "1.0") } }
  }

  private func refusal(_ body: () async throws -> Void) async throws -> PackError {
    do {
      try await body()
    } catch {
      return try #require(error as? PackError)
    }
    throw PackError(.internalError, "nothing was refused")
  }

  @Test("make the release of one machine, however many there are, in any order, and twice", arguments: [true, false], [1, 2, 3, 7])
  func shares(isFixed: Bool, count: Int) async throws {
    let (project, shelf) = (try ReleaseProject(Self.configuration), Shelf())
    _ = try await build(project, with: nil, isFixed: isFixed)
    let expected = project.contents()
    try project.remove("dist")
    let names = project.directory.names()
    var made: [String] = []
    for share in (1...count).reversed() {
      let report = try await fill(project, "\(share)/\(count)", into: shelf)
      #expect(report.release == nil && report.remarks.isEmpty)
      made += report.ids(.packed)
      #expect(try await fill(project, "\(share)/\(count)", into: shelf).ids(.packed).isEmpty)
    }
    #expect(made.sorted() == ["core", "game-kart", "game-poker", "movie", "voices-de"])
    #expect(project.directory.names() == names)
    #expect(shelf.packs.count == 5 && shelf.files.count == 10)
    #expect(try await build(project, with: shelf, isFixed: isFixed).ids(.cached).count == 5)
    #expect(project.contents() == expected)
  }

  @Test("of lists have each item once", arguments: [1, 2, 3, 7, 40, 100])
  func partitions(count: Int) throws {
    let shares = try (1...count).map { try BuildShare(parsing: "\($0)/\(count)").items(of: Array(1...40)) }
    #expect(shares.flatMap(\.self).sorted() == Array(1...40))
    let sizes = shares.map(\.count)
    #expect((sizes.max() ?? 0) - (sizes.min() ?? 0) <= 1)
  }

  @Test(
    "are not named by anything else", arguments: ["", "1", "0/2", "3/2", "1/0", "1/2/3", "1/10001", "a/b", "-1/2", "1/9999999999999999999"])
  func otherShares(text: String) throws {
    #expect(throws: PackError.self) { try BuildShare(parsing: text) }
    let share = try BuildShare(parsing: "2/10")
    #expect(share.number == 2 && share.count == 10)
  }

  @Test("need the sources of their packs only, and make packs that are named")
  func sources() async throws {
    let (project, other, shelf) = (try ReleaseProject(Self.configuration), try ReleaseProject(Self.configuration), Shelf())
    try other.remove("build/core")
    try other.remove("build/games/poker")
    #expect(try await fill(other, into: shelf) { $0.wanted = ["game-kart", "movie"] }.ids(.packed) == ["game-kart", "movie"])
    #expect(try await fill(other, "2/2", into: shelf) { $0.wanted = ["movie", "voices-de"] }.ids(.packed) == ["voices-de"])
    #expect(try await refusal { try await fill(other, into: shelf) { $0.wanted = ["core"] } }.code == .missingInput)
    #expect(try await refusal { try await fill(other, into: shelf) { $0.wanted = ["game-poker"] } }.code == .usage)
    let report = try await build(project, with: shelf)
    #expect(report.ids(.cached) == ["game-kart", "movie", "voices-de"] && report.ids(.packed) == ["core", "game-poker"])
  }

  @Test("of other sources, settings, keys or packers are not taken, and the release is that of one machine", arguments: 0..<4)
  func others(kind: Int) async throws {
    let (project, other, shelf) = (try ReleaseProject(Self.configuration), try ReleaseProject(Self.configuration), Shelf())
    switch kind {
    case 0: for path in ["core/x", "games/kart/x", "games/poker/x", "movie/x", "voices/x"] { try other.add(path, [1]) }
    case 1: try other.configure("defaults: {level: 7}\n" + Self.configuration)
    case 2:
      try other.configure(Self.configuration.replacingOccurrences(of: "perPackKeys: true\n", with: ""))
      let build = ReleaseBuild(try PackerConfiguration.read(other.directory("packer.yml")), time: ReleaseProject.time())
      let packs = try build.keyed(build.packs(in: nil), with: Shared(try Self.rootKey()))
      _ = try await build.fill(PackCache(shelf, maker: "1.0", isRequired: true), with: packs)
    default: break
    }
    if kind != 2 { try await fill(other, into: shelf, maker: kind == 3 ? "1.1" : "1.0") }
    #expect(shelf.packs.count == 5)
    let report = try await build(project, with: shelf)
    #expect(report.ids(.packed).count == 5 && report.remarks.isEmpty)
    let found = project.contents()
    try project.remove("dist")
    _ = try await build(project, with: nil)
    #expect(project.contents() == found)
  }

  @Test("find a damaged entry, and make it anew")
  func damaged() async throws {
    let (project, shelf) = (try ReleaseProject(Self.configuration), Shelf())
    try await fill(project, into: shelf)
    let good = shelf.files
    for (name, bytes) in shelf.packs { shelf.files[name] = bytes.enumerated().map { $0 == bytes.count / 2 ? $1 ^ 1 : $1 } }
    let report = try await fill(project, into: shelf)
    #expect(report.ids(.packed).count == 5 && report.remarks.count == 5 && shelf.files == good)
  }

  @Test("of a release that is there already are not made again")
  func present() async throws {
    let (project, shelf) = (try ReleaseProject(Self.configuration), Shelf())
    _ = try await build(project, with: nil)
    try project.add("movie/intro.mp4", [1, 2, 3])
    let before = project.contents()
    let report = try await fill(project, into: shelf)
    #expect(report.ids(.packed) == ["movie"] && report.ids(.reused).count == 4 && shelf.packs.count == 1)
    #expect(project.contents() == before)
  }

  @Test("leave a cache that any build can use if a file operation fails")
  func failures() async throws {
    let project = try ReleaseProject(Self.configuration)
    _ = try await build(project, with: nil)
    let expected = project.contents()
    try project.remove("dist")
    let (counting, names) = (FaultyFiles(), project.directory.names())
    try await fill(project, into: Shelf(), files: counting) { $0.wanted = ["game-kart"] }
    for number in stride(from: 0, to: counting.calls.count, by: 5) {
      let shelf = Shelf()
      _ = try? await fill(project, into: shelf, files: FaultyFiles.failing(at: number)) { $0.wanted = ["game-kart"] }
      #expect(shelf.packs.count <= 1, "\(counting.calls[number])")
      #expect(project.directory.names().filter { !$0.hasPrefix(".") } == names.filter { !$0.hasPrefix(".") })
      if number % 25 == 0 {
        _ = try await build(project, with: shelf)
        #expect(project.contents() == expected, "\(counting.calls[number])")
        try project.remove("dist")
      }
    }
  }

  @Test("fail if the cache cannot be read or written")
  func required() async throws {
    let (project, shelf) = (try ReleaseProject(Self.configuration), Shelf())
    let names = project.directory.names()
    shelf.state.withLock { $0.writing = PackError(.cannotWrite, "access denied") }
    let writing = try await refusal { try await fill(project, into: shelf) }
    #expect(writing.code == .cannotWrite && writing.message == "the cache games:cache: access denied")
    shelf.state.withLock { $0.reading = PackError(.cannotRead, "no route to host") }
    let reading = try await refusal { try await fill(project, into: shelf) }
    #expect(reading.code == .cannotRead && reading.message == "the cache games:cache: no route to host")
    #expect(project.directory.names() == names && shelf.files.isEmpty)
  }

  @Test("get the versions and deltas that one build gives, also if their compression makes other bytes than were released")
  func versions() async throws {
    let (project, shelf) = (try ReleaseProject(Self.configuration), Shelf())
    _ = try await build(project, with: nil)
    try project.record(keepsPacks: true)
    // As if another zstd had made the released bytes.
    var lock = try project.lock()
    lock.released?.packs[1].sha256[0] ^= 1
    try project.remove("packer.lock.json")
    try project.directory.write(lock.document, to: "packer.lock.json")
    var random = SeededGenerator(seed: 4)
    _ = random.bytes(5000)
    var cards = random.bytes(70_000)
    cards[100] ^= 1
    try project.add("games/poker/cards.bin", cards)
    try project.remove("dist")
    let alone = try await build(project, with: nil, on: 2)
    let expected = project.contents()
    #expect(alone.items.map(\.version) == [1, 2, 2, 1, 1] && alone.updates.contains { $0.id == "game-poker" && $0.action == .made })
    try project.remove("dist")
    var made: [String] = []
    for share in 1...2 {
      let report = try await fill(project, "\(share)/2", into: shelf)
      made += report.updates.filter { $0.action == .made }.map(\.id)
    }
    #expect(made == ["game-poker"])
    let report = try await build(project, with: shelf, on: 2)
    #expect(report.ids(.packed).isEmpty && report.updates.filter { $0.action == .cached }.map(\.id) == ["game-poker"])
    #expect(report.remarks.contains { $0.message.contains("becomes version 2") })
    #expect(project.contents() == expected)
    // Without the packs of the last release, the build makes the deltas.
    try project.remove("dist")
    for name in try FileManager.default.contentsOfDirectory(atPath: project.directory("released")) where name.hasSuffix(".pack") {
      try project.remove("released/\(name)")
    }
    let other = Shelf()
    let lacking = try await fill(project, into: other)
    #expect(lacking.updates.isEmpty && lacking.ids(.packed).count == 5)
    #expect(!lacking.remarks.contains { $0.isWarning })
  }
}
