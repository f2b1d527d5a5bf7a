import Foundation
import TestSupport
import Testing

@testable import PackServer

/// Requests that a browser sends to `packer serve` and a web view to an app: what the web view gets is what `PackResponder` answers.
@Suite("A server that fails where the web view does", .bounded)
struct PhoneTests {
  private static let gzip: [UInt8] = [31, 139, 8, 0, 0, 0, 0, 0]

  /// Files of a game that is right in every way, and of those that a server could help along.
  private static let files: [String: [UInt8]] = [
    "index.html": Array("<!doctype html><meta charset=utf-8><p>日本".utf8),
    "win.html": Array("<meta charset=windows-1251>".utf8) + [0xCF, 0xF0],
    "sjis.js": [0x93, 0xFA, 0x96, 0x7B], "utf.js": Array("'日本'".utf8), "a.css": Array("p {}".utf8),
    "late.txt": [UInt8](repeating: 65, count: 90_000) + [0xE9], "beyond.txt": [UInt8](repeating: 65, count: 300_000) + [0xE9],
    "Build/game.framework.js.br": gzip, "Build/game.wasm.gz": gzip, "Build/game.data.br": gzip, "art.svgz": gzip, "level.json.gz": gzip,
    "level.json": [0xE9], "a.png": [1, 2, 3], "film.webm": [UInt8](repeating: 7, count: 5000), "sub/index.html": Array("sub".utf8),
    "a b/c&d/index.html": Array("x".utf8), "no-extension": [1], "empty.js": [],
  ]

  private struct Got: Equatable {
    var status: Int
    var fields: [String: String] = [:]
    var bytes: [UInt8] = []
  }

  /// What differs by intent: nothing that a server sends is kept by a browser, and dates and tags of files are those of the disk.
  private static let own: Set = ["cache-control", "etag", "last-modified"]

  @Test("the server's replies for a pack and for a folder are what a web view gets, in status, fields and bytes", arguments: [false, true])
  func replies(isIsolated: Bool) async throws {
    let directory = try TemporaryDirectory()
    let path = try await makePack(SampleTree(Self.files.mapValues { .init($0) }), in: directory, name: "game")
    var options = PackResponder.Options()
    options.isIsolated = isIsolated
    let keys = KeyRing(try knownKey())
    let pack = try GameSite(GameStock(path, .pack, keys: keys), options: options)
    let folder = try GameSite(GameStock(directory("game.source"), .folder, keys: KeyRing()), options: options)
    let view = PackResponder(try #require(try pack.content(of: pack.games[0]).pack), options: options)
    func answer(_ site: GameSite, _ method: String, _ target: String, _ headers: HeaderFields) throws -> Got {
      var all: HeaderFields = ["Host": String(site.games[0].origin(port: "").dropFirst("http://".count)), "Sec-Fetch-Dest": "empty"]
      all.fields += headers.fields
      let answer = try Answer(site, target, all, method: method)
      return Got(status: answer.status, fields: Self.fields(answer.reply.headers), bytes: answer.status == 404 ? [] : answer.bytes)
    }
    func viewed(_ method: String, _ target: String, _ headers: HeaderFields) throws -> Got {
      let response = try view.respond(to: PackRequest(method: method, target: target, headers: headers))
      var got = Got(status: response.status, fields: Self.fields(response.headers))
      if let reader = response.body?.makeReader() { while try reader.next({ got.bytes.append(copying: $0) }) {} }
      return got
    }
    let targets =
      Self.files.keys.sorted().map { "/" + RequestTarget.encoded($0) } + [
        "/", "/sub", "/sub/", "/a%20b/c%26d", "/a%20b/c%26d?q=1", "/missing.png", "/missing", "/%2e%2e/x", "/%zz", "/sub//index.html",
        "/INDEX.html",
      ]
    var count = 0
    for target in targets {
      for method in ["GET", "HEAD", "POST", "PUT", "OPTIONS"] {
        for headers: HeaderFields in [
          [:], ["Range": "bytes=1-2"], ["Range": "bytes=0-0"], ["Range": "bytes=99999999-"], ["Range": "lines=1"],
        ] {
          let wanted = try viewed(method, target, headers)
          #expect(wanted.fields["content-encoding"] == nil && wanted.fields["location"] == nil && !(300..<400).contains(wanted.status))
          for site in [pack, folder] {
            var got = try answer(site, method, target, headers)
            // A server says what is wrong with an address to the person who wrote it.
            if [400, 404].contains(got.status) { (got.fields["content-type"], got.fields["content-length"], got.bytes) = (nil, "0", []) }
            if site.games[0].folder != nil {
              // A folder is a preview without packs: it has one range at most, and fewer fields with an error.
              guard got.status < 400 else {
                #expect(got.status == wanted.status, "\(method) \(target)")
                continue
              }
            }
            #expect(got == wanted, "\(method) \(target) \(headers.fields.first?.value ?? "")")
            count += 1
          }
        }
      }
    }
    #expect(count > 800)
  }

  private static func fields(_ headers: HeaderFields) -> [String: String] {
    var fields: [String: String] = [:]
    for field in headers.fields where !own.contains(field.name.lowercased()) { fields[field.name.lowercased()] = field.value }
    return fields
  }

  @Test("the note of a request and the phone view say why a file that the build compressed fails")
  func reason() async throws {
    let directory = try TemporaryDirectory()
    let path = try await makePack(SampleTree(Self.files.mapValues { .init($0) }), in: directory, name: "game")
    let site = try GameSite(GameStock(path, .pack, keys: KeyRing(try knownKey())), options: .init())
    let host = String(site.games[0].origin(port: "").dropFirst("http://".count))
    func note(_ target: String) throws -> String? { try Answer(site, target, ["Host": host]).reply.note }
    #expect(try note("/Build/game.framework.js.br")?.contains("no web view decompresses (PK6020)") == true)
    #expect(try note("/art.svgz")?.contains("PK6020") == true)
    // Scripts may decompress these.
    #expect(
      try note("/Build/game.wasm.gz") == nil && note("/level.json.gz") == nil && note("/utf.js") == nil
        && note("/none.js.br")?.contains("PK6020") != true)
    let news = String(decoding: try Answer(site, "/.well-known/packer/live?since=0", ["Host": host]).bytes, as: UTF8.self)
    #expect(news.contains(#""kind": "failed", "ms": "#) && news.contains("no web view decompresses"))
  }

