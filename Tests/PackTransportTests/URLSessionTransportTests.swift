import Foundation
import TestSupport
import Testing

@testable import PackApp

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("Downloads over HTTP", .enabled(if: NginxServer.program != nil, "nginx is not installed"), .bounded)
struct URLSessionTransportTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  /// Tests on a busy machine must not time out.
  private static let patient = {
    var options = URLSessionTransport.Options()
    options.idleTimeoutSeconds = 300
    return options
  }()

  private func transfers(_ options: URLSessionTransport.Options = patient) async throws(PackError) -> Transfers {
    try await Transfers(directory: directory("downloads"), transport: URLSessionTransport(options: options))
  }

  private func download(_ url: String, _ content: [UInt8]) -> PlannedDownload {
    NumberedFile.download("a", size: UInt64(content.count), sha256: NumberedFile.digest(content), from: url)
  }

  /// Downloads a file, and returns its failure; nil if it arrived as it should.
  private func fetch(_ url: String, _ content: [UInt8], _ options: URLSessionTransport.Options = patient) async throws -> TransferFailure? {
    let transfers = try await transfers(options)
    await transfers.add([download(url, content)])
    let failure = try await end(of: transfers, content)
    await transfers.close()
    return failure
  }

  private func end(of transfers: Transfers, _ content: [UInt8]) async throws -> TransferFailure? {
    for await event in transfers.events {
      switch event {
      case .finished(let identifier, let path):
        #expect(FileManager.default.contents(atPath: path) == Data(content))
        try FileManager.default.removeItem(atPath: path)
        await transfers.settle(identifier)
        return nil
      case .failed(let identifier, let failure, _):
        await transfers.settle(identifier)
        return failure
      case .began, .progress, .playable, .offline, .online: break
      }
    }
    return .cancelled
  }

  private func content(_ count: Int) -> [UInt8] {
    var generator = SeededGenerator(seed: 5)
    return generator.bytes(count)
  }

  @Test("a file arrives in any number of pieces", arguments: [1, 1000, 99_999, 100_000, 100_001, 300_000])
  func pieces(_ size: Int) async throws {
    let server = try NginxServer(in: directory)
    let content = content(size)
    try directory.write(content, to: "www/a")
    var options = Self.patient
    options.largestPiece = 100_000
    #expect(try await fetch("\(server.url)/a", content, options) == nil)
    let count = (size + 99_999) / 100_000
    let log = try server.log()
    #expect(log.map(\.status) == [Int](repeating: count == 1 ? 200 : 206, count: count))
    #expect(log.map(\.range) == (count == 1 ? ["-"] : (0..<count).map { "bytes=\($0 * 100_000)-\(min(size, ($0 + 1) * 100_000) - 1)" }))
  }

  @Test("a download resumes, and starts again if the file at the server changed")
  func resumed() async throws {
    // A request for the whole file gets 300 kB, and the rest takes half an hour: none is finished before it is interrupted.
    let server = try NginxServer(in: directory, rules: "limit_rate_after 300k; if ($http_range = \"\") { set $limit_rate 1000; }")
    let content = content(2_000_000)
    try directory.write(content, to: "www/a")
    let wanted = download("\(server.url)/a", content)
    func interrupt() async throws -> Int {
      let transfers = try await transfers()
      await transfers.add([wanted])
      var received: UInt64 = 0
      for await event in transfers.events {
        if case .progress(_, let count, _) = event { received = count }
        if received >= 200_000 { break }
      }
      await transfers.close()
      return Int(received)
    }
    func finish() async throws {
      let transfers = try await transfers()
      await transfers.add([wanted])
      #expect(try await end(of: transfers, content) == nil)
      await transfers.close()
    }
    _ = try await interrupt()
    // The same file with a later date: the server gives it another tag.
    try FileManager.default.setAttributes([.modificationDate: Date() + 100], ofItemAtPath: directory("www/a"))
    try await finish()
    let received = try await interrupt()
    try await finish()
    // Interrupted requests are in the log if the server noticed in time.
    let resumed = try server.log().filter { $0.range.hasPrefix("bytes=") && $0.range != "bytes=0-" }
    #expect(resumed.map(\.status) == [200, 206])
    let last = try #require(resumed.last)
    #expect(last.size <= content.count - received)
  }

  @Test(
    "responses of servers become failures that name them",
    arguments: [
      ("return 404;", TransferFailure.status(404, retryAfter: nil)),
      ("return 403;", .status(403, retryAfter: nil)),
      ("add_header Retry-After 7 always; return 503;", .status(503, retryAfter: .seconds(7))),
      ("return 302 /loop;", .redirect),
      ("return 302 http://192.0.2.1/a;", .redirect),
      ("return 302 ftp://127.0.0.1/a;", .redirect),
      ("return 204;", .status(204, retryAfter: nil)),
      ("return 200 short;", .wrongSize(5)),
      ("add_header Content-Encoding gzip; return 200 aaaaaaaaaa;", .malformedResponse),
    ])
  func answers(_ rule: String, _ failure: TransferFailure) async throws {
    let server = try NginxServer(in: directory, rules: "location / { \(rule) }")
    #expect(try await fetch("\(server.url)/a", content(10)) == failure)
  }

  @Test("the server's Retry-After is read")
  func retryAfter() async throws {
    let server = try NginxServer(in: directory, rules: "location / { add_header Retry-After 7 always; return 503; }")
    let transfers = try await transfers()
    await transfers.add([download("\(server.url)/a", content(10))])
    for await event in transfers.events {
      guard case .failed(_, let failure, _) = event else { continue }
      #expect(failure == .status(503, retryAfter: .seconds(7)))
      break
    }
    await transfers.close()
    let now: Int64 = 1_783_000_000
    #expect(RetryAfter.duration("Thu, 02 Jul 2026 13:46:50 GMT", now: now) == .seconds(10))
    #expect(RetryAfter.duration("Thu, 02 Jul 2026 13:46:30 GMT", now: now) == .zero)
    #expect(RetryAfter.duration("Fri, 31 Dec 9999 23:59:59 GMT", now: now) == .seconds(UInt32.max))
    #expect(RetryAfter.duration("99999999999", now: now) == .seconds(UInt32.max))
    // Foundation's date parser traps on one of these texts.
    for text in ["soon", "+7", "", "Fri, 3\u{313}1 Dec 999 23:59:59 GMT"] { #expect(RetryAfter.duration(text, now: now) == nil, "\(text)") }
  }

  @Test("a redirect is followed, and the range is kept")
  func redirected() async throws {
    let server = try NginxServer(in: directory, rules: "location /old/ { rewrite ^/old/(.*)$ /$1 redirect; }")
    let content = content(250_000)
    try directory.write(content, to: "www/a")
    var options = Self.patient
    options.largestPiece = 100_000
    #expect(try await fetch("\(server.url)/old/a", content, options) == nil)
    #expect(try server.log().filter { $0.path == "/a" }.map(\.status) == [206, 206, 206])
  }

  @Test(
    "an authorisation is sent to the same host only",
    arguments: [("", TransferFailure?.some(.status(403, retryAfter: nil))), ("http://localhost:$server_port", nil)])
  func authorised(_ host: String, _ failure: TransferFailure?) async throws {
    let server = try NginxServer(
      in: directory,
      rules: """
        location /old { return 302 \(host)/a; }
        location /a { if ($http_authorization) { return 403; } }
        """)
    try directory.write(content(1000), to: "www/a")
    var options = Self.patient
    options.request = {
      var request = URLRequest(url: $0)
      request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
      return request
    }
    #expect(try await fetch("\(server.url)/old", content(1000), options) == failure)
  }

  @Test("the app makes each request, so an authorisation may change, and cannot change the address")
  func requests() async throws {
    let server = try NginxServer(in: directory, rules: "location /a { if ($http_authorization != two) { return 401; } }")
    let content = content(250_000)
    try directory.write(content, to: "www/a")
    let addresses = Monitor<[URL]>([])
    var options = Self.patient
    options.largestPiece = 100_000
    options.request = { address in
      let count = addresses.withLock { addresses in
        addresses.append(address)
        return addresses.count
      }
      var request = URLRequest(url: URL(string: "http://192.0.2.1/b")!)
      request.httpMethod = "POST"
      request.setValue(count == 1 ? "one" : "two", forHTTPHeaderField: "Authorization")
      return request
    }
    #expect(try await fetch("\(server.url)/a", content, options) == .status(401, retryAfter: nil))
    #expect(try await fetch("\(server.url)/a", content, options) == nil)
    // One that was refused, and three ranges.
    #expect(addresses.withLock { $0 } == [URL](repeating: URL(string: "\(server.url)/a")!, count: 4))
  }

  @Test("the bytes of a range that came before the connection was lost are given")
  func brokenRange() async throws {
    let server = try NginxServer(in: directory, bytesPerSecond: 50_000)
    let content = content(4_000_000)
    try directory.write(content, to: "www/a")
    let request = TransferRequest(identifier: "a", url: "\(server.url)/a", size: UInt64(content.count))
    let given = Monitor<[UInt8]>([])
    do throws(TransferFailure) {
      _ = try await URLSessionTransport(options: Self.patient).bytes(1000..<3_999_000, of: request) { bytes in
        let count = given.withLock { given in
          given.append(copying: bytes)
          return given.count
        }
        if count > 20_000 { server.stop() }
      }
      Issue.record("the server sent everything")
    } catch {
      // Elsewhere than on Apple's systems the client does not say what it was.
      #expect(error == .unreachable || error == .other)
    }
    given.withLock { #expect($0.count > 20_000 && $0 == Array(content[1000..<1000 + $0.count])) }
  }

  @Test("a server without ranges sends the file from the start")
  func rangeless() async throws {
    let server = try NginxServer(in: directory, rules: "max_ranges 0;")
    let content = content(250_000)
    try directory.write(content, to: "www/a")
    var options = Self.patient
    options.largestPiece = 100_000
    #expect(try await fetch("\(server.url)/a", content, options) == nil)
    #expect(try server.log().map(\.status) == [200])
  }

  @Test("a server that is not there and one that does not respond are different failures")
  func silence() async throws {
    #expect(try await fetch("http://127.0.0.1:9/a", content(10)) == .unreachable)
    // The server delays its request for authentication.
    let server = try NginxServer(in: directory, rules: "auth_basic a; auth_basic_user_file none; auth_delay 600s;")
    var options = URLSessionTransport.Options()
    options.idleTimeoutSeconds = 1
    try FileManager.default.removeItem(atPath: directory("downloads"))
    #expect(try await fetch("\(server.url)/a", content(100_000), options) == .timedOut)
  }

  @Test(
    "nothing is fetched over plain HTTP except from this machine",
    arguments: [
      "http://example.com/a", "http://127.0.0.1.example.com/a", "https:///a", "http://user@example.com/a",
    ])
  func insecure(_ url: String) async throws {
    #expect(try await fetch(url, content(10)) == .insecure)
  }

  @Test(
    "content ranges that are accepted and refused",
    arguments: [
      ("bytes 0-0/1", 0 as UInt64?), ("bytes 5-9/10", 5), ("bytes 5-9/*", 5), ("bytes */10", nil), ("bytes 9-5/10", nil),
      ("bytes 5-10/10", nil),
      ("5-9/10", nil), ("bytes 5-/10", nil), ("bytes -5/10", nil), ("bytes 5-9", nil), ("", nil),
    ])
  func contentRange(_ text: String, _ start: UInt64?) {
    #expect(ContentRange(text)?.start == start)
  }
}
