import Foundation
import TestSupport
import Testing

/// A small site in a pack, with helpers for requests.
struct Site: Sendable {
  /// The numbers from 0 to 255 repeated, 10 000 bytes: the length used in the examples of RFC 9110.
  static let tenThousand = (0..<10_000).map { UInt8(truncatingIfNeeded: $0) }

  /// A complete response.
  struct Answer {
    let status: Int
    let headers: HeaderFields
    let length: UInt64?
    let bytes: [UInt8]?
    let pieces: [Int]
  }

  let directory: TemporaryDirectory
  let pack: Pack
  let responder: PackResponder

  init(_ files: [String: [UInt8]] = [:], empty: Set<String> = [], options: PackResponder.Options = .init()) async throws {
    directory = try TemporaryDirectory()
    var tree = SampleTree(files.mapValues { SampleTree.File($0) }, emptyDirectories: empty)
    tree.files["ten.bin"] = SampleTree.File(Self.tenThousand)
    tree.files["empty.bin"] = SampleTree.File([])
    tree.files["index.html"] = SampleTree.File(Array("<!doctype html>".utf8))
    pack = try open(try await makePack(tree, in: directory))
    responder = PackResponder(pack, options: options)
  }

  func ask(_ target: String, _ headers: HeaderFields = [:], method: String = "GET") throws -> Answer {
    let response = try responder.respond(to: PackRequest(method: method, target: target, headers: headers))
    var bytes: [UInt8]?
    var pieces: [Int] = []
    if let body = response.body {
      var read: [UInt8] = []
      let reader = body.makeReader()
      while try reader.next({ piece in
        pieces.append(piece.count)
        read += (0..<piece.count).map { piece[$0] }
      }) {}
      bytes = read
      #expect(UInt64(read.count) == body.length)
      #expect(response.headers["Content-Length"] == "\(read.count)")
    }
    return Answer(status: response.status, headers: response.headers, length: response.body?.length, bytes: bytes, pieces: pieces)
  }

  func tag(_ target: String) throws -> String { try #require(try ask(target).headers["ETag"]) }
}

@Suite("Responses to paths and methods", .bounded)
struct ResponderPathTests {
  @Test("the response to a file has its whole content, its type and its tag")
  func file() async throws {
    let site = try await Site()
    let answer = try site.ask("/ten.bin")
    #expect(answer.status == 200)
    #expect(answer.bytes == Site.tenThousand)
    #expect(answer.headers["content-type"] == "application/octet-stream")
    #expect(answer.headers["CONTENT-LENGTH"] == "10000")
    #expect(answer.headers["Accept-Ranges"] == "bytes")
    #expect(answer.headers["X-Content-Type-Options"] == "nosniff")
    #expect(answer.headers["Cache-Control"] == "no-cache")
    #expect(answer.headers["ETag"] == "\"\(try sha256(Site.tenThousand).prefix(32))\"")
  }

  @Test("the response to HEAD has the headers of GET and no body, also with ranges")
  func head() async throws {
    let site = try await Site()
    for target in ["/ten.bin", "/", "/empty.bin", "/missing"] {
      let get = try site.ask(target)
      let head = try site.ask(target, method: "HEAD")
      #expect(head.status == get.status)
      #expect(head.headers == get.headers)
      #expect(head.bytes == nil)
      #expect(try site.ask(target, ["Range": "bytes=0-0"], method: "HEAD").headers == get.headers)
    }
  }

  @Test(
    "other methods are refused, and the supported ones are listed",
    arguments: ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "get", "", "GET "])
  func method(_ method: String) async throws {
    let answer = try await Site().ask("/ten.bin", method: method)
    #expect(answer.status == 405)
    #expect(answer.headers["Allow"] == "GET, HEAD")
    #expect(answer.headers["Content-Length"] == "0")
    #expect(answer.bytes == nil)
  }

  @Test(
    "a target is decoded once, and its query and host are ignored",
    arguments: [
      "/a b.txt", "/a%20b.txt", "/%61%20b.txt", "/a%20b.txt?v=3", "/a%20b.txt?a=%zz&b", "/a%20b.txt#top", "//a%20b.txt", "/%2Fa%20b.txt",
      "pack://game/a%20b.txt", "http://127.0.0.1:8080/a%20b.txt?x",
    ])
  func decoding(target: String) async throws {
    let site = try await Site(["a b.txt": [1]])
    // A target cannot contain a space.
    #expect(try site.ask(target).status == (target.contains(" ") ? 400 : 200))
  }

