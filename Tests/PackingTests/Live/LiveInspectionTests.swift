import TestSupport
import Testing

@testable import PackGate

/// A server in memory.
private final class FakeServer: LiveFetcher, Sendable {
  /// The files by their addresses.
  let files: [String: [UInt8]]
  /// Changes an answer.
  let change: @Sendable (LiveRequest, inout LiveAnswer) -> Void

  init(_ files: [String: [UInt8]], change: @escaping @Sendable (LiveRequest, inout LiveAnswer) -> Void = { _, _ in }) {
    (self.files, self.change) = (files, change)
  }

  func fetch(_ requests: [LiveRequest]) async throws(PackError) -> [LiveAnswer] {
    var answers: [LiveAnswer] = []
    for request in requests { answers.append(try answer(request)) }
    return answers
  }

  private func answer(_ request: LiveRequest) throws(PackError) -> LiveAnswer {
    var answer = LiveAnswer(url: request.url, status: 404)
    if var bytes = files[request.url] {
      answer.status = 200
      answer.fields = ["etag": "\"1\"", "content-type": "application/octet-stream"]
      answer.fields["cache-control"] = request.url.hasSuffix("manifest.json") ? "max-age=60" : "public, max-age=31536000, immutable"
      if let range = request.range, range.upperBound < UInt64(bytes.count) {
        answer.status = 206
        answer.fields["content-range"] = "bytes \(range.lowerBound)-\(range.upperBound)/\(bytes.count)"
        bytes = Array(bytes[Int(range.lowerBound)...Int(range.upperBound)])
      }
      if request.fields.contains("If-None-Match: \"1\"") { (answer.status, bytes) = (304, []) }
      answer.fields["content-length"] = "\(bytes.count)"
      answer.received = UInt64(bytes.count)
      answer.sha256 = try CryptoBackends.standard.digest(of: bytes.byteSpan)
      answer.bytes = request.keepsBytes ? bytes : nil
    }
    change(request, &answer)
    return answer
  }
}

@Suite("A live check", .bounded)
struct LiveInspectionTests {
  private static let base = "https://cdn.example.com/packs/"
  private static let now = GateSample.time("2026-11-21T12:00:00Z")
  private static let manifestURL = base + "manifest.json"
  private let directory: TemporaryDirectory
  private let contents: [String: [UInt8]] = [
    base + "core.pack": (0..<600_000).map { UInt8(truncatingIfNeeded: $0 / 7) }, base + "small.pack": [1, 2, 3],
    manifestURL: Array("{}".utf8),
  ]

  init() throws { directory = try TemporaryDirectory() }

  private func plan(earlier: [LiveFile] = [], _ body: (inout LivePlan) -> Void = { _ in }) throws -> LivePlan {
    let files = try contents.keys.filter { $0.hasSuffix("pack") }.sorted().map { url in
      let bytes = contents[url] ?? []
      return LiveFile(
        kind: .pack, url: url, pack: "core", size: UInt64(bytes.count), sha256: try CryptoBackends.standard.digest(of: bytes.byteSpan))
    }
    var plan = LivePlan(
      manifestURL: Self.manifestURL, manifest: Array("{}".utf8), version: 2, files: files + earlier,
      allowLists: [("packer.yml", AllowList(["cdn.example.com", "mirror.example.com"]))], now: Self.now)
    body(&plan)
    return plan
  }

  private func faults(
    _ plan: LivePlan? = nil, files: [String: [UInt8]]? = nil,
    _ change: @escaping @Sendable (LiveRequest, inout LiveAnswer) -> Void = { _, _ in }
  ) async throws -> [LiveFault] {
    let server = FakeServer(files ?? contents, change: change)
    return try await LiveInspection(plan: try plan ?? self.plan(), fetcher: server, files: SystemFiles()).run().faults
  }

  @Test("of a sound release finds nothing, whole and in part", arguments: [true, false])
  func clean(isQuick: Bool) async throws {
    #expect(try await faults(try plan { $0.isQuick = isQuick }) == [])
  }

  /// A change of the answer to a request for all of `core.pack`, and the only fault that it is.
  struct Case: Sendable {
    let kind: LiveFault.Kind
    let change: @Sendable (inout LiveAnswer) -> Void

    init(_ kind: LiveFault.Kind, _ change: @escaping @Sendable (inout LiveAnswer) -> Void) { (self.kind, self.change) = (kind, change) }
  }

