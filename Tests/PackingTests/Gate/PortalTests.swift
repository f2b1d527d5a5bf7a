import TestSupport
import Testing

@testable import PackBuild
@testable import PackGate

@Suite("Games for web portals", .bounded)
struct PortalTests {
  /// A game that a portal refuses, and one that it just takes.
  struct Case: Sendable, CustomTestStringConvertible {
    let portal: String
    let rule: String
    let level: FindingLevel
    let refused: PortalGame
    let taken: PortalGame

    /// - Parameter change: gets 1 for the game that is refused, 0 for the one that is taken.
    init(_ portal: String, _ rule: String, _ level: FindingLevel = .error, change: (inout PortalGame, _ excess: UInt64) -> Void) {
      (self.portal, self.rule, self.level) = (portal, rule, level)
      let games = [1 as UInt64, 0].map { excess -> PortalGame in
        var game = PortalGame(files: (try? Portal.named(portal).entry.map { PortalGame.File(path: $0, size: 0) }) ?? [])
        // Otherwise CrazyGames counts all of it.
        if portal == "crazygames" { game.references.foreignGuesses = ["'a.js', line 1, loads 'https://sdk.crazygames.com/a.js'"] }
        change(&game, excess)
        return game
      }
      (refused, taken) = (games[0], games[1])
    }

    var testDescription: String { "\(portal) \(rule) \(level)" }
  }

  private static func add(_ count: UInt64, _ size: UInt64, ending: String = "bin", to game: inout PortalGame) {
    game.files += (0..<count).map { .init(path: "a\($0).\(ending)", size: size) }
  }

  private static let cases: [Case] = [
    Case("youtube-playables", "PK8002") { game, excess in
      add(505, (250 << 20) / 506, to: &game)
      game.start = .init(milliseconds: 1, size: 1)
      game.files[0].size = (250 << 20) - game.totalSize - 1 + excess
    },
    Case("crazygames", "PK8002") { game, excess in
      game.start = .init(milliseconds: 1, size: 1)
      add(1, 250_000_000 + excess, to: &game)
    },
    Case("itch", "PK8002") { game, excess in
      add(5, 100_000_000, to: &game)
      game.files[0].size = excess
    },
    Case("wechat", "PK8002") { game, excess in
      game.files[0].size = excess == 1 ? 30 << 20 + 1 : 20 << 20
    },
    Case("wechat", "PK8002", .warning) { game, excess in game.files[0].size = 20 << 20 + excess },
    Case("crazygames", "PK8003") { game, excess in add(1499 + excess, 1, to: &game) },
    Case("itch", "PK8003") { game, excess in add(999 + excess, 1, to: &game) },
    Case("youtube-playables", "PK8004", .warning) { game, excess in add(1, 512 << 10 - 1 + excess, to: &game) },
    Case("itch", "PK8004") { game, excess in add(1, 200_000_000 + excess, to: &game) },
    Case("youtube-playables", "PK8005") { game, excess in game.files.append(.init(path: excess == 1 ? "é/a.png" : "e-_.0/A.png", size: 1))
    },
    Case("itch", "PK8005") { game, excess in
      game.files.append(.init(path: String(repeating: "é", count: 239 + Int(excess)) + "a", size: 1))
    },
    Case("wechat", "PK8005", .warning) { game, excess in
      game.files.append(.init(path: excess == 1 ? "a/b.png.html" : "a.html/b.PNG", size: 1))
    },
    Case("youtube-playables", "PK8006") { game, excess in if excess == 1 { game.references.absolute = ["'index.html' …"] } },
    Case("crazygames", "PK8006") { game, excess in if excess == 1 { game.references.absolute = ["'index.html' …"] } },
    Case("itch", "PK8006", .warning) { game, excess in if excess == 1 { game.references.absoluteGuesses = ["'a.js' …"] } },
    Case("youtube-playables", "PK8007") { game, excess in
      let host = excess == 1 ? "www.youtube.com.example.org" : "WWW.youtube.com"
      game.references.foreign = [.init(sentence: "'index.html' …", address: "//\(host)/game_api/v1")]
    },
    Case("youtube-playables", "PK8007") { game, excess in
      game.asked = [excess == 1 ? "https://fonts.googleapis.com" : "https://www.youtube.com/game_api/v1"]
    },
    Case("youtube-playables", "PK8008") { game, excess in
      game.start = .init(milliseconds: 1, size: excess == 1 ? 30 << 20 : 15 << 20 - 1)
    },
    Case("youtube-playables", "PK8008", .warning) { game, excess in game.start = .init(milliseconds: 1, size: 15 << 20 - 1 + excess) },
    Case("crazygames", "PK8008") { game, excess in
      game.start = .init(milliseconds: 1, size: excess == 1 ? 50_000_001 : 20_000_000)
    },
    Case("crazygames", "PK8008", .note) { game, excess in game.start = .init(milliseconds: 1, size: 20_000_000 + excess) },
    Case("crazygames", "PK8008", .note) { game, excess in add(1, 20_000_000 + excess, to: &game) },
    Case("crazygames", "PK8008", .warning) { game, excess in
      game.references.foreignGuesses = []
      game.start = .init(milliseconds: 1, size: 1)
      add(1, excess == 1 ? 50_000_001 : 20_000_000, to: &game)
    },
    Case("wechat", "PK8008") { game, excess in game.mainSize = 4 << 20 + excess },
    Case("youtube-playables", "PK8009", .warning) { game, excess in game.start = .init(milliseconds: 4999 + excess, size: 1) },
    Case("crazygames", "PK8009", .warning) { game, excess in game.start = .init(milliseconds: 20_000 + excess, size: 1) },
  ]

