import TestSupport
import Testing

@testable import PackBuild
@testable import PackProject

@Suite("The order in which a game loads its files")
struct LoadOrderTests {
  private func parse(_ text: String) throws -> LoadOrder { try LoadOrder(parsing: Array(text.utf8), "game.order") }

  @Test("a file that was written is read as the same order, whatever the names of its paths are")
  func document() throws {
    let order = LoadOrder(launch: ["index.html", "#1.js", "[launch]", "a b.png"], later: ["[x", "music/é.ogg"])
    #expect(try LoadOrder(parsing: order.document, "game.order") == order)
    #expect(try parse("# note\r\n[launch]\r\n\r\na\r\n[later]\nb\n") == LoadOrder(launch: ["a"], later: ["b"]))
    #expect(try parse("") == LoadOrder(launch: [], later: []))
  }

  @Test(
    "a line that is no path is refused with its number",
    arguments: [
      ("a\n[launch]\n", "line 1"), ("[launch]\n[Later]\n", "line 2"), ("[later]\n\n/etc/passwd\n", "line 3"),
      ("[launch]\n../a\n", "line 2"),
    ])
  func refused(_ text: String, _ place: String) {
    let error = #expect(throws: PackError.self) { try parse(text) }
    #expect(error?.code == .invalidRecord)
    #expect(error?.message.contains(place) == true)
  }

  @Test("bytes that are not UTF-8, and a file above the limit, are refused")
  func notText() throws {
    #expect(throws: PackError.self) { try LoadOrder(parsing: [0xFF, 0x0A], "game.order") }
    let directory = try TemporaryDirectory()
    try directory.write([UInt8](repeating: 0x0A, count: LoadOrder.largestSize + 1), to: "long")
    for (name, code) in [("long", PackError.Code.invalidRecord), ("none", .missingInput)] {
      let error = #expect(throws: PackError.self) { try LoadOrder.read(directory(name)) }
      #expect(error?.code == code)
    }
  }

  @Test("a path that one run loads at the launch belongs there, behind what came before it, and each path is named once")
  func merge() {
    var order = LoadOrder(launch: ["a", "b", "c"], later: ["x", "y"])
    order.merge(LoadOrder(launch: ["z", "a", "y", "c", "d"], later: ["b", "q", "x"]))
    #expect(order == LoadOrder(launch: ["z", "a", "y", "b", "c", "d"], later: ["q", "x"]))
    let before = order
    order.merge(before)
    #expect(order == before)
  }

  @Test("of a run, the launch ends with the mark that the game can be played, or after five seconds, and has nothing that is read in parts")
  func run() {
    func request(_ milliseconds: UInt64, _ path: String, _ status: UInt64 = 200, range: String? = nil) -> LoadRun.Request {
      LoadRun.Request(milliseconds: milliseconds, path: path, status: status, size: 10, range: range)
    }
    var run = LoadRun.Pack(id: "game", version: 1, contentRoot: [])
    run.requests = [
      request(100, "index.html"), request(200, "none.png", 404), request(300, "song.ogg", 206, range: "bytes=0-"), request(900, "a.js"),
      request(5000, "b.js"), request(5101, "c.js"), request(5200, "index.html"),
    ]
    #expect(LoadOrder(run) == LoadOrder(launch: ["index.html", "a.js", "b.js"], later: ["song.ogg", "c.js"]))
    run.playable = 900
    #expect(LoadOrder(run) == LoadOrder(launch: ["index.html", "a.js"], later: ["song.ogg", "b.js", "c.js"]))
  }
}
