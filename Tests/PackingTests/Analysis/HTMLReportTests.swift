import Foundation
import TestSupport
import Testing

@testable import PackBuild
@testable import PackGate
@testable import PackManifest
@testable import PackProject

@Suite("The HTML report of a release", .bounded)
struct HTMLReportTests {
  private let project: ReleaseProject

  init() throws { project = try ReleaseProject() }

  private func report(_ change: (inout HTMLReport) -> Void = { _ in }) async throws -> String {
    var verification = ReleaseVerification(project.directory("dist"), now: try ManifestTime.now())
    verification.isQuick = true
    let gate = try await verification.run(key: nil)
    var report = HTMLReport(of: try ComparedRelease(reading: project.directory("dist")))
    report.key = Shared(try sampleKey())
    change(&report)
    return String(decoding: try report.document(gate), as: UTF8.self)
  }

  /// Returns the data of a report, as a browser would read it.
  private func data(_ html: String) throws -> [String: Any] {
    let start = try #require(html.range(of: "<script type=\"application/json\" id=\"data\">"))
    let end = try #require(html.range(of: "</script>", range: start.upperBound..<html.endIndex))
    return try #require(try JSONSerialization.jsonObject(with: Data(html[start.upperBound..<end.lowerBound].utf8)) as? [String: Any])
  }

