import Foundation
import TestSupport
import Testing

@testable import PackBuild
@testable import PackProject

@Suite("The differences between trees", .bounded)
struct ComparisonTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func run(_ before: Comparison.Side, _ after: Comparison.Side) async throws -> DifferenceReport {
    try await Comparison(from: before, to: after, key: Shared(try sampleKey())).run()
  }

  private func code(_ body: () async throws -> Void) async -> PackError.Code? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? PackError)?.code
    }
  }

  private func lines(_ report: DifferenceReport) -> [String] {
    report.packs.flatMap { $0.files?.changes ?? [] }.map { change in
      "\(change.kind) \(change.kind == .renamed ? "\(change.before?.path ?? "") -> " : "")\(change.path)"
    }
  }

  private func pack(_ tree: String, _ name: String = "game") async throws -> Comparison.Side {
    let path = directory("\(tree).pack")
    _ = try await PackJob(source: directory(tree), output: path, name: try PackName(name)).run(key: try sampleKey())
    return .pack(try Pack.open(path, key: try sampleKey()), path: path)
  }

  @Test("are the same between directories, packs and both, and each kind is named")
  func kinds() async throws {
    var random = SeededGenerator(seed: 7)
    let (moved, other) = (random.bytes(3000), random.bytes(500))
    func file(_ count: Int, executable: Bool = false) -> SampleTree.File { .init(random.bytes(count), isExecutable: executable) }
    let same = file(10)
    var old = SampleTree(["same": same, "gone": file(700), "bigger": file(100), "a/moved.png": .init(moved), "b/moved.png": .init(moved)])
    old.files["run"] = .init(other)
    old.emptyDirectories = ["empty", "was-directory"]
    var new = SampleTree(["same": same, "fresh": file(5000), "bigger": file(200), "c/other.png": .init(moved), "d/moved.png": .init(moved)])
    new.files["run"] = .init(other, isExecutable: true)
    new.files["was-directory"] = file(1)
    new.emptyDirectories = ["empty", "new-empty"]
    try old.write(to: "old", in: directory)
    try new.write(to: "new", in: directory)
    let expected: Set = [
      "added fresh", "removed gone", "changed bigger", "renamed a/moved.png -> d/moved.png", "renamed b/moved.png -> c/other.png",
      "mode run", "changed was-directory", "added new-empty",
    ]
    let sides: [(Comparison.Side, Comparison.Side)] = [
      (.folder(directory("old")), .folder(directory("new"))), (try await pack("old"), try await pack("new")),
      (.folder(directory("old")), try await pack("new")), (try await pack("old"), .folder(directory("new"))),
    ]
    for (before, after) in sides {
      let report = try await run(before, after)
      #expect(Set(lines(report)) == expected && lines(report).count == expected.count)
      #expect(report.packs.first?.files?.unchanged.count == 2)
    }
    // The most expensive first, and what is gone last.
    #expect(lines(try await run(sides[0].0, sides[0].1)).first == "added fresh")
    #expect(lines(try await run(sides[0].0, sides[0].1)).last == "removed gone")
    let report = try await run(sides[1].0, sides[1].1)
    let files = try #require(report.packs.first?.files)
    let packed = TreeChanges.sum(files.changes).packedSize + files.unchanged.packedSize + (report.packs.first?.packRest ?? 0)
    #expect(packed == directory.bytes(of: "new.pack").map { UInt64($0.count) })
    #expect(lines(try await run(sides[1].0, sides[1].0)) == [])
  }

  @Test("a content that many files had is matched in linear time")
  func manyMoves() async throws {
    let content = SampleTree.File([1, 2, 3])
    try SampleTree(Dictionary(uniqueKeysWithValues: (0..<6000).map { ("a/\($0)", content) })).write(to: "old", in: directory)
    try SampleTree(Dictionary(uniqueKeysWithValues: (0..<6000).map { ("b/\($0)", content) })).write(to: "new", in: directory)
    let report = try await run(.folder(directory("old")), .folder(directory("new")))
    let changes = try #require(report.packs.first?.files?.changes)
    #expect(
      changes.count == 6000 && changes.allSatisfy { $0.kind == .renamed && $0.before?.path.dropFirst(2) == $0.path.dropFirst(2)[...] })
  }

  @Test("a release is compared with the directories or the pack of its names; without any, it is said what to do")
  func mixed() async throws {
    let project = try ReleaseProject()
    try await project.build()
    let release = Comparison.Side.release(try ComparedRelease(reading: project.directory("dist")))
    let configuration = try PackerConfiguration.read(project.directory("packer.yml"))
    let key = Shared(try sampleKey())
    func report(_ other: Comparison.Side) async throws -> DifferenceReport {
      try await Comparison(from: release, to: other, key: key).run()
    }
    #expect(try await report(.sources(configuration)).packs.map(\.kind) == Array(repeating: .unchanged, count: 5))
    try project.add("core/index.html", Array("<title>new</title>".utf8))
    let changed = try await report(.sources(configuration))
    #expect(changed.packs.first?.id == "core" && lines(changed) == ["changed index.html"] && changed.count(.unchanged) == 4)
    let unpacked = try await report(.folder(project.directory("build")))
    #expect(unpacked.packs.first { $0.id == "core" }?.files?.changes.map(\.path) == ["index.html"])
    #expect(unpacked.packs.filter { $0.kind == .removed }.compactMap(\.id) == ["game-kart", "game-poker", "voices-de"])
    #expect(await code { _ = try await report(.folder(project.directory("build/core"))) } == .usage)
    let name = try #require(FileManager.default.contentsOfDirectory(atPath: project.directory("dist")).first { $0.hasPrefix("movie-") })
    let movie = try Pack.open(project.directory("dist/\(name)"), key: try sampleKey())
    #expect(try await report(.pack(movie, path: name)).packs.map(\.id) == ["movie"])
    try SampleTree(["a": .init([1])]).write(to: "other", in: directory)
    let other = try await pack("other", "unknown")
    #expect(await code { _ = try await report(other) } == .usage)
  }

  @Test("a pack that is missing, and an earlier one with another key, are named; another key for the pack now is an error")
  func obstacles() async throws {
    let project = try ReleaseProject()
    try await project.build()
    try FileManager.default.copyItem(atPath: project.directory("dist"), toPath: project.directory("old"))
    try project.add("core/index.html", Array("<title>new</title>".utf8))
    try await project.build(key: 1)
    let old = Comparison.Side.release(try ComparedRelease(reading: project.directory("old")))
    let new = Comparison.Side.release(try ComparedRelease(reading: project.directory("dist")))
    func key(_ first: UInt8) throws -> Shared<PackKey> {
      let bytes = (0..<32).map { first &+ $0 }
      return Shared(try PackKey(bytes: bytes.byteSpan))
    }
    let report = try await Comparison(from: old, to: new, key: try key(1)).run()
    #expect(report.count(.repacked) == 4 && report.packs.first { $0.id == "core" }?.obstacle?.contains("another key") == true)
    #expect(await code { _ = try await Comparison(from: old, to: new, key: try key(2)).run() } == .wrongKey)
    let without = try await Comparison(from: old, to: new, key: nil).run()
    #expect(without.packs.first { $0.id == "core" }?.obstacle == "no key was given")
    for name in try FileManager.default.contentsOfDirectory(atPath: project.directory("dist")) where name.hasPrefix("core-") {
      try project.remove("dist/\(name)")
      let missing = try await Comparison(from: old, to: new, key: try key(0)).run()
      #expect(missing.packs.first { $0.id == "core" }?.obstacle == "\(name) is missing")
    }
  }

  @Test("an allowance must not be used up, an install size may; the tightest allowance is named")
  func room() {
    func amount(_ key: String, _ limit: UInt64, _ needed: UInt64) -> AppRoom.Amount {
      AppRoom.Amount(key: key, limit: limit, needed: needed)
    }
    let download = amount("BADownloadAllowance", 100, 100)
    #expect(!download.fits && download.difference == 1 && download.isAllowance)
    #expect(amount("BADownloadAllowance", 100, 99).fits && amount("BADownloadAllowance", 100, 99).difference == 0)
    let installed = amount("BAMaxInstallSize", 100, 100)
    #expect(installed.fits && installed.difference == 0 && !installed.isAllowance)
    func tightest(_ amounts: AppRoom.Amount...) -> AppRoom.Amount? {
      AppRoom(version: "1", platform: nil, title: "1", amounts: amounts).tightest
    }
    let essential = amount("BAEssentialDownloadAllowance", 500, 10)
    #expect(tightest(installed, essential) == essential && tightest(essential, download) == download)
    #expect(tightest(amount("BADownloadAllowance", 1, 0), essential) == essential && tightest(installed) == installed)
    #expect(tightest(amount("BADownloadAllowance", 1, 0)) == nil)
  }
}
