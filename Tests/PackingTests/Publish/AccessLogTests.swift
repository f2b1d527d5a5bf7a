import Foundation
import TestSupport
import Testing

@testable import PackPublish

@Suite("Access logs")
struct AccessLogTests {
  /// A request with its places as texts.
  private struct Seen: Hashable {
    var target: String
    var status = 200
    var bytes: UInt64? = 0
    var time: String?
    var address = ""
    var agent = ""
    var isGet = true
  }

  /// Returns the requests in bytes that arrive in pieces.
  private static func read(_ bytes: [UInt8], pieces: Int = 1 << 20) throws -> (seen: [Seen], result: AccessLog.Result) {
    var rest = bytes[...]
    var seen: [Seen] = []
    let next: (inout MutableSpan<UInt8>) throws(PackError) -> Int = { buffer in
      let piece = rest.prefix(min(pieces, buffer.count))
      rest = rest.dropFirst(piece.count)
      copy(piece.byteSpan, to: &buffer)
      return piece.count
    }
    let result = try AccessLog.forEachRequest(next) { line, request in
      func text(_ place: Range<Int>) -> String { String(decoding: [UInt8](copying: line.extracting(place)), as: UTF8.self) }
      seen.append(
        Seen(
          target: text(request.target), status: request.status, bytes: request.bytes,
          time: request.seconds.flatMap { ManifestTime(secondsSince1970: $0)?.description }, address: text(request.address),
          agent: text(request.agent), isGet: request.isGet))
    }
    return (seen, result)
  }

  private static func read(_ text: String) throws -> (seen: [Seen], result: AccessLog.Result) { try read(Array(text.utf8)) }

  // MARK: Formats

  private static let iPad = "Game/7 CFNetwork/1490.0.4 Darwin/23.2.0"

