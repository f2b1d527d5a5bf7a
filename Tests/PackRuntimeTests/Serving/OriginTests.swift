import Foundation
import TestSupport
import Testing

@Suite("Pages of other origins", .bounded)
struct OriginTests {
  private static let shared: Set<String> = ["pack://game", "capacitor://localhost", "https://example.com:8443"]

  private func site(isIsolated: Bool = false, _ origins: Set<String>, _ policy: PackResponder.ResourcePolicy? = nil) async throws -> Site {
    var options = PackResponder.Options()
    options.allowedOrigins = origins
    options.resourcePolicy = policy
    options.isIsolated = isIsolated
    return try await Site(["en/index.html": [1]], options: options)
  }

  /// What a page needs to send a request that is not simple.
  private static func preflight(_ origin: String) -> HeaderFields {
    ["Origin": origin, "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "range"]
  }

  private func shares(_ answer: Site.Answer) -> Bool {
    answer.headers.fields.contains { $0.name.hasPrefix("Access-Control-") }
  }

  @Test(
    "by default no origin may read anything, and nothing depends on the origin",
    arguments: ["pack://game", "null", "https://example.com", ""])
  func closed(origin: String) async throws {
    let site = try await Site()
    let answers = try [
      site.ask("/ten.bin", ["Origin": origin]), site.ask("/missing", ["Origin": origin]),
      site.ask("/ten.bin", Self.preflight(origin), method: "OPTIONS"),
    ]
    #expect(answers.map(\.status) == [200, 404, 405])
    for answer in answers {
      #expect(!shares(answer))
      #expect(answer.headers["Vary"] == nil)
    }
  }

  @Test(
    "an origin that is not allowed is not reflected, whatever it resembles",
    arguments: [
      "null", "*", "", "pack://game2", "pack://Game", "pack://gam", "pack://game/", "pack://game:1", "http://game",
      "pack://evil.pack://game",
      "capacitor://localhost.example.com", "https://example.com", "https://sub.example.com:8443", "file://", "pack://game, pack://game",
      "pack://game ",
    ])
  func others(origin: String) async throws {
    let site = try await site(Self.shared)
    let tag = try site.tag("/ten.bin")
    let answers = try [
      site.ask("/ten.bin", ["Origin": origin]), site.ask("/ten.bin", ["Origin": origin, "Range": "bytes=0-1"]),
      site.ask("/ten.bin", ["Origin": origin, "If-None-Match": tag]), site.ask("/ten.bin", Self.preflight(origin), method: "OPTIONS"),
      site.ask("/ten.bin"),
    ]
    #expect(answers.map(\.status) == [200, 206, 304, 405, 200])
    for answer in answers {
      #expect(!shares(answer))
      #expect(answer.headers["Vary"] == "Origin")
    }
  }

  @Test("two origins in one request are none")
  func twice() async throws {
    let answer = try await site(Self.shared).ask(
      "/ten.bin", HeaderFields([.init("Origin", "pack://game"), .init("Origin", "pack://game")]))
    #expect(!shares(answer))
  }

  @Test(
    "what is no origin, or an origin that anybody can have, cannot be allowed",
    arguments: [
      "*", "null", "", "pack://", "file://", "pack:game", "://game", "game", "pack://Game", "pack://game/", "https://*.example.com",
      "https://a@b", "a://b c", "https://example.com:443", "http://example.com:80",
    ])
  func invalid(origin: String) async throws {
    await #expect(processExitsWith: .failure) { [origin = origin as String] in
      // A failure of the site itself would end the process well.
      guard let pack = try? await Site().pack else { return }
      var options = PackResponder.Options()
      options.allowedOrigins = [origin]
      _ = PackResponder(pack, options: options)
    }
  }