  static let cases: [Case] = [
    Case(.missing) { $0.status = 410 }, Case(.refused) { $0.status = 403 }, Case(.busy) { $0.status = 503 },
    Case(.size) { $0.fields["content-length"] = "599999" },
    Case(.incomplete) { ($0.failure, $0.received) = (18, 1000) }, Case(.content) { $0.sha256 = GateSample.digest(1) },
    Case(.encoding) { $0.fields["content-encoding"] = "gzip" }, Case(.noLength) { $0.fields["content-length"] = nil },
    Case(.noResumption) { $0.fields["etag"] = "\"2\"" }, Case(.noResumption) { $0.fields["accept-ranges"] = "none" },
    Case(.type) { $0.fields["content-type"] = "text/plain; charset=utf-8" }, Case(.type) { $0.fields["content-type"] = "application/json" },
    Case(.shortCaching) { $0.fields["cache-control"] = "max-age=86399" }, Case(.shortCaching) { $0.fields["cache-control"] = "no-store" },
    Case(.shortCaching) { $0.fields["cache-control"] = "s-maxage=5, max-age=31536000" },
    Case(.shortCaching) { $0.fields["cache-control"] = nil },
    Case(.stale) { $0.fields["age"] = "31536061" },
    Case(.redirect) { $0.status = 302 }, Case(.redirect) { ($0.status, $0.redirect) = (301, "http://cdn.example.com/a") },
    Case(.host) { ($0.status, $0.redirect) = (307, "https://other.example.com/a") },
    Case(.host) { ($0.status, $0.redirect) = (302, "http://127.0.0.1:80/a") },
  ]

  @Test("finds a fault of the answer with a file by one kind", arguments: cases.indices)
  func wholes(number: Int) async throws {
    let one = Self.cases[number]
    let found = try await faults { request, answer in
      if request.url.hasSuffix("core.pack"), request.range == nil { one.change(&answer) }
    }
    #expect(found.map(\.kind) == [one.kind], "\(found)")
  }

  @Test("finds a wrong part, a whole file in place of a part, and other bytes in a part if large files are not read whole")
  func parts() async throws {
    func kinds(_ plan: LivePlan? = nil, _ change: @escaping @Sendable (inout LiveAnswer) -> Void) async throws -> [LiveFault.Kind] {
      try await faults(plan) { request, answer in if request.range != nil { change(&answer) } }.map(\.kind)
    }
    #expect(try await kinds { $0.fields["content-range"] = "bytes 0-4095/600000" } == [.wrongRange])
    #expect(try await kinds { $0.fields["content-range"] = nil } == [.wrongRange])
    #expect(try await kinds { $0.status = 416 } == [.wrongRange])
    #expect(try await kinds { ($0.status, $0.failure, $0.fields["content-length"]) = (200, 63, "600000") } == [.noResumption])
    try directory.write(contents[Self.base + "core.pack"] ?? [], to: "core.pack")
    var plan = try plan { $0.isQuick = true }
    plan = try with(plan, path: directory("core.pack"))
    #expect(try await kinds(plan) { _ in } == [])
    #expect(try await kinds(plan) { $0.bytes = $0.bytes.map { $0.map { $0 ^ 1 } } } == [.content])
    plan.isQuick = false
    #expect(try await kinds(plan) { $0.bytes = $0.bytes.map { $0.map { $0 ^ 1 } } } == [.wrongRange])
  }

  @Test("asks as a page of another site does if browsers play the packs, and finds the files that it could not read")
  func sharing() async throws {
    let plan = try plan { $0.isForBrowsers = true }
    func found(_ shared: @escaping @Sendable (LiveRequest) -> String?) async throws -> Set<String> {
      let faults = try await faults(plan) { request, answer in
        if request.fields != ["Origin: https://example.com"] { answer.status = 418 }
        answer.fields["access-control-allow-origin"] = shared(request)
      }
      #expect(faults.allSatisfy { $0.kind == .sharing })
      return Set(faults.map { $0.message.prefix { $0 != " " }.description })
    }
    #expect(try await found { _ in "*" } == [])
    #expect(try await found { _ in "https://play.example.com" } == [])
    #expect(try await found { $0.url == Self.manifestURL ? nil : "*" } == [Self.manifestURL])
    #expect(try await found { $0.url.hasSuffix("core.pack") ? nil : "*" } == [Self.base + "core.pack"])
    // Others do not say where they come from.
    #expect(try await faults { request, answer in if !request.fields.isEmpty { answer.status = 418 } } == [])
  }

