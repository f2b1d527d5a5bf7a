import Foundation
import TestSupport
import Testing

@testable import PackServer

/// A body in pieces that are given.
private final class PieceBody: SiteBody {
  let length: UInt64
  let decryptedBytes: UInt64 = 0
  private nonisolated(unsafe) var pieces: [[UInt8]]

  init(_ pieces: [[UInt8]]) {
    length = UInt64(pieces.reduce(0) { $0 + $1.count })
    unsafe self.pieces = pieces
  }

  func next(_ receive: (Span<UInt8>) throws(PackError) -> Void) throws(PackError) -> Bool {
    guard unsafe !pieces.isEmpty else { return false }
    let piece = unsafe pieces.removeFirst()
    try receive(piece.byteSpan)
    return true
  }
}

private func page(_ pieces: [[UInt8]], type: String = "text/html; charset=utf-8") -> SiteReply {
  let body = PieceBody(pieces)
  return SiteReply(
    status: 200, headers: ["Content-Type": type, "Content-Length": "\(body.length)", "ETag": "\"x\"", "Accept-Ranges": "bytes"], body: body)
}

private func bytes(_ reply: SiteReply) throws -> [UInt8] {
  var bytes: [UInt8] = []
  while let piece = try reply.body?.nextPiece() { bytes += piece }
  return bytes
}

@Suite("Pages in the view of a phone")
struct WatchedPageTests {
  private static let script = String(decoding: WatchedPage.script, as: UTF8.self)

  @Test(
    "the script comes after the document type, or first if there is none",
    arguments: [
      ("<!doctype html><p>", "<!doctype html>"), ("\u{FEFF}<!DOCTYPE HTML PUBLIC \"x\"><p>", "\u{FEFF}<!DOCTYPE HTML PUBLIC \"x\">"),
      ("<!-- > -->\n <!-- --><!DocType html><p>", "<!-- > -->\n <!-- --><!DocType html>"), ("<p>old</p>", ""), ("\u{FEFF}<p>", "\u{FEFF}"),
      ("<!-- never ends <!doctype html>", ""), ("<!doctype html", ""), ("", ""), ("<!elem><!doctype html>", ""),
    ])
  func place(_ text: String, _ before: String) throws {
    var reply = page([Array(text.utf8)])
    try WatchedPage.watch(&reply)
    let length = reply.headers["Content-Length"].flatMap { Int($0) }
    let watched = try bytes(reply)
    #expect(String(decoding: watched, as: UTF8.self) == before + Self.script + text.dropFirst(before.count))
    #expect(watched.count == length && reply.body?.length == UInt64(watched.count))
    #expect(reply.headers["ETag"] == nil && reply.headers["Accept-Ranges"] == nil)
  }

  @Test("later pieces are passed on, and a page in UTF-16 and other files stay as they are")
  func others() throws {
    var long = page([Array("<!doctype html>".utf8), Array("<p>".utf8), Array("end".utf8)])
    try WatchedPage.watch(&long)
    #expect(String(decoding: try bytes(long), as: UTF8.self) == "<!doctype html>\(Self.script)<p>end")
    let wide: [UInt8] = [0xFF, 0xFE, 0x3C, 0, 0x70, 0, 0x3E, 0]
    var other = page([wide])
    try WatchedPage.watch(&other)
    #expect(try bytes(other) == wide)
    for change: (inout SiteReply) -> Void in [
      { $0.status = 404 }, { $0.headers.fields[0].value = "text/plain" },
    ] {
      var reply = page([[1, 2, 3]])
      change(&reply)
      try WatchedPage.watch(&reply)
      #expect(try bytes(reply) == [1, 2, 3] && reply.headers["ETag"] != nil)
    }
  }
}

@Suite("A bad day")
struct BadDayTests {
  private static let content = (0..<90_000).map { UInt8(truncatingIfNeeded: $0) }

  /// The statuses and the lengths of what arrives of some requests.
  private func replies(_ day: BadDay, isPage: Bool = false) throws -> [(status: Int, count: Int, fault: String?)] {
    try (0..<200).map { _ in
      var reply = page([Self.content], type: "image/png")
      let fault = day.change(&reply, isPage: isPage)
      #expect(reply.body?.length == (reply.status == 200 ? 90_000 : UInt64(reply.headers["Content-Length"] ?? "")))
      let arrived = try bytes(reply)
      #expect(reply.status != 200 || Data(arrived) == Data(Self.content.prefix(arrived.count)))
      return (reply.status, arrived.count, fault)
    }
  }