  @Test("an allowed origin may read each response, its length and its range", arguments: OriginTests.shared.sorted())
  func allowed(origin: String) async throws {
    let site = try await site(Self.shared)
    let tag = try site.tag("/ten.bin")
    let answers = try [
      site.ask("/ten.bin", ["Origin": origin]), site.ask("/ten.bin", ["Origin": origin, "Range": "bytes=0-1"]),
      site.ask("/en", ["Origin": origin]), site.ask("/ten.bin", ["Origin": origin, "If-None-Match": tag]),
      site.ask("/%", ["Origin": origin]),
      site.ask("/missing", ["Origin": origin]), site.ask("/", ["Origin": origin], method: "POST"),
      site.ask("/ten.bin", ["Origin": origin, "Range": "bytes=99999-"]), site.ask("/", ["Origin": origin], method: "OPTIONS"),
    ]
    #expect(answers.map(\.status) == [200, 206, 200, 304, 400, 404, 405, 416, 405])
    for answer in answers {
      #expect(answer.headers["Access-Control-Allow-Origin"] == origin)
      #expect(answer.headers["Vary"] == "Origin")
      for name in ["Accept-Ranges", "Content-Length", "Content-Range", "ETag"] {
        #expect(answer.headers["Access-Control-Expose-Headers"]?.contains(name) == true)
      }
      // A page sees no cookies, and none are asked for.
      #expect(answer.headers["Access-Control-Allow-Credentials"] == nil)
    }
  }

  @Test("a preflight of an allowed origin permits GET, HEAD and the fields that the responder reads")
  func preflight() async throws {
    let answer = try await site(Self.shared).ask("/missing", Self.preflight("pack://game"), method: "OPTIONS")
    #expect(answer.status == 204)
    #expect(answer.bytes == nil)
    #expect(answer.headers["Content-Length"] == nil)
    #expect(answer.headers["Access-Control-Allow-Origin"] == "pack://game")
    #expect(answer.headers["Access-Control-Allow-Methods"] == "GET, HEAD")
    #expect(answer.headers["Access-Control-Allow-Headers"] == "If-Match, If-None-Match, If-Range, Range")
    #expect(answer.headers["Vary"] == "Origin")
    #expect(answer.headers["X-Content-Type-Options"] == "nosniff")
  }

  @Test(
    "files may be embedded by pages of the same origin only if pages are isolated, unless the policy says otherwise",
    arguments: [
      (false, nil, nil), (true, nil, "same-origin"), (false, .sameOrigin, "same-origin"), (true, .crossOrigin, "cross-origin"),
      (false, .crossOrigin, "cross-origin"),
    ] as [(Bool, PackResponder.ResourcePolicy?, String?)])
  func embedding(isIsolated: Bool, policy: PackResponder.ResourcePolicy?, field: String?) async throws {
    let site = try await site(isIsolated: isIsolated, [], policy)
    for target in ["/ten.bin", "/missing", "/en"] {
      let answer = try site.ask(target)
      #expect(answer.headers["Cross-Origin-Resource-Policy"] == field)
      #expect(answer.headers["Cross-Origin-Embedder-Policy"] == (isIsolated ? "require-corp" : nil))
      #expect(!shares(answer))
    }
  }
}

@Suite("Several packs under one origin", .bounded)
struct MountTests {
  private func site(_ text: String, _ files: [String] = []) async throws -> Site {
    try await Site(Dictionary(uniqueKeysWithValues: (files + ["index.html.txt"]).map { ($0, Array("\(text) \($0)".utf8)) }))
  }

  private func ask(_ responder: PackResponder, _ target: String) throws -> (status: Int, text: String, response: PackResponse) {
    let response = try responder.respond(to: PackRequest(target: target))
    var bytes: [UInt8] = []
    let reader = response.body?.makeReader()
    while try reader?.next({ piece in bytes += (0..<piece.count).map { piece[$0] } }) == true {}
    return (response.status, String(decoding: bytes, as: UTF8.self), response)
  }