  @Test("a recorded run has what failed: errors of scripts, a service worker, a compressed script, and pages that cannot be watched")
  func recorded() async throws {
    let directory = try TemporaryDirectory()
    var files = Self.files
    files["wide.html"] = [0xFF, 0xFE, 0x3C, 0, 0x70, 0, 0x3E, 0]
    let path = try await makePack(SampleTree(files.mapValues { .init($0) }), in: directory, name: "game")
    func text(_ site: GameSite, _ target: String, _ headers: HeaderFields) throws -> String {
      String(decoding: try Answer(site, target, headers).bytes, as: UTF8.self)
    }
    func run(allowsWorkers: Bool = false, _ use: (GameSite, HeaderFields) throws -> Void) throws -> LoadRun.Pack? {
      let recorder = LoadRecorder()
      let site = try GameSite(
        GameStock(path, .pack, keys: KeyRing(try knownKey())), options: .init(), allowsServiceWorkers: allowsWorkers, recorder: recorder)
      try use(site, ["Host": String(site.games[0].origin(port: "").dropFirst("http://".count)), "Sec-Fetch-Dest": "document"])
      return recorder.run(of: site).packs.first
    }
    func problems(allowsWorkers: Bool = false, _ use: (GameSite, HeaderFields) throws -> Void) throws -> [LoadRun.Problem] {
      try run(allowsWorkers: allowsWorkers, use)?.problems ?? []
    }
    // The mark of a game that can be played is no problem, and only the first one counts.
    for marks in [0, 1, 2] {
      let marked = try #require(
        try run { site, headers in
          _ = try text(site, "/a.png", headers)
          let mark = PackRequest(method: "POST", target: "/.well-known/packer/error", headers: headers)
          for _ in 0..<marks { site.take(Array("mark\nplayable".utf8), of: mark) }
        })
      #expect((marked.playable != nil) == (marks > 0) && marked.problems == [])
    }
    let script = "/.well-known/packer/watch.js"
    // The page loads the script, which reports.
    let reported = try problems { site, headers in
      let (page, watch) = (try text(site, "/", headers), try text(site, script, headers))
      #expect(page.contains("<script src=\"\(script)\">") && watch.contains("addEventListener"))
      let report = PackRequest(method: "POST", target: "/.well-known/packer/error", headers: headers)
      for _ in 0..<3 { site.take(Array("/a.js:1:7\nUncaught Error: dead\nmore".utf8), of: report) }
      site.take(Array("\nno place".utf8), of: report)
      site.take(Array("not a report".utf8), of: report)
    }
    #expect(reported == [LoadRun.Problem("Uncaught Error: dead\nmore", place: "/a.js:1:7"), LoadRun.Problem("no place")])
    // A page that never loads it says nothing of its errors.
    for page in ["/", "/wide.html"] {
      let unseen = try problems { site, headers in _ = try text(site, page, headers) }
      #expect(unseen.count == 1 && unseen.first?.text.contains("are not seen") == true)
    }
    let other = try problems { site, headers in _ = try text(site, "/a.png", headers) }
    #expect(other == [])
    let needs = try problems { site, headers in
      let host = try #require(headers["Host"])
      _ = try text(site, "/Build/game.framework.js.br", ["Host": host, "Sec-Fetch-Dest": "script"])
      _ = try text(site, "/utf.js", ["Host": host, "Sec-Fetch-Dest": "serviceworker"])
    }
    #expect(needs.count == 2 && needs[0].text.contains("PK6020") && needs[1].text.contains("'utf.js': a web view has no service workers"))
    let allowed = try problems(allowsWorkers: true) { site, headers in
      let page = try text(site, "/", headers)
      #expect(page.contains("\(script)?workers\""))
      _ = try text(site, script + "?workers", headers)
      let host = try #require(headers["Host"])
      _ = try text(site, "/utf.js", ["Host": host, "Sec-Fetch-Dest": "serviceworker"])
    }
    #expect(allowed == [])
  }
}