  @Test("some requests fail, some replies are cut, all others are whole, and the same ones each time")
  func faults() throws {
    let day = BadDay()
    #expect(try replies(day).allSatisfy { $0.status == 200 && $0.count == 90_000 && $0.fault == nil })
    day.turn(on: true)
    let first = try replies(day)
    let refused = first.filter { $0.status == 503 }.count
    let cut = first.filter { $0.status == 200 && $0.count == 45_000 }.count
    let whole = first.filter { $0.status == 200 && $0.count == 90_000 && $0.fault == nil }.count
    #expect((3...20).contains(refused) && (1...15).contains(cut) && refused + cut + whole == 200)
    #expect(first.allSatisfy { ($0.fault != nil) == ($0.status == 503 || $0.count == 45_000) })
    day.turn(on: true)
    #expect(try replies(day).map(\.count) == first.map(\.count))
    day.turn(on: false)
    #expect(try replies(day).allSatisfy { $0.count == 90_000 })
  }

  @Test("a page is slow and never fails, and a slow file comes in small pieces")
  func pages() throws {
    let day = BadDay()
    day.turn(on: true)
    #expect(try replies(day, isPage: true).allSatisfy { $0.status == 200 && $0.count == 90_000 })
    var reply = page([Self.content])
    _ = day.change(&reply, isPage: true)
    #expect(reply.rate == BadDay.bytesPerSecond)
    while let piece = try reply.body?.nextPiece() { #expect(piece.count <= Int(BadDay.bytesPerSecond / 10)) }
  }
}

@Suite("What games load")
struct PlaytestLogTests {
  @Test("events are told from a number on, the oldest are dropped, and all are counted")
  func events() {
    let log = PlaytestLog()
    #expect(log.summary().line == "{}")
    for number in 0..<5 { log.note(.init(kind: number == 3 ? .missing : .load, text: "f\(number)", status: 200, size: 10), in: "a") }
    func texts(since number: Int?) -> [String] {
      log.news(of: "a", since: number)["events"]??.line.split(separator: "\"text\": \"").dropFirst().map {
        String($0.prefix { $0 != "\"" })
      } ?? []
    }
    #expect(texts(since: nil) == [] && texts(since: 3) == ["f3", "f4"] && texts(since: 5) == [] && texts(since: 9) == [])
    #expect(log.news(of: "a", since: nil)["next"]??.line == "5")
    #expect(log.summary().line == #"{"a": {"load": 4, "missing": 1, "sent": 50}}"#)
    for number in 5..<10_000 { log.note(.init(kind: .load, text: "f\(number)"), in: "a") }
    #expect(texts(since: 9_998) == ["f9998", "f9999"])
    let kept = texts(since: 0)
    #expect(kept.last == "f9999" && kept.count <= PlaytestLog.mostEvents && kept.count >= PlaytestLog.mostEvents / 2)
    log.note(.init(kind: .error, text: String(repeating: "ä", count: 5000)), in: "b")
    #expect(log.news(of: "b", since: 0)["events"]??.line.utf8.count ?? 0 < 1200)
  }

  @Test("a game with new content begins anew, and the numbers of its events go on")
  func forgotten() {
    let log = PlaytestLog()
    log.note(.init(kind: .load, text: "old"), in: "a")
    log.forget("a")
    log.forget("b")
    #expect(log.summary().line == "{}")
    log.note(.init(kind: .load, text: "new", size: 3), in: "a")
    #expect(log.news(of: "a", since: 0)["next"]??.line == "2" && log.summary().line == #"{"a": {"load": 1, "sent": 3}}"#)
    #expect(log.news(of: "a", since: 0)["events"]??.line.contains("old") == false)
  }

  @Test("what was taken of a body is told once, also if it is given up")
  func noted() throws {
    final class Told: Sendable {
      nonisolated(unsafe) var all: [UInt64] = []
    }
    let told = Told()
    func body() -> NotedBody { NotedBody(PieceBody([[1, 2, 3], [4, 5]])) { unsafe told.all.append($0) } }
    do {
      let whole = body()
      while try whole.nextPiece() != nil {}
      #expect(unsafe told.all == [5])
    }
    do { _ = try body().nextPiece() }
    do { _ = body() }
    #expect(unsafe told.all == [5, 3, 0])
  }

  @Test("a game is watched while the view of a phone asks for news of it")
  func watched() {
    let clock = Clock()
    let log = PlaytestLog { clock.now }
    #expect(!log.isWatched("a"))
    _ = log.news(of: "a", since: nil)
    #expect(log.isWatched("a") && !log.isWatched("b"))
    clock.advance(.seconds(4))
    #expect(log.isWatched("a"))
    clock.advance(.seconds(2))
    #expect(!log.isWatched("a"))
  }

