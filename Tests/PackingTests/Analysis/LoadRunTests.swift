import TestSupport
import Testing

@testable import PackBuild

@Suite("Recorded runs", .bounded)
struct LoadRunTests {
  private static var sample: LoadRun {
    var pack = LoadRun.Pack(id: "game", version: 3, contentRoot: [UInt8](repeating: 7, count: 32))
    pack.requests = [
      LoadRun.Request(milliseconds: 0, path: "index.html", status: 200, size: 10, range: nil),
      LoadRun.Request(milliseconds: 12, path: "a \"b\"\n.png", status: 206, size: 3, range: "bytes=0-2"),
    ]
    (pack.requestCount, pack.sentSize, pack.files) = (2, 13, 2)
    pack.missing = [LoadRun.Missing(path: "X", near: nil), LoadRun.Missing(path: "Y", near: "y")]
    pack.foreign = [LoadRun.Foreign(url: "https://example.com", directive: "img-src")]
    pack.problems = [LoadRun.Problem("dead", place: "/a.js:1:7"), LoadRun.Problem("no workers")]
    pack.playable = 900
    pack.unused = [LoadRun.File(path: "z", size: 9)]
    return LoadRun(packs: [pack, LoadRun.Pack(id: "another", version: 1, contentRoot: [UInt8](repeating: 8, count: 32))])
  }

  @Test("are read as they were written, packs in their order")
  func roundTrip() throws {
    let directory = try TemporaryDirectory()
    try directory.write(Self.sample.document, to: "run.json")
    #expect(try LoadRun.read(directory("run.json")) == Self.sample)
  }

  @Test(
    "other files are refused, with what to do",
    arguments: [
      "", "{}", "[]", "{\"format\": 2, \"packs\": {}}", "{\"format\": 1, \"packs\": []}", "{\"format\": 1, \"packs\": {\"a\": {}}}",
    ])
  func refused(text: String) throws {
    let directory = try TemporaryDirectory()
    try directory.write(text.utf8, to: "run.json")
    #expect { try LoadRun.read(directory("run.json")) } throws: { error in
      let error = error as? PackError
      return error?.code == .invalidRecord && error?.advice?.description.contains("packer serve --record") == true
        && error?.message.contains("run.json") == true
    }
  }
}