  @Test("a game over a limit of a portal is refused, and one at the limit is not", arguments: cases)
  func limits(_ test: Case) throws {
    let portal = try Portal.named(test.portal)
    let found = test.refused.findings(of: [portal])
    #expect(found.map(\.rule.id) == [test.rule] && found.map(\.level) == [test.level], "\(found.map(\.message))")
    let none = test.taken.findings(of: [portal])
    #expect(none.map(\.message) == [])
  }

  @Test("every limit of every portal has a case, a page as its source and a day")
  func everyLimit() {
    for portal in Portal.all {
      for limit in portal.limits where limit.kind != .entry {
        let hasCase = Self.cases.contains { $0.portal == portal.name && $0.rule == limit.kind.rule && $0.level == limit.level }
        // The error about a single file is shown with the others.
        #expect(hasCase || limit.kind == .fileSize(.below(30 << 20)) || limit.kind == .relativePaths, "\(portal.name) \(limit.kind)")
      }
      for limit in portal.limits {
        #expect(limit.source.hasPrefix("https://") && limit.date.wholeMatch(of: /20\d\d-\d\d-\d\d/) != nil)
      }
    }
  }

  @Test("what a page loads is named once, also if a recorded run asked for it")
  func askedTwice() throws {
    var game = PortalGame(files: [.init(path: "index.html", size: 1)])
    game.references.foreign = [
      .init(sentence: "'index.html', line 1, loads 'https://a.example/b.js?c'", address: "https://a.example/b.js?c")
    ]
    game.asked = ["https://a.example/b.js", "https://a.example/d.js"]
    let details = game.findings(of: [try Portal.named("youtube-playables")]).map(\.details)
    #expect(details == [["'index.html', line 1, loads 'https://a.example/b.js?c'", "a recorded run asked for 'https://a.example/d.js'"]])
  }