  /// Lines as the makers document them, or as their servers wrote them.
  private static let lines: [(String, Seen)] = [
    (
      #"127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326"#,
      Seen(target: "/apache_pb.gif", bytes: 2326, time: "2000-10-10T20:55:36Z", address: "127.0.0.1")
    ),
    (
      #"127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 304 - "http://www.example.com/start.html" "Mozilla/4.08 [en] (Win98; I ;Nav)""#,
      Seen(
        target: "/apache_pb.gif", status: 304, time: "2000-10-10T20:55:36Z", address: "127.0.0.1",
        agent: "Mozilla/4.08 [en] (Win98; I ;Nav)")
    ),
    (
      #"cdn.example.com:443 2001:db8::1 - - [30/Nov/2026:00:00:60 +0530] "HEAD /a?b=c HTTP/2.0" 404 0 "-" "a \"quoted\" agent""#,
      Seen(
        target: "/a?b=c", status: 404, time: "2026-11-29T18:30:59Z", address: "2001:db8::1", agent: #"a \"quoted\" agent"#, isGet: false)
    ),
    (
      #"10.0.0.1 - - [30/Nov/2026:01:02:03 +0000] "\x16\x03\x01\x00" 400 157 "-" "-""#,
      Seen(target: "", status: 400, bytes: 157, time: "2026-11-30T01:02:03Z", address: "10.0.0.1", agent: "-")
    ),
    (
      #"79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be amzn-s3-demo-bucket1 [06/Feb/2019:00:00:38 +0000] 192.0.2.3 79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be 3E57427F3EXAMPLE REST.GET.VERSIONING - "GET /amzn-s3-demo-bucket1?versioning HTTP/1.1" 200 - 113 - 7 - "-" "S3Console/0.4" - s9lzHYrFp76ZVxRcpX9+5cjAnEH2ROuNkd2BHfIa6UkFVdtjf5mKR3/eTPFvsiP/XV/VLi31234= SigV4 ECDHE-RSA-AES128-GCM-SHA256 AuthHeader amzn-s3-demo-bucket1.s3.us-west-1.amazonaws.com TLSV1.2 arn:aws:s3:us-west-1:123456789012:accesspoint/example-AP Yes"#,
      Seen(
        target: "/amzn-s3-demo-bucket1?versioning", bytes: 113, time: "2019-02-06T00:00:38Z", address: "192.0.2.3", agent: "S3Console/0.4")
    ),
    (
      #"79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be mybucket [06/Feb/2014:00:01:57 +0000] 192.0.2.3 79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be DD6CC733AEXAMPLE REST.PUT.OBJECT s3-dg.pdf "PUT /mybucket/s3-dg.pdf HTTP/1.1" 200 - - 4406583 41754 28 "-" "S3Console/0.4" -"#,
      Seen(
        target: "/mybucket/s3-dg.pdf", time: "2014-02-06T00:01:57Z", address: "192.0.2.3", agent: "S3Console/0.4", isGet: false)
    ),
    (
      #"79a59df9 mybucket [06/Feb/2014:00:01:57 +0000] - AmazonS3 DD6CC733AEXAMPLE S3.EXPIRE.OBJECT s3-dg.pdf - - - - 4406583 - - - - -"#,
      Seen(target: "", status: 0, time: "2014-02-06T00:01:57Z", address: "-")
    ),
    (
      #"{"ClientIP": "89.163.242.206","ClientRequestHost": "www.theburritobot.com","ClientRequestMethod": "GET","ClientRequestURI":"/a.pack?x","EdgeEndTimestamp": 1506702504461999900,"EdgeResponseBytes": 69045,"EdgeResponseStatus": 200,"EdgeStartTimestamp": 1506702504433000200,"RayID": "3a6050bcbe121a87"}"#,
      Seen(target: "/a.pack?x", bytes: 69045, time: "2017-09-29T16:28:24Z", address: "89.163.242.206")
    ),
    (
      #"{"EdgeResponseBytes":900,"EdgeResponseBodyBytes":500,"EdgeResponseStatus":206,"EdgeStartTimestamp":"2026-11-30T01:02:03Z","ClientRequestURI":"/a","ClientRequestUserAgent":"x"}"#,
      Seen(target: "/a", status: 206, bytes: 500, time: "2026-11-30T01:02:03Z", agent: "x")
    ),
    (
      #"{ "timestamp": "2026-11-30T01:02:03", "client_ip": "192.0.2.7", "geo_city": "a\"b", "url": "\/packs\/a.pack", "request_method": "GET", "request_user_agent": "x", "response_status": 200, "response_reason": null, "response_body_size": 12, "fastly_is_edge": true }"#,
      Seen(target: #"\/packs\/a.pack"#, bytes: 12, time: "2026-11-30T01:02:03Z", address: "192.0.2.7", agent: "x")
    ),
    (
      #"{"level":"info","ts":1592833155.86084,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"127.0.0.1","remote_port":"50786","proto":"HTTP/2.0","method":"GET","host":"localhost","uri":"/api/config","headers":{"Status":["500"],"User-Agent":["x","y"],"Size":["1"]},"tls":{"status":1}},"bytes_read":0,"user_id":"","duration":0.000571055,"size":1259,"status":200,"resp_headers":{"uri":["/b"]}}"#,
      Seen(target: "/api/config", bytes: 1259, time: "2020-06-22T13:39:15Z", address: "127.0.0.1", agent: "x")
    ),
    (
      #"{"date":"2026-11-30","time":"01:02:03","c-ip":"192.0.2.7","cs-method":"GET","cs-uri-stem":"/a","sc-status":"000","sc-bytes":"0","cs(User-Agent)":"x%20y"}"#,
      Seen(target: "/a", status: 0, time: "2026-11-30T01:02:03Z", address: "192.0.2.7", agent: "x%20y")
    ),
  ]

  @Test("are read as their makers document them", arguments: lines.indices)
  func formats(_ number: Int) throws {
    let (line, seen) = Self.lines[number]

    #expect(try Self.read(line + "\n").seen == [seen])
    // Without a line feed, and with that of Windows.
    #expect(try Self.read(line).seen == [seen])
    #expect(try Self.read("\(line)\r\n").seen == [seen])
  }

  private static let header =
    "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query sc-content-len sc-range-start sc-range-end\n"

  @Test("of CloudFront are read by the columns that they name, also if these change")
  func columns() throws {
    let first =
      "2020-04-19\t05:33:36\tIAD89-C3\t100094\t34.227.59.34\tGET\tdvvs5hy178tti.cloudfront.net\t/intro.png\t200\thttps://feedback.farm/\tMozilla/5.0%20(compatible)\t-\t99641\t-\t-\n"
    let second = "#Fields: cs-uri-stem\tsc-status sc-bytes\n/a\t404\t120\n"
    let seen = Seen(
      target: "/intro.png", bytes: 99_641, time: "2020-04-19T05:33:36Z", address: "34.227.59.34", agent: "Mozilla/5.0%20(compatible)")

    let (found, result) = try Self.read(Self.header + first + first.replacing("99641", with: "200000") + second)

    #expect(
      found == [
        seen,
        { (one: Seen) in
          var one = one
          one.bytes = 100_094
          return one
        }(seen), Seen(target: "/a", status: 404, bytes: 120),
      ])
    #expect(result.lines == 3 && result.damaged == 0)
  }

  @Test("are the same in pieces of any size", arguments: [1, 2, 7, 4096])
  func pieces(_ size: Int) throws {
    let text = Self.lines.map(\.0).joined(separator: "\n")

    let (seen, result) = try Self.read(Array(text.utf8), pieces: size)

    #expect(seen == Self.lines.map(\.1))
    #expect(result == AccessLog.Result(lines: UInt64(Self.lines.count), damaged: 0, firstDamaged: nil))
  }

  // MARK: Refusals

  private static let good = #"10.0.0.1 - - [30/Nov/2026:01:02:03 +0000] "GET /a HTTP/1.1" 200 1"#

  @Test(
    "that are damaged are counted, and nothing of them is",
    arguments: [
      "x", "{", "{}", "[]", "{]", #"{"url":"/a"}"#, #"{"url":"/a","status":2000}"#, #"{"url":"/a","status":200}x"#,
      #"{"url":"/a","status":200"#,
      #"{"url":"/a","status":200,"size":-1}"#, #"{"url":"/a","status":200,"size":99999999999999999999}"#, #"{"url":"/a,"status":200}"#,
      #"{"url":"/a","status":200,"x":"\"#, String(repeating: "[", count: 100), #"{"a":"# + String(repeating: "{\"a\":", count: 100),
      #"10.0.0.1 - - [30/Nov/2026:01:02:03 +0000] "GET /a HTTP/1.1" 20x 1"#,
      #"10.0.0.1 - - [30/Nov/2026:01:02:03 +0000] "GET /a HTTP/1.1" 200 1x"#,
      #"10.0.0.1 - - [30/Nov/2026:01:02:03 +0000] "GET /a HTTP/1.1" 200 99999999999999999999"#,
      #"10.0.0.1 - - [30/Nov/2026:01:02:03 +0000] "GET /a HTTP/1.1"#, #"10.0.0.1 - - [30/Nov/2026:01:02:03 +0000"#, "a b [",
      "a b c d e f g h i [x] ",
      "\u{0}\u{1B}[31m", #"a b c [\"#,
    ])
  func damaged(_ line: String) throws {
    let (seen, result) = try Self.read("\(Self.good)\n\(line)\n\n\(Self.good)")

    #expect(seen.count == 2)
    #expect(result == AccessLog.Result(lines: 3, damaged: 1, firstDamaged: 2))
    #expect(!result.isRefused)
  }

  @Test("with bytes that are no text are read")
  func bytes() throws {
    let line = Array(#"10.0.0.1 - - [99/Nov/2026:01:02:03 +0000] "GET /"#.utf8) + [0xFF, 0, 0x1B, 0xC3] + Array(#" HTTP/1.1" 200 1"#.utf8)

    let (seen, result) = try Self.read(line)

    #expect(seen.map(\.status) == [200] && seen.map(\.time) == [nil])
    #expect(result.damaged == 0)
  }

  @Test("with a line that has no end take no more memory than others")
  func endless() throws {
    var left = Effort.number(quick: 20, full: 1000) << 20
    var buffers: Set<Int> = []
    let next: (inout MutableSpan<UInt8>) throws(PackError) -> Int = { buffer in
      buffers.insert(buffer.count >> 20)
      let count = min(left, buffer.count)
      left -= count
      return count
    }
    let result = try AccessLog.forEachRequest(next) { _, _ in Issue.record("a request was found") }

    #expect(result == AccessLog.Result(lines: 1, damaged: 1, firstDamaged: 1))
    #expect(result.isRefused)
    #expect(buffers.max() == 1)
  }

  @Test("pass over a line that is too long, and count it once", arguments: [AccessLog.longestLine, AccessLog.longestLine + 1, 3 << 20])
  func long(_ size: Int) throws {
    let text = Self.good + "\n" + #"{"url":"/"# + String(repeating: "a", count: size - 24) + #"","status":200}"# + "\n" + "x\n" + Self.good

    let (seen, result) = try Self.read(text)

    let isLegal = size <= AccessLog.longestLine
    #expect(seen.count == (isLegal ? 3 : 2))
    #expect(result == AccessLog.Result(lines: 4, damaged: isLegal ? 1 : 2, firstDamaged: isLegal ? 3 : 2))
  }

  @Test(
    "are refused if more than ten lines and one in a hundred are damaged, or all",
    arguments: [(10, 1, false), (11, 1089, false), (11, 1088, true), (1, 0, true)])
  func bound(damaged: Int, good: Int, isRefused: Bool) throws {
    let directory = try TemporaryDirectory()
    let text = String(repeating: "x\n", count: damaged) + String(repeating: Self.good + "\n", count: good)
    let path = try directory.write(text.utf8, to: "a.log")

    let error = Self.refusal(path)

    #expect(error?.code == (isRefused ? .unreadableLog : nil))
    if isRefused {
      #expect(error?.message.hasPrefix("\(path) is not an access log that packer reads: \(damaged) of \(damaged + good) line") == true)
    }
  }

  private static func refusal(_ path: String) -> PackError? {
    do throws(PackError) {
      _ = try AccessLog(path).forEachRequest { _, _ in }
      return nil
    } catch { return error }
  }

  @Test("that gzip compressed are read, also in several parts; those that are cut are refused")
  func compressed() throws {
    let directory = try TemporaryDirectory()
    let line = Array("\(Self.good)\n".utf8)
    func count(_ bytes: [UInt8]) throws -> Int {
      var count = 0
      _ = try AccessLog(directory.write(bytes, to: "a.log")).forEachRequest { _, _ in count += 1 }
      return count
    }
    // gzip -n of the line, of nothing, and of the line again.
    let once = try Self.gzip(line)
    let empty = try Self.gzip([])

    #expect(try count(once) == 1)
    #expect(try count(once + once + empty + once) == 3)
    #expect(try count(empty) == 0)
    #expect(try count([]) == 0)
    #expect(try count(line.dropLast(0) + [0x1F, 0x8B]) == 1)
    for cut in 3..<once.count {
      let path = try directory.write(once.prefix(cut), to: "cut.gz")
      #expect(Self.refusal(path)?.code == .unreadableLog, "\(cut) bytes")
    }
  }

  private static func gzip(_ bytes: [UInt8]) throws -> [UInt8] {
    let directory = try TemporaryDirectory()
    try directory.write(bytes, to: "a")
    let process = try ChildProcess("/bin/gzip", ["-n", directory("a")])
    process.wait()
    return try #require(directory.bytes(of: "a.gz"))
  }

  @Test("that do not exist, and pipes, are refused")
  func missing() throws {
    let directory = try TemporaryDirectory()
    #expect(Self.refusal(directory("none"))?.code == .missingInput)
    #expect(Self.refusal(directory.path)?.code == .cannotRead)
    #expect(mkfifo(directory("pipe"), 0o600) == 0)
    let error = Self.refusal(directory("pipe"))
    #expect(error?.code == .cannotRead)
    #expect(error?.advice == .developer("packer observe - < \(directory("pipe"))"))
  }
}