  @Test("nothing of a mounted pack is outside of its directory, and nothing of the first pack is inside")
  func separate() async throws {
    let game = try await site("game", ["engine/hidden.js", "play.js"])
    let engine = try await site("engine", ["run.js"])
    let whole = game.responder.mounting(engine.responder, at: "engine")
    for target in [
      "/run.js", "/engine/hidden.js", "/engine/play.js", "/engine/engine/run.js", "/enginerun.js", "/engine2/run.js", "/Engine/run.js",
    ] {
      #expect(try ask(whole, target).status == 404, "\(target)")
    }
    for target in ["/engine/../run.js", "/engine/%2e%2e/run.js"] { #expect(try ask(whole, target).status == 400) }
    #expect(try ask(whole, "/play.js").text == "game play.js")
    for target in ["/engine/run.js", "//engine//run.js", "/engine%2Frun.js", "pack://game/engine/run.js"] {
      #expect(try ask(whole, target).text == "engine run.js", "\(target)")
    }
    // The responders themselves are as before.
    #expect(try ask(game.responder, "/engine/hidden.js").status == 200)
    #expect(try ask(engine.responder, "/run.js").status == 200)
  }

  @Test("a directory of another pack has its index, its types and its tags, and redirects to its whole address")
  func index() async throws {
    let (game, engine) = (try await site("game"), try await site("engine", ["sub/index.html", "run.wasm"]))
    let whole = game.responder.mounting(engine.responder, at: "lib/engine")
    #expect(try ask(whole, "/lib/engine").text.contains("url=./engine/\""))
    #expect(try ask(whole, "/lib/engine/").text == "<!doctype html>")
    #expect(try ask(whole, "/lib/engine/sub").text.contains("url=./sub/\""))
    #expect(try ask(whole, "/lib/engine/sub/").text == "engine sub/index.html")
    #expect(try ask(whole, "/lib").status == 404)
    let file = try ask(whole, "/lib/engine/run.wasm").response
    #expect(file.headers["Content-Type"] == "application/wasm")
    #expect(file.headers["ETag"] == (try engine.tag("/run.wasm")))
  }

  @Test("the options are those of the first pack, also for files of the other one")
  func options() async throws {
    var (open, closed) = (PackResponder.Options(), PackResponder.Options())
    open.allowedOrigins = ["pack://other"]
    open.contentSecurityPolicy = "default-src *"
    closed.contentSecurityPolicy = "default-src 'self'"
    let (game, engine) = (try await Site(options: closed), try await Site(options: open))
    let whole = game.responder.mounting(engine.responder, at: "engine")
    let response = try whole.respond(to: PackRequest(target: "/engine/ten.bin", headers: ["Origin": "pack://other"]))
    #expect(response.status == 200)
    #expect(response.headers["Content-Security-Policy"] == "default-src 'self'")
    #expect(response.headers["Access-Control-Allow-Origin"] == nil)
  }

  @Test("the longest directory wins in any order, a directory that is mounted again is replaced, and mounts of a mounted pack are kept")
  func nested() async throws {
    let sites = (try await site("a", ["x"]), try await site("b", ["x"]), try await site("c", ["x"]))
    let (a, b, c) = (sites.0.responder, sites.1.responder, sites.2.responder)
    for whole in [
      a.mounting(b, at: "m").mounting(c, at: "m/n"), a.mounting(c, at: "m/n").mounting(b, at: "m"),
      a.mounting(b.mounting(c, at: "n"), at: "m"),
    ] {
      #expect(try ["/x", "/m/x", "/m/n/x"].map { try ask(whole, $0).text } == ["a x", "b x", "c x"])
    }
    #expect(try ask(a.mounting(b, at: "m").mounting(c, at: "m"), "/m/x").text == "c x")
  }

  @Test("a directory that no pack can contain is refused", arguments: ["", "/", "m/", "/m", "..", "a/../b", "a//b", "a\\b", ".pack"])
  func illegal(directory: String) async throws {
    await #expect(processExitsWith: .failure) { [directory = directory as String] in
      guard let responder = try? await Site().responder else { return }
      _ = responder.mounting(responder, at: directory)
    }
  }
}
