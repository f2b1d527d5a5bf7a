import Foundation
import TestSupport
import Testing

@testable import PackApp

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("The content of an asset over HTTP", .enabled(if: NginxServer.program != nil, "nginx is not installed"), .bounded)
struct ContentSessionTests {
  private let directory: TemporaryDirectory
  private let session: ContentSession

  init() throws {
    directory = try TemporaryDirectory()
    // Tests on a busy machine must not time out.
    var options = URLSessionTransport.Options()
    options.idleTimeoutSeconds = 300
    session = ContentSession(options: options)
  }

  private func fetch(_ url: String, known: ContentVersion? = nil, limit: Int = 1000) async -> Result<ProvidedContent, PackError> {
    let provider = DataProvider.url(url, over: session)
    do throws(PackError) {
      return .success(try await provider(ContentRequest(known: known, sizeLimit: limit)))
    } catch {
      return .failure(error)
    }
  }

  private func code(_ result: Result<ProvidedContent, PackError>) -> PackError.Code? {
    if case .failure(let error) = result { error.code } else { nil }
  }

  /// Writes a file with another modification time, so that the server gives it another tag.
  private func write(_ text: String, at seconds: Double) throws {
    try directory.write(text.utf8, to: "www/config")
    try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: seconds)], ofItemAtPath: directory("www/config"))
  }

  @Test("over two starts of the app, an asset fetches its content, sees that nothing changed, and fetches what changed")
  func asset() async throws {
    let server = try NginxServer(in: directory)
    try write("first", at: 1_700_000_000)
    func open() throws(PackError) -> RemoteAsset<String> {
      try RemoteAsset(
        "config", bundled: .text("bundled"), as: .text, from: .url("\(server.url)/config", over: session), cache: directory("cache"),
        appVersion: "1")
    }
    let asset = try open()
    #expect(asset.value == "bundled")
    #expect(await asset.refresh().description == "replaced")
    #expect(asset.value == "first")
    #expect(await asset.refresh().description == "unchanged")
    let next = try open()
    #expect(next.value == "first")
    #expect(await next.refresh().description == "unchanged")
    try write("second", at: 1_700_000_001)
    #expect(await next.refresh().description == "replaced")
    #expect(next.value == "second")
    #expect(try server.log().map(\.status) == [200, 304, 304, 200])
  }

  @Test("while an asset runs, a change at the server becomes its value")
  func running() async throws {
    let server = try NginxServer(in: directory)
    try write("first", at: 1_700_000_000)
    let asset = try RemoteAsset(
      "config", bundled: .text("bundled"), as: .text, from: .url("\(server.url)/config", over: session).every(.milliseconds(100)),
      cache: directory("cache"), appVersion: "1")
    let task = Task { await asset.run() }
    var values: [String] = []
    for await value in asset.updates {
      values.append(value)
      if value == "first" { try write("second", at: 1_700_000_001) }
      if value == "second" { break }
    }
    #expect(values.suffix(2) == ["first", "second"])
    task.cancel()
    await task.value
  }

  @Test("content is refused beyond the limit, whether the server says how large it is or not", arguments: [false, true])
  func tooLarge(_ isChunked: Bool) async throws {
    let server = try NginxServer(in: directory, rules: isChunked ? "ssi on; ssi_types *;" : "")
    try directory.write([UInt8](repeating: 65, count: 3_000_000), to: "www/config")
    for limit in [1, 100_000, 2_999_999] {
      let result = await fetch("\(server.url)/config", limit: limit)
      #expect(code(result) == .limitExceeded)
      if case .failure(let error) = result { #expect(error.message.contains(isChunked ? "limit of \(limit)" : "3000000 bytes")) }
    }
    guard case .success(.content(let bytes, _)) = await fetch("\(server.url)/config", limit: 3_000_000) else {
      Issue.record("content as large as the limit did not arrive")
      return
    }
    #expect(bytes.count == 3_000_000)
  }

  @Test("empty content is content")
  func empty() async throws {
    let server = try NginxServer(in: directory)
    try directory.write([], to: "www/config")
    guard case .success(.content([], _)) = await fetch("\(server.url)/config") else {
      Issue.record("it did not arrive")
      return
    }
  }

  @Test(
    "a response other than success is unavailable, and the error names it",
    arguments: [
      ("return 404;", "status 404"),
      ("return 500;", "status 500"),
      ("return 204;", "status 204"),
      ("return 304;", "redirected to a URL"),
      ("return 302 /loop;", "redirected to a URL"),
      ("return 302 http://192.0.2.1/a;", "redirected to a URL"),
      ("add_header Content-Encoding gzip; return 200 aaaaaaaaaa;", "not valid for this request"),
    ])
  func answers(_ rule: String, _ message: String) async throws {
    let server = try NginxServer(in: directory, rules: "location / { \(rule) }")
    let result = await fetch("\(server.url)/config")
    #expect(code(result) == .contentUnavailable)
    if case .failure(let error) = result { #expect(error.message.contains(message), "\(error.message)") }
  }

  @Test("the tag and the date are sent, also after a redirect")
  func redirected() async throws {
    let server = try NginxServer(in: directory, rules: "location /old/ { rewrite ^/old/(.*)$ http://localhost:$server_port/$1 redirect; }")
    try write("first", at: 1_700_000_000)
    guard case .success(.content(let bytes, let version)) = await fetch("\(server.url)/old/config") else {
      Issue.record("it did not arrive")
      return
    }
    #expect(bytes == Array("first".utf8))
    #expect(version?.tag != nil && version?.modified == "Tue, 14 Nov 2023 22:13:20 GMT")
    for known in [version, ContentVersion(tag: version?.tag), ContentVersion(modified: version?.modified)] {
      guard case .success(.unchanged) = await fetch("\(server.url)/old/config", known: known) else {
        Issue.record("\(known as Any) was not sent")
        return
      }
    }
    #expect(try server.log().filter { $0.path == "/config" }.map(\.status) == [200, 304, 304, 304])
  }

  @Test(
    "an authorisation is sent to the same host only",
    arguments: [("", "status 403"), ("http://localhost:$server_port", nil)])
  func authorised(_ host: String, _ message: String?) async throws {
    let server = try NginxServer(
      in: directory,
      rules: """
        location /old { return 302 \(host)/config; }
        location /config { if ($http_authorization) { return 403; } }
        """)
    try write("first", at: 1_700_000_000)
    var options = URLSessionTransport.Options()
    options.request = {
      var request = URLRequest(url: $0)
      request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
      return request
    }
    let provider = DataProvider.url("\(server.url)/old", over: ContentSession(options: options))
    do throws(PackError) {
      _ = try await provider(ContentRequest(sizeLimit: 1000))
      #expect(message == nil)
    } catch {
      #expect(error.message.contains(message ?? "nothing"), "\(error.message)")
    }
  }

  @Test("a server that is not there is unavailable")
  func unreachable() async {
    #expect(code(await fetch("http://127.0.0.1:9/a")) == .contentUnavailable)
  }

  @Test(
    "nothing is fetched over plain HTTP except from this machine",
    arguments: ["http://example.com/a", "http://127.0.0.1.example.com/a", "https:///a", "file:///etc/hostname", "", "config.json"])
  func insecure(_ url: String) async {
    let result = await fetch(url)
    #expect(code(result) == .contentUnavailable)
    if case .failure(let error) = result { #expect(error.message.contains("HTTPS")) }
  }

  @Test("a slow request ends with its task, and a request that fails by chance is tried again")
  func cancelledAndRetried() async throws {
    // The rest takes half an hour.
    let slow = try NginxServer(in: directory, rules: "limit_rate_after 1k; limit_rate 1k;")
    try directory.write([UInt8](repeating: 65, count: 2_000_000), to: "www/config")
    let asset = try RemoteAsset(
      "config", bundled: .text("bundled"), as: .text, from: .url("\(slow.url)/config", over: session), cache: directory("cache"),
      appVersion: "1")
    let task = Task { await asset.refresh() }
    try await Task.sleep(for: .milliseconds(100))
    task.cancel()
    #expect(await task.value.description == "cancelled")
    let limited = DataProvider.url("\(slow.url)/config", over: session).timeLimit(.milliseconds(100))
    await #expect(throws: PackError.self) { _ = try await limited(ContentRequest(sizeLimit: 3_000_000)) }

    try write("first", at: 1_700_000_000)
    let failing = try NginxServer(in: directory, failing: 50)
    var policy = RetryPolicy()
    policy.attempts = 100
    policy.first = .milliseconds(1)
    policy.longest = .milliseconds(5)
    let provider = DataProvider.url("\(failing.url)/config", over: session).retrying(policy)
    for _ in 0..<20 {
      guard case .content = try await provider(ContentRequest(sizeLimit: 1000)) else {
        Issue.record("it did not arrive")
        return
      }
    }
  }
}