  private func with(_ plan: LivePlan, path: String) throws -> LivePlan {
    var files = plan.files
    files[0].path = path
    var changed = LivePlan(
      manifestURL: plan.manifestURL, manifest: plan.manifest, version: plan.version, files: files, allowLists: plan.allowLists,
      now: plan.now)
    changed.isQuick = plan.isQuick
    return changed
  }

  @Test("samples the first and the last bytes of a large file, and others that the seed determines")
  func samples() throws {
    let plan = try plan { ($0.isQuick, $0.seed) = (true, 5) }
    let core = plan.files[0]
    let ranges = plan.samples(of: core)
    #expect(ranges.first == 0...4095 && ranges.last == 595_904...599_999 && ranges.allSatisfy { $0.count == 4096 })
    #expect(plan.samples(of: core) == ranges)
    var other = plan
    other.seed = 6
    #expect(other.samples(of: core)[1] != ranges[1])
    #expect(!plan.isWhole(core) && plan.isWhole(plan.files[1]) && plan.samples(of: plan.files[1]).isEmpty)
  }

  @Test("of a manifest finds another one, a long time in caches, an encoding, and the end of the certificate")
  func manifest() async throws {
    func found(_ change: @escaping @Sendable (LiveRequest, inout LiveAnswer) -> Void) async throws -> [LiveFault.Kind] {
      try await faults { request, answer in if request.url == Self.manifestURL { change(request, &answer) } }.map(\.kind)
    }
    #expect(try await found { $1.bytes = [1] } == [.otherManifest])
    #expect(try await found { $1.status = 404 } == [.missing])
    #expect(try await found { $1.status = 403 } == [.refused])
    let busy = await #expect(throws: PackError.self) { try await found { $1.status = 503 } }
    #expect(busy?.code == .serverUnreachable && busy?.message.contains("answers 503") == true)
    #expect(try await found { $1.fields["cache-control"] = "max-age=3601" } == [.longCaching])
    #expect(try await found { $1.fields["cache-control"] = "max-age=3600" } == [])
    #expect(try await found { $1.fields["content-type"] = "text/html" } == [.type])
    #expect(try await found { $1.fields["age"] = "121" } == [.stale])
    #expect(try await found { $1.fields["age"] = "120" } == [])
    for (date, age, isFault) in [
      ("Sun, 22 Nov 2026 12:00:01 GMT", "0", true), ("Sun, 22 Nov 2026 12:00:00 GMT", "120", false),
      ("Fri, 20 Nov 2026 11:59:59 GMT", "0", true), ("Fri, 20 Nov 2026 11:59:59 GMT", "1", false), ("yesterday", "0", false),
    ] {
      #expect(try await found { ($1.fields["date"], $1.fields["age"]) = (date, age) } == (isFault ? [.clock] : []), "\(date) \(age)")
    }
    for (date, isLesser) in [("Mon, 21 Dec 2026 12:00:00 GMT", true), ("Mon, 21 Dec 2026 12:00:01 GMT", false)] {
      let found = try await faults { request, answer in
        if request.url == Self.manifestURL { (answer.fields["date"], answer.fields["age"]) = (date, "0") }
      }
      #expect(found.map(\.isLesser) == [isLesser], "\(date)")
    }
    #expect(
      try await found { request, answer in
        if request.allowsEncoding { (answer.fields["content-encoding"], answer.bytes) = ("br", [9]) }
      } == [.encoding])
    #expect(try await found { $1.certificateEnd = "Dec 5 11:59:59 2026 GMT" } == [.certificate])
    #expect(try await found { $1.certificateEnd = "Dec  5 12:00:00 2026 GMT" } == [])
  }

  @Test("asks a host no more after a connection that is not secure, and finds it once")
  func insecure() async throws {
    let found = try await faults { _, answer in (answer.status, answer.failure, answer.failureText) = (0, 60, "certificate has expired") }
    #expect(found.map(\.kind) == [.insecure] && found.first?.message.contains("certificate has expired") == true)
  }

  @Test("throws if the server does not answer at all")
  func unreachable() async throws {
    let plan = try plan()
    let server = FakeServer(contents) { _, answer in (answer.status, answer.failure) = (0, 7) }
    let error = await #expect(throws: PackError.self) {
      try await LiveInspection(plan: plan, fetcher: server, files: SystemFiles()).run()
    }
    #expect(error?.code == .serverUnreachable)
  }

  @Test("follows redirects to allowed hosts, but not more than five")
  func redirects() async throws {
    let mirror = "https://mirror.example.com/core.pack"
    var files = contents
    files[mirror] = files[Self.base + "core.pack"]
    #expect(
      try await faults(files: files) { request, answer in
        if request.url.hasSuffix("packs/core.pack") { (answer.status, answer.redirect) = (302, mirror) }
      } == [])
    let found = try await faults { request, answer in
      guard request.url.contains("core.pack"), !request.url.hasSuffix("aaaaaaaa") else { return }
      (answer.status, answer.redirect) = (302, request.url + "a")
    }
    #expect(found.map(\.kind) == [.redirect])
  }

  @Test("finds packs of earlier releases that are gone")
  func earlier() async throws {
    let old = LiveFile(kind: .earlier, url: Self.base + "old.pack", pack: "old", size: nil, sha256: GateSample.digest(1), release: 1)
    let found = try await faults(try plan(earlier: [old]))
    #expect(found.map(\.kind) == [.goneEarlier] && found.first?.message.contains("manifest 1") == true)
    var files = contents
    files[old.url] = [1, 2, 3]
    #expect(try await faults(try plan(earlier: [old]), files: files) == [])
  }

  @Test("asks for a file that was read only whether it changed, but always for the smallest, and after a day for all")
  func state() async throws {
    let path = directory("live.txt")
    typealias Change = @Sendable (LiveRequest, inout LiveAnswer) -> Void
    func run(at now: ManifestTime = Self.now, _ change: @escaping Change = { _, _ in }) async throws -> LiveSighting {
      let usual = try plan()
      var plan = LivePlan(
        manifestURL: usual.manifestURL, manifest: usual.manifest, version: 2, files: usual.files, allowLists: usual.allowLists, now: now)
      plan.statePath = path
      return try await LiveInspection(plan: plan, fetcher: FakeServer(contents, change: change), files: SystemFiles()).run()
    }
    #expect(try await run().summary.contains("2 files, 2 read whole, samples"))
    #expect(try await run().summary.contains("2 files, 1 read whole, 1 unchanged since they were read"))
    let other = try await run { request, answer in
      guard request.url.hasSuffix("core.pack"), request.range == nil else { return }
      (answer.status, answer.sha256, answer.fields["content-length"]) = (200, GateSample.digest(1), "600000")
    }
    #expect(other.faults.contains { $0.kind == .content })
    // What was found to be wrong is read again.
    #expect(try await run().summary.contains("2 read whole"))
    #expect(try await run(at: GateSample.time("2026-11-22T12:00:00Z")).summary.contains("2 read whole"))
    try directory.write(Array("mine\n".utf8), to: "live.txt")
    let error = await #expect(throws: PackError.self) { _ = try await run() }
    #expect(error?.code == .invalidRecord)
  }

  @Test("reads what curl prints, and the fields of the last answer")
  func results() {
    let result = CurlResult("12\t18\t200\t1000\t\ttransfer closed\twith a tab")
    #expect(result?.number == 12 && result?.failure == 18 && result?.status == 200 && result?.received == 1000 && result?.redirect == nil)
    #expect(result?.text == "transfer closed\twith a tab")
    #expect(CurlResult("1\t0\t302\t0\thttps://a.example/b\t")?.redirect == "https://a.example/b")
    #expect(CurlResult("Expire date:Nov 27 14:05:05 2026 GMT") == nil && CurlResult("") == nil)
    let fields = CurlResult.fields(Array("HTTP/1.1 503 Busy\r\nAge: 7\r\n\r\nHTTP/2 200 \r\nVia: a\r\nETag: \"x:y\"\r\nVIA:b\r\n\r\n".utf8))
    #expect(fields == ["via": "a, b", "etag": "\"x:y\""])
  }

  @Test(
    "asks over https, and over http only this machine",
    arguments: [
      ("https://cdn.example.com/p/", true), ("http://cdn.example.com/p/", false), ("http://localhost:8080/p/", true),
      ("http://127.0.0.1/", true), ("https://[::1]:1/p", true), ("http://localhost.example.com/", false),
      ("http://127.0.0.1@a.example/", false),
      ("file:///etc/passwd", false), ("http://localhost:0/", false), ("http://localhost/\"\n", false), ("", false),
    ])
  func addresses(text: String, isLegal: Bool) {
    #expect(((try? LiveAddress(text)) != nil) == isLegal)
  }
}