  @Test("a message has both numbers in the unit of the portal, and a file is named once")
  func messages() throws {
    var game = PortalGame(files: [
      .init(path: "index.html", size: 1), .init(path: "a.bin", size: 30 << 20), .init(path: "b.bin", size: 600 << 10),
    ])
    let portal = try Portal.named("youtube-playables")
    #expect(
      game.findings(of: [portal]).map { "\($0.level) \($0.message)" } == [
        "error 'a.bin' has 30.00 MiB; youtube-playables allows less than 30 MiB in a file",
        "warning 'b.bin' has 600.00 KiB; youtube-playables recommends less than 512 KiB in a file",
        "note youtube-playables allows less than 30 MiB before a game can be played; of 30.59 MiB, it is not known how much that is",
      ])
    game.start = .init(milliseconds: 5001, size: 15 << 20 + 1)
    game.files = [game.files[0]]
    #expect(
      game.findings(of: [portal]).map(\.message) == [
        "before it can be played, it loads 15.01 MiB; youtube-playables recommends less than 15 MiB",
        "in a recorded run it could be played after 5.01 s; youtube-playables recommends less than 5.00 s",
      ])
    let other = PortalGame(files: [.init(path: "www/index.html", size: 600_000_000)]).findings(of: [try Portal.named("itch")])
    #expect(other.map(\.message) == ["itch opens 'index.html' at the top, and there is no 'index.html'"])
  }

  // MARK: Packs

  /// The messages and details of findings about portals in a release.
  private func findings(_ files: [String: String], of portal: String, run: LoadRun? = nil) async throws -> [String] {
    let report = try await DistSample([("game", SampleTree(files.mapValues { .init(Array($0.utf8)) }))]).report {
      ($0.portals, $0.run) = ([try! Portal.named(portal)], run)
    }
    return report.findings.filter { $0.rule.id.hasPrefix("PK8") }.flatMap { finding in
      (finding.details.isEmpty ? [finding.message] : finding.details).map { "\(finding.rule.id) \(finding.level.rawValue): \($0)" }
    }
  }

  @Test("paths from the top of the host are found where they are loaded, and where a script has the path of a file")
  func absolutePaths() async throws {
    let files = [
      "index.html": """
      <link rel=stylesheet href=/css/main.css><script type=module src=/js/main.js></script>
      <a href=/>x</a><img src=//example.com/a.png><img src="a.png"><img src=/gone.png><img srcset="/a.png 1x, b.png 2x">
      <script>const a = "/score"; const b = "/"; fetch("/data.json")</script>
      """,
      "css/main.css": "p { background: url(/a.png) } q { background: url(../a.png) }",
      "js/main.js":
        "import '/js/other.js'; import './other.js'; new Image().src = '/a.png'; const r = /'a/; history.pushState(0, 0, '/level')",
      "js/other.js": "fetch('a.png')", "a.png": "a", "b.png": "b", "data.json": "{}", "other.html": "<base href='/'><img src=a.png>",
    ]
    #expect(
      try await findings(files, of: "itch") == [
        "PK8006 error: 'css/main.css', line 1, refers to '/a.png'", "PK8006 error: 'index.html', line 1, refers to '/css/main.css'",
        "PK8006 error: 'index.html', line 1, refers to '/js/main.js'", "PK8006 error: 'index.html', line 2, refers to '/a.png'",
        "PK8006 error: 'index.html', line 2, refers to '/gone.png'", "PK8006 error: 'js/main.js', line 1, refers to '/js/other.js'",
        "PK8006 warning: 'index.html', line 3, refers to '/data.json'", "PK8006 warning: 'js/main.js', line 1, refers to '/a.png'",
      ])
    #expect(
      try await findings(["index.html": "<base href=/game/><img src=a.png>", "game/a.png": "a"], of: "itch") == [
        "PK8006 error: 'index.html' has the base '/game/'"
      ])
    let map = #"<script type=importmap>{"imports": {"a": "./a.js", "b": "/b.js", "c/": "//example.com/"}}</script>"#
    #expect(
      try await findings(["index.html": map + "<script type=module>import 'a'; import 'b'</script>", "a.js": "1", "b.js": "2"], of: "itch")
        == ["PK8006 error: 'index.html' has '/b.js' in its import map"])
    #expect(try await findings(["index.html": "<base href=./game/><img src=a.png>", "game/a.png": "a"], of: "itch") == [])
  }

  @Test("what a page loads from other hosts is refused, but not the script of the portal itself, and not what only perhaps is loaded")
  func otherHosts() async throws {
    let page = """
      <script src="https://www.youtube.com/game_api/v1"></script><a href="https://example.com">x</a>
      <script>const api = "https://example.com/score"</script>
      """
    #expect(try await findings(["index.html": page], of: "youtube-playables") == [])
    let font = page + "<link rel=stylesheet href='https://fonts.googleapis.com/css?family=A'>"
    #expect(
      try await findings(["index.html": font], of: "youtube-playables") == [
        "PK8007 error: 'index.html', line 2, loads 'https://fonts.googleapis.com/css?family=A'"
      ])
    #expect(try await findings(["index.html": font], of: "itch") == [])
  }

  @Test("the main package of a WeChat game is what is in no subpackage of game.json")
  func subpackages() async throws {
    let large = String(repeating: "a", count: 3 << 20)
    func game(_ settings: String) -> [String: String] {
      ["game.js": "1", "game.json": settings, "one.js": large, "two/game.js": large, "twofold.js": "1"]
    }
    let found = ["PK8008 error: outside of subpackages are 6.01 MiB; wechat allows at most 4 MiB"]
    #expect(try await findings(game("{}"), of: "wechat") == found)
    #expect(try await findings(game(#"{"subpackages": [{"name": "a", "root": "tw"}]}"#), of: "wechat") == found)
    #expect(try await findings(game(#"{"subpackages": [{"name": "a", "root": "two/"}]}"#), of: "wechat") == [])
    #expect(try await findings(game(#"{"subPackages": [{"name": "a", "root": "one.js"}]}"#), of: "wechat") == [])
  }

  @Test("a release without a game is refused, but a pack without pages beside a game is none")
  func noGame() async throws {
    #expect(try await findings(["a.png": "a"], of: "itch") == ["PK8001 error: itch opens 'index.html', which no pack has"])
    let sample = try await DistSample([
      ("game", SampleTree(["index.html": .init([65])])), ("data", SampleTree(["game.json": .init([65])])),
    ])
    #expect(try await sample.report { $0.portals = [try! Portal.named("itch")] }.findings.filter { $0.rule.id.hasPrefix("PK8") } == [])
  }

  @Test("what is loaded until the game can be played is the files up to its mark, as a zip")
  func recordedRun() async throws {
    let files = ["index.html": "<p>", "a.bin": String(repeating: "a", count: 100_000), "b.bin": "b"]
    let directory = try TemporaryDirectory()
    let path = try await makePack(SampleTree(files.mapValues { .init(Array($0.utf8)) }), in: directory, name: "game")
    let pack = try Pack.open(path, key: try knownKey())
    func start(_ loaded: [(path: String, milliseconds: UInt64, status: UInt64)], mark: UInt64?) throws -> PortalGame.Start? {
      var recorded = LoadRun.Pack(id: "game", version: 1, contentRoot: pack.contentRoot)
      recorded.requests = loaded.map {
        LoadRun.Request(milliseconds: $0.milliseconds, path: $0.path, status: $0.status, size: 1, range: nil)
      }
      recorded.playable = mark
      return try PortalGame(pack, WebFaults(), run: LoadRun(packs: [recorded])).start
    }
    let all: [(String, UInt64, UInt64)] = [
      ("index.html", 0, 200), ("b.bin", 9, 200), ("b.bin", 10, 206), ("a.bin", 11, 200), ("c", 1, 404),
    ]
    #expect(try start(all, mark: nil) == nil)
    let (first, last) = (try #require(try start(all, mark: 10)), try #require(try start(all, mark: 11)))
    let (small, large) = (try ZipExport.size(of: ["index.html", "b.bin"], in: pack), try ZipExport.size(of: Set(files.keys), in: pack))
    #expect(first.size == small && first.milliseconds == 10 && last.size == large)
    #expect(small < large && large < 2000)
    #expect(try PortalGame(pack, WebFaults(), run: LoadRun()).start == nil)
  }

  // MARK: Zips

  @Test("an error where the bytes of a zip go is the error of the zip, wherever it happens", arguments: 0..<3)
  func unwritableZip(call: Int) throws {
    // The header and the content are written together, and the directory at the end.
    var calls = 0
    let found = Result { () throws(PackError) in
      let writer = try ZipWriter { (_) throws(PackError) in
        defer { calls += 1 }
        if calls == call { throw PackError(.noSpace, "full") }
      }
      try writer.begin("a", size: 100_000)
      var state: UInt64 = 1
      let noise = (0..<100_000).map { _ -> UInt8 in
        state = state &* 6_364_136_223_846_793_005 &+ 1
        return UInt8(state >> 56)
      }
      try writer.write(noise.span)
      try writer.finish()
    }
    #expect(throws: PackError.self) { try found.get() }
    if case .failure(let error) = found { #expect(error.code == .noSpace) }
  }

  @Test("a zip has all files of a pack in the order of their paths, and no directories")
  func zip() async throws {
    let tree = SampleTree(
      [
        "index.html": .init([65]), "a/é.bin": .init([UInt8](repeating: 7, count: 300_000)), "nothing": .init([]),
        "run": .init([1], isExecutable: true),
      ],
      emptyDirectories: ["empty"])
    let directory = try TemporaryDirectory()
    let pack = try Pack.open(try await makePack(tree, in: directory, name: "game"), key: try knownKey())
    let made = try await ZipExport.run(pack, to: directory("a.zip"))
    let bytes = try #require(directory.bytes(of: "a.zip"))
    #expect(made.files == 4 && made.size == UInt64(bytes.count) && bytes.count < 2000)
    let reader = try ZipReader(size: UInt64(bytes.count)) { offset, buffer in
      let count = min(buffer.count, bytes.count - Int(offset))
      for index in 0..<count { buffer[index] = bytes[Int(offset) + index] }
      return count
    }
    var found: [String: [UInt8]] = [:]
    var order: [String] = []
    while let entry = try reader.next() {
      #expect(entry.kind == .file && !entry.isEncrypted)
      var content = [UInt8](repeating: 0, count: 400_000)
      var count = 0
      while true {
        var span = content.mutableSpan
        var rest = span._mutatingExtracting(count..<span.count)
        let more = try reader.read(into: &rest)
        if more == 0 { break }
        count += more
      }
      found[entry.path ?? ""] = Array(content[..<count])
      order.append(entry.path ?? "")
    }
    #expect(order == ["a/é.bin", "index.html", "nothing", "run"])
    #expect(found == tree.files.mapValues(\.bytes))
  }
}
