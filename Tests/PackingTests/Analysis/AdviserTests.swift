import Foundation
import TestSupport
import Testing

@testable import PackBuild
@testable import PackProject

@Suite("The advice on smaller packs", .bounded)
struct AdviserTests {
  private let project: ReleaseProject

  init() throws { project = try ReleaseProject() }

  private func advice(_ run: LoadRun? = nil, only: Set<String> = []) async throws -> Adviser.Result {
    let scratch = project.directory("scratch")
    try FileManager.default.createDirectory(atPath: scratch, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: scratch) }
    let configuration = try PackerConfiguration.read(project.directory("packer.yml"))
    var adviser = Adviser(ReleaseBuild(configuration, time: ReleaseProject.time()), scratch: scratch)
    (adviser.run, adviser.only) = (run, only)
    return try await adviser.run()
  }

  /// The sizes of all packs of a build.
  private func sizes() async throws -> [String: UInt64] {
    try await project.build()
    return Dictionary(uniqueKeysWithValues: try project.packs().map { ($0.id, $0.size) })
  }

  private func text(_ count: Int, seed: UInt64) -> [UInt8] {
    var random = SeededGenerator(seed: seed)
    let words = (0..<500).map { _ in String(random.next() % 100_000, radix: 36) }
    return Array((0..<count).map { _ in words[Int(random.next() % 500)] }.joined(separator: " ").utf8)
  }

  @Test("following the advice on level and unneeded files saves the bytes that it names")
  func single() async throws {
    try project.add("core/words.txt", text(150_000, seed: 1))
    try project.add("core/js/main.js.map", text(30_000, seed: 2))
    let before = try #require(try await sizes()["core"])
    let advice = try await advice(only: ["core"]).advice
    #expect(advice.allSatisfy { $0.packs == ["core"] && $0.size == before })
    let savings = Dictionary(uniqueKeysWithValues: advice.map { ($0.kind, $0.bytes) })
    #expect(Set(savings.keys) == [.level, .unneeded])
    for (kind, setting) in [(Advice.Kind.level, "{level: smallest}"), (.unneeded, "{exclude: [\"*.js.map\"]}")] {
      try project.configure(ReleaseProject.configuration + "defaults: \(setting)\n")
      #expect(try await sizes()["core"] == before - (savings[kind] ?? 0), "\(kind)")
    }
  }

  @Test("following the advice on shared files saves the bytes that it names")
  func shared() async throws {
    var random = SeededGenerator(seed: 3)
    try project.directory.makeDirectory("build/engine")
    for name in ["a.bin", "b.bin"] {
      let content = random.bytes(60_000)
      for game in ["kart", "poker"] { try project.add("games/\(game)/engine/\(name)", content) }
    }
    // Not part of the shared pack, because players do not need it.
    try project.add("games/kart/engine/a.js.map", random.bytes(40_000))
    let before = try await sizes()
    let found = try #require(try await advice().advice.first { $0.kind == .shared })
    #expect(found.kind == .shared && found.packs == ["game-kart", "game-poker"])
    #expect(found.size == (before["game-kart"] ?? 0) + (before["game-poker"] ?? 0))
    #expect(found.bytes >= 110_000)
    // The engine becomes a pack, and the base of the games.
    try FileManager.default.copyItem(
      atPath: project.directory("build/games/poker/engine"), toPath: project.directory("build/engine/engine"))
    let text = ReleaseProject.configuration.replacing(
      "delivery: prefetch, tags: [\"${name}\"]}", with: "delivery: prefetch, tags: [\"${name}\"], base: engine}")
    try project.configure(text + "  - {id: engine, root: build/engine, delivery: prefetch}\n")
    let after = try await sizes()
    let updates = Dictionary(
      uniqueKeysWithValues: try ReleaseCatalogue(try project.manifest(), in: project.directory("dist")).packs.map { ($0.id, $0.deltas) })
    let deltas = try ["game-kart", "game-poker"].map { try #require(updates[$0]?.first?.size) }
    let sum = deltas.reduce(after["engine"] ?? 0, +)
    #expect(abs(Int(found.size - sum) - Int(found.bytes)) * 100 < Int(found.bytes) * 3)
    #expect(found.files == ["engine/a.bin", "engine/b.bin"])
    // Nothing is left to do.
    #expect(try await advice().advice.filter { $0.kind == .shared }.isEmpty)
  }

  @Test("a recorded run proposes the first files and those that were not loaded for later, unless it is of another content")
  func runs() async throws {
    var random = SeededGenerator(seed: 5)
    try project.add("core/late.bin", random.bytes(20_000))
    try project.add("core/never.bin", random.bytes(30_000))
    let before = try #require(try await sizes()["core"])
    let entry = try #require(try project.packs().first { $0.id == "core" })
    var pack = LoadRun.Pack(id: "core", version: 1, contentRoot: entry.contentRoot)
    func request(_ path: String, _ time: UInt64) -> LoadRun.Request {
      LoadRun.Request(milliseconds: time, path: path, status: 200, size: 1, range: nil)
    }
    pack.requests = [request("index.html", 1000), request("js/main.js", 1100), request("late.bin", 1000 + Adviser.start)]
    pack.unused = [LoadRun.File(path: "never.bin", size: 30_000), LoadRun.File(path: "empty.txt", size: 0)]
    let advice = try await advice(LoadRun(packs: [pack]), only: ["core"])
    let savings = Dictionary(uniqueKeysWithValues: advice.advice.map { ($0.kind, $0.bytes) })
    #expect(advice.otherRuns == [] && savings[.unused].map { $0 >= 30_000 && $0 < 30_200 } ?? false)
    try project.remove("build/core/never.bin")
    try project.remove("build/core/empty.txt")
    #expect(try await sizes()["core"] == before - (savings[.unused] ?? 0))
    try project.remove("build/core/late.bin")
    try project.remove("build/core/nothing")
    // The trial keeps the empty directory.
    #expect(abs(Int(try await sizes()["core"] ?? 0) - Int(before - (savings[.start] ?? 0))) < 200)
    #expect(try await self.advice(LoadRun(packs: [pack]), only: ["core"]).otherRuns == ["core"])
  }

  @Test("media that browsers can have smaller are named without a number that nobody measured")
  func media() async throws {
    var random = SeededGenerator(seed: 6)
    try project.add("core/music.wav", random.bytes(60_000))
    let found = try await advice(only: ["core"]).advice
    #expect(found.map(\.kind) == [.media] && !found[0].kind.isSaving && found[0].text.contains("*.wav"))
  }
}