  private func packs(_ html: String) throws -> [[String: Any]] { try #require(try data(html)["packs"] as? [[String: Any]]) }

  @Test("has every file of every pack, and sizes that add up to the pack files")
  func sums() async throws {
    for path in ["js/a/b.js", "js/a/c.js", "js/ab/c.js", "js/z.js"] { try project.add("core/\(path)", Array(path.utf8)) }
    try await project.build()
    let html = try await report()
    let release = try ComparedRelease(reading: project.directory("dist"))
    let packs = try packs(html)
    #expect(packs.compactMap { $0["id"] as? String } == release.packs.map(\.id))
    var count = 0
    for (shown, pack) in zip(packs, release.packs) {
      let opened = try Pack.open(project.directory("dist/\(ManifestPack.publishedName(pack.id, pack.sha256))"), key: try sampleKey())
      var paths: [String] = []
      try opened.forEachEntry { if $0.kind != .directory { paths.append($0.path) } }
      let files = try #require(shown["files"] as? [String: Any])
      let tails = try #require(files["tails"] as? [String])
      var (known, before): ([String], [String]) = ([], [])
      for (tail, shared) in zip(tails, try #require(files["shared"] as? [Int])) {
        before = before.prefix(shared) + tail.split(separator: "/").map(String.init)
        known.append(before.joined(separator: "/"))
      }
      #expect(known == paths)
      let packed = try #require(files["packed"] as? [Int]).reduce(0, +)
      #expect(packed + (shown["rest"] as? Int ?? 0) == pack.size.map(Int.init))
      count += paths.count
    }
    #expect(((try data(html))["release"] as? [String: Any])?["files"] as? Int == count)
    #expect(html == (try await report()))
  }

  @Test("no name of a file ends the element of the data")
  func hostileNames() async throws {
    let name = "</script><img src=x onerror=alert(1)>&<!--.txt"
    try project.add("core/\(name)", [1])
    // Such names are refused by default.
    try project.configure(ReleaseProject.configuration + "defaults: {allowUnportablePaths: true}\n")
    try await project.build()
    let html = try await report()
    #expect(!html.contains("<img src=x"))
    let files = try packs(html).compactMap { ($0["files"] as? [String: Any])?["tails"] as? [String] }
    #expect(files.joined().contains { $0.hasSuffix("script><img src=x onerror=alert(1)>&<!--.txt") })
  }

  @Test("without a key, or with a pack that is missing or damaged, it says so and shows the rest")
  func unreadable() async throws {
    try await project.build()
    let closed = try packs(try await report { $0.key = nil })
    #expect(closed.allSatisfy { $0["files"] == nil && $0["note"] as? String == "no key was given" })
    let release = try ComparedRelease(reading: project.directory("dist"))
    let names = release.packs.map { project.directory("dist/\(ManifestPack.publishedName($0.id, $0.sha256))") }
    try FileManager.default.removeItem(atPath: names[0])
    try Data([1, 2, 3]).write(to: URL(fileURLWithPath: names[1]))
    let notes = try packs(try await report()).map { $0["note"] as? String }
    #expect(notes[0] == "its file is missing")
    #expect(notes[1]?.isEmpty == false && notes[2...].allSatisfy { $0 == nil })
  }

  @Test("contents that several packs store are listed with what they waste, copies in one pack are not")
  func duplicates() async throws {
    var random = SeededGenerator(seed: 11)
    let (shared, own) = (random.bytes(9000), random.bytes(9000))
    for name in ["core/a.bin", "core/copy.bin", "games/kart/engine.bin"] { try project.add(name, shared) }
    for name in ["core/own.bin", "core/own-copy.bin"] { try project.add(name, own) }
    // Bytes of a frame are divided by lengths, and this file compresses well.
    try project.remove("build/core/js/main.js")
    try await project.build()
    let found = try #require(try data(try await report())["duplicates"] as? [[String: Any]])
    #expect(found.count == 1 && found[0]["size"] as? Int == 9000)
    #expect((8900...9200).contains(found[0]["wasted"] as? Int ?? 0))
    #expect((found[0]["places"] as? [[Int]])?.count == 2)
  }

  @Test("contents that a pack has from its base are not listed")
  func covered() async throws {
    var random = SeededGenerator(seed: 12)
    let shared = random.bytes(900_000)
    for name in ["core/engine.bin", "movie/engine.bin", "games/poker/engine.bin"] { try project.add(name, shared) }
    try project.configure(ReleaseProject.configuration.replacingOccurrences(of: "{id: movie, ", with: "{id: movie, base: core, "))
    try await project.build()
    let html = try await report()
    let names = try packs(html).map { $0["id"] as? String }
    let movie = try #require(names.firstIndex(of: "movie"))
    #expect(try packs(html)[movie]["base"] as? String == "core")
    let found = try #require(try data(html)["duplicates"] as? [[String: Any]])
    let numbers = (try #require(found.first?["places"] as? [[Int]])).map { $0[0] }
    #expect(found.count == 1 && numbers.map { names[$0] } == ["core", "game-poker"])
  }

  @Test("what simulate printed is shown, and other files are refused")
  func rehearsals() async throws {
    try await project.build()
    let lines = """
      {"durationMilliseconds":5,"event":"install","type":"simulation"}
      {"actor":"system","error":"no connection","injected":true,"milliseconds":3,"remedy":"waits","text":"has no network","type":"event"}
      {"type":"verdict","verdict":"ok"}
      """
    try project.directory.write(Array(lines.utf8), to: "run.jsonl")
    let rehearsal = try RecordedRehearsal.read(project.directory("run.jsonl"))
    let shown = try data(try await report { $0.rehearsals = [rehearsal] })
    let first = try #require((shown["rehearsals"] as? [[String: Any]])?.first)
    #expect(first["title"] as? String == "install" && first["verdict"] as? String == "ok")
    let event = try #require((first["events"] as? [[String: Any]])?.first)
    #expect(event["code"] as? String == "no connection" && event["reaction"] as? String == "waits")
    for wrong in ["", "{", "[]", "{\"type\":\"event\"}", "{\"type\":\"result\"}", lines + "\n" + lines] {
      try project.directory.write(Array(wrong.utf8), to: "wrong.jsonl")
      #expect(throws: PackError.self, "\(wrong)") { try RecordedRehearsal.read(project.directory("wrong.jsonl")) }
    }
    #expect(throws: PackError.self) { try RecordedRehearsal.read(project.directory("none.jsonl")) }
  }

  @Test("a simulated rollout is shown as counts of devices, and what observe printed as releases, files and errors")
  func field() async throws {
    try await project.build()
    let rollout = """
      {"devices":20,"event":"rollout","type":"simulation"}
      {"seconds":0,"type":"step","what":"start 5 %"}
      {"before":18,"bytes":7,"failed":0,"has":1,"runs":1,"seconds":3600,"type":"count"}
      {"packBytes":7,"type":"summary"}
      {"type":"verdict","verdict":"5 % run a candidate"}
      """
    let observed = """
      {"file":"access.log","type":"log"}
      {"counts":{"requests":5},"deviceEstimate":2,"first":"2026-11-30T08:00:00Z","type":"observation"}
      {"counts":{"requests":3},"name":"manifest.json","type":"file"}
      {"counts":{"requests":3},"manifest":4,"type":"release"}
      {"count":2,"name":"core-0011223344556677.pack","status":404,"type":"error"}
      {"message":"too many","type":"finding"}
      """
    try project.directory.write(Array(rollout.utf8), to: "run.jsonl")
    try project.directory.write(Array(observed.utf8), to: "observed.jsonl")
    let rehearsal = try RecordedRehearsal.read(project.directory("run.jsonl"))
    let observation = try RecordedObservation.read(project.directory("observed.jsonl"))
    let shown = try data(try await report { ($0.rehearsals, $0.observations) = ([rehearsal], [observation]) })
    let first = try #require((shown["rehearsals"] as? [[String: Any]])?.first)
    #expect(first["devices"] as? Int == 20 && (first["steps"] as? [[String: Any]])?.first?["what"] as? String == "start 5 %")
    #expect((first["counts"] as? [[String: Any]])?.first?["before"] as? Int == 18)
    let field = try #require((shown["observations"] as? [[String: Any]])?.first)
    #expect(field["deviceEstimate"] as? Int == 2 && (field["releases"] as? [[String: Any]])?.first?["manifest"] as? Int == 4)
    #expect((field["errors"] as? [[String: Any]])?.first?["status"] as? Int == 404)
    #expect((field["findings"] as? [[String: Any]])?.first?["message"] as? String == "too many")
    for wrong in ["", "{", rollout, observed + "\n" + observed] {
      try project.directory.write(Array(wrong.utf8), to: "wrong.jsonl")
      #expect(throws: PackError.self, "\(wrong)") { try RecordedObservation.read(project.directory("wrong.jsonl")) }
    }
  }
}