  @Test("a doubly escaped name is a different name")
  func decodedOnce() async throws {
    let site = try await Site(["a%20b.txt": [1], "a b.txt": [2]])
    #expect(try site.ask("/a%2520b.txt").bytes == [1])
    #expect(try site.ask("/a%20b.txt").bytes == [2])
    #expect(try site.ask("/a+b.txt").status == 404)
  }

  @Test("a name is found in both forms of Unicode")
  func unicode() async throws {
    let site = try await Site(["ü/ñ.txt": [1]])
    for target in ["/%C3%BC/%C3%B1.txt", "/ü/ñ.txt", "/u%CC%88/n%CC%83.txt"] { #expect(try site.ask(target).bytes == [1]) }
  }

  @Test(
    "an invalid target is refused",
    arguments: [
      "", "*", "ten.bin", "ten.bin/", "://x", "http:/x", "/%", "/%4", "/%g0", "/ten.bin%", "/%00", "/ten.bin%00.png", "/%0d%0aSet-Cookie:x",
      "/\u{7F}",
      "/%ff", "/%c0%ae%c0%ae/x", "/%ed%a0%80", "/..", "/../ten.bin", "/a/../ten.bin", "/./ten.bin", "/%2e%2e/ten.bin", "/..%2ften.bin",
      "/a/%2E%2E", "/.",
      "http://host/../x", "/ ten.bin",
    ])
  func malformed(target: String) async throws {
    let answer = try await Site().ask(target)
    #expect(answer.status == 400)
    #expect(answer.bytes == nil)
  }

  @Test(
    "a missing file is not found",
    arguments: [
      "/missing", "/ten.bin/", "/ten.bin/x", "/TEN.BIN", "/..\\ten.bin", "/%5c..%5cten.bin", "/...", "/.pack", "/vacant", "/vacant/",
      "/data", "/data/",
      "/index.html/", "/ten.bin%2F", "/\(String(repeating: "x", count: 5000))", "/\(String(repeating: "a/", count: 50_000))",
    ])
  func missing(target: String) async throws {
    let site = try await Site(["data/x.bin": [1]], empty: ["vacant"])
    let answer = try site.ask(target)
    #expect(answer.status == 404)
    #expect(answer.bytes == nil)
    #expect(answer.headers["Content-Length"] == "0")
    // Conditions are only evaluated for existing files (RFC 9110 §13.2.1).
    #expect(try site.ask(target, ["If-None-Match": "*", "If-Match": "\"x\"", "Range": "bytes=9-"]).status == 404)
  }

  @Test("the response to a directory is its index, and without a trailing slash a page that leads there, as WebKit follows no redirects")
  func directories() async throws {
    let page = Array("<p>".utf8)
    let site = try await Site(["en/index.html": page, "a&b 'c/index.html": page])
    #expect(try site.ask("/").bytes == Array("<!doctype html>".utf8))
    #expect(try site.ask("pack://game").status == 200)
    #expect(try site.ask("pack://game?x").status == 200)
    #expect(try site.ask("/en/?x").bytes == page)
    #expect(try site.ask("/en/").headers["Content-Type"] == "text/html; charset=utf-8")
    let moved = try site.ask("/en?x=1&y=\"><script>")
    #expect(moved.status == 200)
    #expect(moved.headers["Location"] == nil && moved.headers["Content-Type"] == "text/html; charset=utf-8")
    let text = String(decoding: try #require(moved.bytes), as: UTF8.self)
    #expect(text.contains("content=\"0; url=./en/?x=1&amp;y=%22%3E%3Cscript%3E\""))
    for (target, place) in ["//en": "./en/", "/a&b%20'c": "./a%26b%20%27c/"] {
      #expect(try site.ask(target).bytes.map { String(decoding: $0, as: UTF8.self).contains("url=\(place)\"") } == true)
    }
  }

  @Test("the name of the index can be changed")
  func indexName() async throws {
    var options = PackResponder.Options()
    options.indexName = "start.htm"
    let site = try await Site(["start.htm": [1]], options: options)
    #expect(try site.ask("/").bytes == [1])
    #expect(try site.ask("/index.html").status == 200)
  }

  @Test("the fallback is returned for missing pages, but not for missing files")
  func fallback() async throws {
    var options = PackResponder.Options()
    options.fallback = "index.html"
    let site = try await Site(options: options)
    let index = try site.tag("/")
    for target in ["/levels", "/levels/3", "/levels/", "/v1.2/levels"] {
      let answer = try site.ask(target)
      #expect(answer.status == 200)
      #expect(answer.headers["ETag"] == index)
      #expect(answer.headers["Content-Type"] == "text/html; charset=utf-8")
    }
    for target in ["/missing.png", "/levels/3.json"] { #expect(try site.ask(target).status == 404) }
    options.fallback = "gone.html"
    #expect(try await Site(options: options).ask("/levels").status == 404)
  }

  @Test("isolation, a policy and cache rules are in every response to which they apply")
  func options() async throws {
    var options = PackResponder.Options()
    options.isIsolated = true
    options.contentSecurityPolicy = "default-src 'self'"
    options.cacheControl = "max-age=60"
    let site = try await Site(options: options)
    let tag = try site.tag("/ten.bin")
    let answers = try [
      site.ask("/ten.bin"), site.ask("/ten.bin", ["Range": "bytes=0-1"]), site.ask("/ten.bin", ["If-None-Match": tag]),
      site.ask("/missing"),
      site.ask("/ten.bin", ["Range": "bytes=99999-"]), site.ask("/", method: "POST"), site.ask("/%"),
    ]
    #expect(answers.map(\.status) == [200, 206, 304, 404, 416, 405, 400])
    for answer in answers {
      #expect(answer.headers["Cross-Origin-Opener-Policy"] == "same-origin")
      #expect(answer.headers["Cross-Origin-Embedder-Policy"] == "require-corp")
      #expect(answer.headers["Cross-Origin-Resource-Policy"] == "same-origin")
      #expect(answer.headers["Content-Security-Policy"] == "default-src 'self'")
      #expect(answer.headers["Cache-Control"] == ([200, 206, 304].contains(answer.status) ? "max-age=60" : nil))
    }
    let plain = try await Site().ask("/")
    #expect(!plain.headers.fields.contains { $0.name.hasPrefix("Cross-") || $0.name == "Content-Security-Policy" })
  }
}

@Suite("Responses to conditions", .bounded)
struct ResponderConditionTests {
  @Test(
    "a file that the client already has is not sent again: tags are compared weakly, in any list (RFC 9110 §13.1.2)",
    arguments: ["T", "W/T", "\"x\", T", "\"x\" , W/\"y\",\tT", "*", " * ", ", ,T", "\"a,b\", T", "\"\", T"])
  func notModified(condition: String) async throws {
    let site = try await Site()
    let tag = try site.tag("/ten.bin")
    let headers: HeaderFields = ["If-None-Match": condition.replacingOccurrences(of: "T", with: tag), "Range": "bytes=0-1"]
    let answer = try site.ask("/ten.bin", headers)
    #expect(answer.status == 304)
    #expect(answer.bytes == nil)
    #expect(answer.headers["ETag"] == tag)
    #expect(answer.headers["Cache-Control"] == "no-cache")
    #expect(answer.headers["Content-Length"] == nil)
    #expect(try site.ask("/ten.bin", headers, method: "HEAD").headers == answer.headers)
  }

  @Test(
    "a file that the client does not have is sent",
    arguments: [
      "\"x\"", "", "T", "w/\"T\"", "\"T", "T\"", "x, \"T\"", "**", "*, \"x\"", "W/*", "\"t\"", String(repeating: "\"x\",", count: 10_000),
    ])
  func modified(condition: String) async throws {
    let site = try await Site()
    let bare = try site.tag("/ten.bin").dropFirst().dropLast()
    #expect(try site.ask("/ten.bin", ["If-None-Match": condition.replacingOccurrences(of: "T", with: bare)]).status == 200)
  }

  @Test("if several fields have the same name, all are used")
  func severalFields() async throws {
    let site = try await Site()
    #expect(try site.ask("/ten.bin", ["If-None-Match": "\"x\"", "if-none-match": try site.tag("/ten.bin")]).status == 304)
  }

  @Test("a file that differs from the expected one is refused: strong tags only (RFC 9110 §13.1.1)")
  func ifMatch() async throws {
    let site = try await Site()
    let tag = try site.tag("/ten.bin")
    for condition in [tag, "*", "\"x\", \(tag)"] { #expect(try site.ask("/ten.bin", ["If-Match": condition]).status == 200) }
    for condition in ["\"x\"", "W/\(tag)", "", "x"] { #expect(try site.ask("/ten.bin", ["If-Match": condition]).status == 412) }
    // Evaluated before all other conditions (RFC 9110 §13.2.2).
    #expect(try site.ask("/ten.bin", ["If-None-Match": tag, "If-Match": "\"x\"", "Range": "bytes=99999-"]).status == 412)
    #expect(try site.ask("/ten.bin", ["If-None-Match": tag, "If-Match": tag, "Range": "bytes=99999-"]).status == 304)
  }

  @Test("dates are ignored, because a pack has none")
  func dates() async throws {
    let site = try await Site()
    let date = "Sat, 29 Oct 2044 19:43:31 GMT"
    #expect(try site.ask("/ten.bin", ["If-Modified-Since": date]).status == 200)
    #expect(try site.ask("/ten.bin", ["If-Unmodified-Since": "Sat, 29 Oct 1994 19:43:31 GMT"]).status == 200)
  }

  @Test("a range is sent only if the file is still the one that the client started with (RFC 9110 §13.1.5)")
  func ifRange() async throws {
    let site = try await Site()
    let tag = try site.tag("/ten.bin")
    #expect(try site.ask("/ten.bin", ["If-Range": tag, "Range": "bytes=0-1"]).status == 206)
    for condition in ["\"x\"", "W/\(tag)", "Sat, 29 Oct 1994 19:43:31 GMT", "*", ""] {
      let answer = try site.ask("/ten.bin", ["If-Range": condition, "Range": "bytes=0-1"])
      #expect(answer.status == 200)
      #expect(answer.bytes == Site.tenThousand)
    }
    #expect(try site.ask("/ten.bin", ["If-Range": "\"x\"", "Range": "bytes=99999-"]).status == 200)
    #expect(try site.ask("/ten.bin", ["If-Range": "\"x\""]).status == 200)
  }
}

@Suite("Responses to ranges", .bounded)
struct ResponderRangeTests {
  @Test(
    "the response to one range has its bytes and their position (RFC 9110 §14.1.2)",
    arguments: [
      ("bytes=0-499", 0..<500), ("bytes=500-999", 500..<1000), ("bytes=-500", 9500..<10_000), ("bytes=9500-", 9500..<10_000),
      ("bytes=0-0", 0..<1),
      ("bytes=9999-9999", 9999..<10_000), ("bytes=-1", 9999..<10_000), ("bytes=0-", 0..<10_000), ("bytes=0-9999", 0..<10_000),
      ("bytes=0-10000", 0..<10_000), ("bytes=9999-99999", 9999..<10_000), ("bytes=-10000", 0..<10_000), ("bytes=-10001", 0..<10_000),
      ("BYTES=1-2", 1..<3), ("bytes=1 - 2", 1..<3), ("bytes= 1-2 ", 1..<3), ("bytes=0001-002", 1..<3), ("bytes=,1-2,", 1..<3),
      ("bytes=1-2,\t20000-", 1..<3),
      ("bytes=5-3, 1-2", 1..<3), ("bytes=0-18446744073709551615", 0..<10_000), ("bytes=1-99999999999999999999999", 1..<10_000),
      ("bytes=-18446744073709551616", 0..<10_000), ("bytes=\(String(repeating: "0", count: 5000))7-9", 7..<10),
    ])
  func single(range: String, expected: Range<Int>) async throws {
    let site = try await Site()
    let answer = try site.ask("/ten.bin", ["Range": range])
    #expect(answer.status == 206)
    #expect(answer.headers["Content-Range"] == "bytes \(expected.lowerBound)-\(expected.upperBound - 1)/10000")
    #expect(answer.headers["Content-Type"] == "application/octet-stream")
    #expect(answer.headers["ETag"] == (try site.tag("/ten.bin")))
    #expect(answer.headers["Accept-Ranges"] == "bytes")
    #expect(answer.bytes == Array(Site.tenThousand[expected]))
  }

  @Test(
    "a range outside the file and an invalid range are not satisfiable (RFC 9110 §15.5.17)",
    arguments: [
      "bytes=10000-", "bytes=10000-10001", "bytes=-0", "bytes=99999999999999999999-", "bytes=18446744073709551615-18446744073709551615",
      "bytes=5-3",
      "bytes=abc", "bytes=1", "bytes=--1", "bytes=-", "bytes=1-2-3", "bytes=1-x", "bytes=+1-2", "bytes=0x1-2", "bytes=- 1", "bytes=1 2-3",
      "bytes=0-1;2-3",
      "bytes=0-1, x", "bytes=,", "bytes=١-٢", "bytes=1-2\u{0}", "bytes==1-2", "bytes=0-499, -",
    ])
  func unsatisfiable(range: String) async throws {
    let answer = try await Site().ask("/ten.bin", ["Range": range])
    #expect(answer.status == 416)
    #expect(answer.headers["Content-Range"] == "bytes */10000")
    #expect(answer.headers["Content-Length"] == "0")
    #expect(answer.bytes == nil)
  }

  @Test(
    "an unknown unit or an excessive number of ranges returns the whole file (RFC 9110 §14.2)",
    arguments: [
      "items=0-5", "bytes", "bytes=", "byte=0-1", "0-1", "", "bytes:0-1", "bytes =0-1", "none=",
      "bytes=0-9999,0-0", "bytes=0-,-1", "bytes=-10000, -1",
      "bytes=" + (0..<17).map { "\($0)-\($0)" }.joined(separator: ","), "bytes=" + String(repeating: "0-,", count: 5000),
      "bytes=" + (0..<5000).map { "\($0)-\($0)" }.joined(separator: ","),
    ])
  func ignored(range: String) async throws {
    let answer = try await Site().ask("/ten.bin", ["Range": range])
    #expect(answer.status == 200)
    #expect(answer.headers["Content-Range"] == nil)
    #expect(answer.bytes == Site.tenThousand)
  }

  @Test(
    "the response to several ranges has one part for each, with its position (RFC 9110 §15.3.7.2)",
    arguments: [
      ("bytes=0-0,-1", [0..<1, 9999..<10_000]), ("bytes=500-600,601-999", [500..<601, 601..<1000]),
      ("bytes=500-700,601-999", [500..<701, 601..<1000]),
      ("bytes= 0-999, 4500-5499, -1000", [0..<1000, 4500..<5500, 9000..<10_000]), ("bytes=9-9,20000-,1-1,5-3", [9..<10, 1..<2]),
      ("bytes=" + (0..<16).map { "\($0)-\($0)" }.joined(separator: ","), (0..<16).map { $0..<$0 + 1 }),
    ])
  func several(range: String, expected: [Range<Int>]) async throws {
    let answer = try await Site().ask("/ten.bin", ["Range": range])
    #expect(answer.status == 206)
    #expect(answer.headers["Content-Range"] == nil)
    let type = try #require(answer.headers["Content-Type"])
    let boundary = try #require(type.split(separator: "boundary=").last)
    #expect(type == "multipart/byteranges; boundary=\(boundary)")
    var body: [UInt8] = []
    for range in expected {
      body += Array("\r\n--\(boundary)\r\nContent-Type: application/octet-stream\r\n".utf8)
      body += Array("Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/10000\r\n\r\n".utf8)
      body += Site.tenThousand[range]
    }
    body += Array("\r\n--\(boundary)--\r\n".utf8)
    #expect(answer.bytes == body)
  }

  @Test("an empty file is returned whole if a range starts at its first byte; other ranges are not satisfiable")
  func emptyFile() async throws {
    let site = try await Site()
    for range in ["bytes=0-", "bytes=0-0", "bytes=-5", "bytes=-0"] {
      let answer = try site.ask("/empty.bin", ["Range": range])
      #expect(answer.status == 200)
      #expect(answer.bytes == [])
    }
    for range in ["bytes=1-", "bytes=5-9", "bytes=x"] {
      let answer = try site.ask("/empty.bin", ["Range": range])
      #expect(answer.status == 416)
      #expect(answer.headers["Content-Range"] == "bytes */0")
    }
  }

  @Test("any range of any file, at any edge of a frame, has the correct bytes")
  func random() async throws {
    var random = SeededGenerator(for: "any range of any file")
    var files: [String: [UInt8]] = [:]
    for size in [1, 65_535, 65_536, 65_537, 300_000] { files["\(size).bin"] = random.bytes(size) }
    let site = try await Site(files)
    for (name, bytes) in files {
      for _ in 0..<40 {
        let near = { (place: Int) in min(bytes.count - 1, max(0, place + Int.random(in: -2...2, using: &random))) }
        let start = near(Bool.random(using: &random) ? Int.random(in: 0..<bytes.count, using: &random) : 65_536)
        let end = max(start, near(Bool.random(using: &random) ? Int.random(in: 0..<bytes.count, using: &random) : 131_072))
        let answer = try site.ask("/\(name)", ["Range": "bytes=\(start)-\(end)"])
        #expect(answer.bytes == Array(bytes[start...end]), "\(name) \(start)-\(end)")
        #expect(answer.pieces.allSatisfy { $0 <= 65_536 })
      }
    }
  }
}

@Suite("Responses to random requests", .bounded)
struct ResponderHostilityTests {
  @Test("every response has one of the known statuses, and its bytes are those that it declares")
  func anything() async throws {
    var random = SeededGenerator(for: "whatever is asked")
    let site = try await Site(["a/index.html": Array("<p>".utf8)])
    let tag = try site.tag("/ten.bin")
    let words: [String] = [
      "bytes=", "bytes", "0-99", "9990-", "-5", "0", "1", "9999", "10000", "18446744073709551615", "18446744073709551616", "-", ",", " ",
      "\t", "=", tag, "W/",
      "\"", "*", "/", "..",
      ".", "%", "%2e", "%2F", "%00", "%C3", "%BC", "ten.bin", "a", "index.html", "?", "#", "pack://x", "\u{0}", "\r\n", "ü", "\\",
    ]
    func text(_ most: Int) -> String {
      (0..<Int.random(in: 0...most, using: &random)).map { _ in words.randomElement(using: &random)! }.joined()
    }
    var seen: [Int: Int] = [:]
    for _ in 0..<20_000 {
      var headers = HeaderFields()
      for name in ["Range", "If-Range", "If-None-Match", "If-Match"] where Int.random(in: 0..<3, using: &random) == 0 {
        headers.append(name, name == "Range" && Bool.random(using: &random) ? "bytes=" + text(5) : text(6))
      }
      let target = Bool.random(using: &random) ? "/ten.bin" : "/" + text(5)
      let answer = try site.responder.respond(
        to: PackRequest(method: Bool.random(using: &random) ? "GET" : "HEAD", target: target, headers: headers))
      seen[answer.status, default: 0] += 1
      #expect([200, 206, 304, 400, 404, 412, 416].contains(answer.status))
      #expect(answer.headers.fields.allSatisfy { $0.value.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } })
      guard target == "/ten.bin", answer.status == 206, let range = answer.headers["Content-Range"] else { continue }
      let numbers = range.split(whereSeparator: { !$0.isNumber }).compactMap { Int($0) }
      try #require(numbers.count == 3 && numbers[0] <= numbers[1] && numbers[1] < 10_000 && numbers[2] == 10_000)
      #expect(try site.ask(target, headers).bytes == Array(Site.tenThousand[numbers[0]...numbers[1]]))
    }
    // Every status occurred, so the requests are varied enough.
    #expect(seen.count == 7, "\(seen)")
  }

  @Test("a field is found by its name in any case, and several fields with one name are one list")
  func headerFields() {
    var fields: HeaderFields = ["Range": "bytes=0-1", "X": "a", "x": "b"]
    fields.append("ETAG", "\"t\"")
    #expect(fields["range"] == "bytes=0-1")
    #expect(fields["RANGE"] == "bytes=0-1")
    #expect(fields["X"] == "a, b")
    #expect(fields["etag"] == "\"t\"")
    #expect(fields["Ran"] == nil)
    #expect(fields[""] == nil)
    // Names that differ in more than case are different.
    #expect(HeaderFields([.init("[", "1")])["{"] == nil)
  }
}
