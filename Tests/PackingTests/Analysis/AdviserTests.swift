import Foundation
import PackAnalysis
import PackFormat
import PackReading
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
    return Dictionary(uniqueKeysWithValues: try project.manifest().packs.map { ($0.id, $0.size) })
  }

  private func text(_ count: Int, seed: UInt64) -> [UInt8] {
    var random = SeededGenerator(seed: seed)
    let words = (0..<500).map { _ in String(random.next() % 100_000, radix: 36) }
    return Array((0..<count).map { _ in words[Int(random.next() % 500)] }.joined(separator: " ").utf8)
  }

  @Test("following the advice on level, frames and unneeded files saves the bytes that it names")
  func single() async throws {
    try project.add("core/words.txt", text(150_000, seed: 1))
    try project.add("core/js/main.js.map", text(30_000, seed: 2))
    // Alike but for the end, so that larger frames save one of them.
    var random = SeededGenerator(seed: 8)
    let noise = random.bytes(50_000)
    for end in 0..<3 { try project.add("core/noise\(end).bin", noise + [UInt8(end)]) }
    try project.configure(ReleaseProject.configuration + "defaults: {frameSize: 64 KiB}\n")
    let before = try #require(try await sizes()["core"])
    let advice = try await advice(only: ["core"]).advice
    #expect(advice.allSatisfy { $0.packs == ["core"] && $0.size == before })
    let savings = Dictionary(uniqueKeysWithValues: advice.map { ($0.kind, $0.saving) })
    #expect(Set(savings.keys) == [.level, .frames, .unneeded])
    for (kind, setting) in [
      (Advice.Kind.level, "{frameSize: 64 KiB, level: smallest}"), (.frames, "{}"),
      (.unneeded, "{frameSize: 64 KiB, exclude: [\"*.js.map\"]}"),
    ] {
      try project.configure(ReleaseProject.configuration + "defaults: \(setting)\n")
      #expect(try await sizes()["core"] == before - (savings[kind] ?? 0), "\(kind)")
    }
  }

  @Test("following the advice on shared files saves the bytes that it names")
  func shared() async throws {
    var random = SeededGenerator(seed: 3)
    for name in ["a.bin", "b.bin"] {
      let content = random.bytes(60_000)
      for game in ["kart", "poker"] { try project.add("games/\(game)/engine/\(name)", content) }
    }
    let before = try await sizes()
    let found = try #require(try await advice().advice.first)
    #expect(found.kind == .shared && found.packs == ["game-kart", "game-poker"])
    #expect(found.size == (before["game-kart"] ?? 0) + (before["game-poker"] ?? 0))
    #expect(found.saving >= 110_000)
    try FileManager.default.moveItem(atPath: project.directory("build/games/kart/engine"), toPath: project.directory("build/games/engine"))
    try project.remove("build/games/poker/engine")
    let after = try await sizes()
    let sum = ["game-kart", "game-poker", "game-engine"].reduce(0 as UInt64) { $0 + (after[$1] ?? 0) }
    // Only the paths are shorter.
    #expect(abs(Int(found.size - sum) - Int(found.saving)) < 100)
  }

  @Test("a recorded run proposes the first files and those that were not loaded, unless it is of another content")
  func runs() async throws {
    var random = SeededGenerator(seed: 5)
    try project.add("core/late.bin", random.bytes(20_000))
    try project.add("core/never.bin", random.bytes(30_000))
    let before = try #require(try await sizes()["core"])
    let entry = try #require(try project.manifest().packs.first { $0.id == "core" })
    var pack = LoadRun.Pack(id: "core", version: 1, contentRoot: entry.contentRoot)
    func request(_ path: String, _ time: UInt64) -> LoadRun.Request {
      LoadRun.Request(milliseconds: time, path: path, status: 200, size: 1, range: nil)
    }
    pack.requests = [request("index.html", 1000), request("js/main.js", 1100), request("late.bin", 1000 + Adviser.start)]
    pack.unused = [LoadRun.File(path: "never.bin", size: 30_000), LoadRun.File(path: "empty.txt", size: 0)]
    let advice = try await advice(LoadRun(packs: [pack]), only: ["core"])
    let savings = Dictionary(uniqueKeysWithValues: advice.advice.map { ($0.kind, $0.saving) })
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
    #expect(found.map(\.kind) == [.media] && found[0].saving == 0 && found[0].text.contains("*.wav"))
  }
}