  private final class Clock: Sendable {
    private nonisolated(unsafe) var time = ContinuousClock.now
    var now: ContinuousClock.Instant { unsafe time }
    func advance(_ duration: Duration) { unsafe time += duration }
  }
}

@Suite("A folder of games", .bounded)
struct PlainGamesTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    try directory.write(
      Array("<!doctype html><title> A  &lt;b&gt;\n </title><link rel='shortcut icon' href='./art/i.png?2'>".utf8),
      to: "games/One Game/index.html")
    try directory.write([1, 2, 3], to: "games/One Game/art/i.png")
    try directory.write(Array("secret".utf8), to: "games/One Game/.env")
    try directory.write(Array("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n".utf8), to: "games/One Game/server.pem")
    try directory.write(
      Array("{\"key\": \"-----BEGIN PRIVATE KEY-----\\nAAAA\\n-----END PRIVATE KEY-----\"}".utf8), to: "games/One Game/player.json")
    try directory.write(Array("<!doctype html>".utf8), to: "games/one-game/index.html")
    try directory.write(Array("<title>deep</title>".utf8), to: "games/one-game/sub/index.html")
    try directory.write(Array("<link rel=manifest href=/m.webmanifest><title></title>".utf8), to: "games/日本/index.html")
    try directory.write(
      Array(#"{"name": 1.5, "icons": [{"src": "no.png"}, {"src": "https://x.example/i.png"}, {"src": "i.svg"}]}"#.utf8),
      to: "games/日本/m.webmanifest")
    try directory.write(Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8), to: "games/日本/i.svg")
    try directory.write(Array("no game".utf8), to: "games/docs/read.txt")
    try directory.write(Array("hidden".utf8), to: "games/.old/index.html")
    try directory.write(Array("{}".utf8), to: "games/manifest.json")
  }

  private func site(_ options: PackResponder.Options = .init(), only: String? = nil) throws(PackError) -> GameSite {
    try GameSite(GameStock(directory("games"), .folder, keys: KeyRing(), only: only), options: options)
  }

  @Test("the games are the folders with an index page, and their ids are different host names")
  func ids() throws {
    #expect(GameStock.kind(of: directory("games")) == .folder)
    let ids = try site().games.map(\.id)
    #expect(ids.count == 3 && Set(ids).count == 3 && ids.contains("one-game"))
    #expect(ids.allSatisfy { id in id == "one-game" || id.hasPrefix("one-game-") || id.hasPrefix("game-") })
    #expect(try site(only: "one-game").games.map(\.id) == ["one-game"])
    // Another folder changes no id.
    try directory.write([], to: "games/ONE GAME/index.html")
    #expect(Set(try site().games.map(\.id)).isSuperset(of: ids))
    try FileManager.default.removeItem(atPath: directory("games/ONE GAME"))
    #expect(#expect(throws: PackError.self) { try site(only: "docs") }?.code == .missingInput)
    #expect(GameStock.kind(of: directory("games/docs")) == .release)
    #expect(GameStock.kind(of: directory("games/docs/read.txt")) == .pack)
    #expect(GameStock.kind(of: directory("games/one-game")) == .folder)
  }

  @Test("a game has the title and the icon that its page names, or a letter")
  func faces() throws {
    let site = try site()
    let list = String(decoding: try Answer(site, "/", ["Host": "localhost"]).bytes, as: UTF8.self)
    #expect(list.contains(">A &lt;b&gt;</a>") && list.contains("One Game · "))
    func icon(_ id: String) throws -> Answer { try Answer(site, "/.well-known/packer/icon/\(id)", ["Host": "localhost"]) }
    let hosts = site.games.filter { $0.title == "A <b>" }.map(\.id)
    #expect(hosts.count == 1)
    #expect(try icon(hosts[0]).bytes == [1, 2, 3])
    let drawn = try icon(#require(site.games.first { $0.id.hasPrefix("game-") }?.id))
    #expect(
      drawn["Content-Type"] == "image/svg+xml" && drawn["Content-Security-Policy"]?.contains("sandbox") == true && drawn.bytes.count < 60)
    #expect(String(decoding: try icon("one-game").bytes, as: UTF8.self).contains("<text"))
    #expect(try icon("nothing").status == 404)
  }

  @Test("files are served from the origin of their game only, with index, fallback, ranges and the fields of packs")
  func files() throws {
    var options = PackResponder.Options()
    (options.fallback, options.isIsolated, options.cacheControl) = ("index.html", true, "no-store")
    let site = try site(options)
    let id = try #require(site.games.first { (try? site.hasFile("art/i.png", in: $0)) == true }?.id)
    func answer(_ target: String, _ fields: HeaderFields = [:]) throws -> Answer {
      var all: HeaderFields = ["Host": "\(id).localhost"]
      all.fields += fields.fields
      return try Answer(site, target, all)
    }
    let whole = try answer("/art/i.png")
    #expect(whole.bytes == [1, 2, 3] && whole["Content-Type"] == "image/png" && whole["Cache-Control"] == "no-store")
    #expect(whole["Cross-Origin-Embedder-Policy"] == "require-corp" && whole["X-Content-Type-Options"] == "nosniff")
    #expect(try answer("/art/i.png", ["Range": "bytes=1-"]).bytes == [2, 3])
    #expect(try answer("/").status == 200 && answer("/some/route").status == 200 && answer("/some/route.png").status == 404)
    #expect(try answer("/.env").status == 404 && answer("/%2e%2e/docs/read.txt").status == 400 && answer("/server.pem").status == 403)
    // A player has its key for everybody.
    #expect(try answer("/player.json").status == 200)
    let missing = try answer("/none.png", ["Sec-Fetch-Dest": "iframe"])
    #expect(missing.status == 404 && missing["Content-Type"]?.hasPrefix("text/html") == true)
    #expect(
      missing["Cross-Origin-Embedder-Policy"] == "require-corp" && missing["Content-Security-Policy"]?.contains("script-src 'self'") == true
    )
    let other = try Answer(site, "/sub", ["Host": "one-game.localhost"])
    #expect(other.status == 200 && String(decoding: other.bytes, as: UTF8.self).contains("url=./sub/"))
  }

  @Test("a file that another game has is named, and not one of the game itself that is called alike")
  func elsewhere() throws {
    try directory.write(Array("<img src=games/kart/img/a.png>".utf8), to: "games/hub/index.html")
    try directory.write([1], to: "games/hub/img/a.png")
    try directory.write(Array("<p>".utf8), to: "games/game-kart/index.html")
    try directory.write([1], to: "games/game-kart/img/a.png")
    let site = try site()
    func text(_ target: String) throws -> String {
      String(decoding: try Answer(site, target, ["Host": "hub.localhost"]).bytes, as: UTF8.self)
    }
    let other = try text("/games/kart/img/a.png")
    #expect(other.contains("'img/a.png' is in 'game-kart', an origin of its own") && !other.contains("Did you mean"))
    #expect(try text("/game-kart/index.html").contains("'index.html' is in 'game-kart'"))
    for target in ["/games/kart/img/none.png", "/games/art/img/a.png", "/img/A.png", "/kart", "/hub/img/a.png"] {
      #expect(try !text(target).contains("an origin of its own"), "\(target)")
    }
    #expect(try text("/img/A.png").contains("Did you mean /img/a.png?"))
  }

  @Test("pages of other origins can neither switch the bad day nor read what games load, also not by a form")
  func others() throws {
    let site = try site()
    let visit: HeaderFields = [
      "Host": "localhost", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document",
    ]
    #expect(try Answer(site, "/.well-known/packer/day?bad", visit, method: "POST").status == 403)
    #expect(try Answer(site, "/.well-known/packer/live", ["Host": "localhost", "Origin": "http://x.example"]).status == 403)
    func isBad() throws -> Bool {
      String(decoding: try Answer(site, "/.well-known/packer/live", ["Host": "localhost"]).bytes, as: UTF8.self).contains(
        #""badDay": true"#)
    }
    #expect(try !isBad())
    #expect(
      try Answer(site, "/.well-known/packer/day?bad", ["Host": "localhost", "Origin": "http://localhost"], method: "POST").status == 204)
    #expect(try isBad())
  }

  @Test("a game switches only its own bad day, the list that of all, and no page frames the view of a phone")
  func days() throws {
    let site = try site()
    let hosts = site.games.map { "\($0.id).localhost" }
    func turn(_ host: String, _ query: String) throws {
      let origin: HeaderFields = ["Host": host, "Origin": "http://\(host)"]
      #expect(try Answer(site, "/.well-known/packer/day\(query)", origin, method: "POST").status == 204)
    }
    func bad() throws -> [Bool] {
      try (hosts + ["localhost"]).map { host in
        String(decoding: try Answer(site, "/.well-known/packer/live", ["Host": host]).bytes, as: UTF8.self).contains(#""badDay": true"#)
      }
    }
    try turn(hosts[0], "?bad")
    #expect(try bad() == [true, false, false, false])
    try turn("localhost", "?bad")
    #expect(try bad() == [true, true, true, true])
    try turn(hosts[1], "")
    #expect(try bad() == [true, false, true, true])
    try turn("localhost", "")
    #expect(try bad() == [false, false, false, false])
    #expect(
      try Answer(site, "/.well-known/packer/phone", ["Host": hosts[0]])["Content-Security-Policy"]?.contains("frame-ancestors 'none'")
        == true)
  }
}
