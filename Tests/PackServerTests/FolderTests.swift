import Foundation
import TestSupport
import Testing

@testable import PackServer

/// A complete response of a site, with its body.
struct Answer {
  let reply: SiteReply
  let bytes: [UInt8]

  var status: Int { reply.status }
  subscript(name: String) -> String? { reply.headers[name] }

  init(_ site: some PackServer.Site, _ target: String, _ headers: HeaderFields = [:], method: String = "GET") throws {
    reply = try site.reply(to: PackRequest(method: method, target: target, headers: headers))
    var read: [UInt8] = []
    if let body = reply.body {
      while try body.next({ piece in read += (0..<piece.count).map { piece[$0] } }) {}
    }
    bytes = read
  }
}

@Suite("A release folder served like a CDN", .bounded)
struct FolderTests {
  private let directory: TemporaryDirectory
  private static let pack = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }

  init() throws {
    directory = try TemporaryDirectory()
    try directory.write(Self.pack, to: "dist/chess-1.pack")
    try directory.write(Array("{}".utf8), to: "dist/manifest.json")
    try directory.write(Array("hidden".utf8), to: "dist/.secret")
    try directory.write(Array("outside".utf8), to: "outside.pack")
  }

  private func folder(_ change: (inout FaultPlan) -> Void = { _ in }) throws -> PublishedFolder {
    var plan = FaultPlan()
    change(&plan)
    return try PublishedFolder(directory("dist"), faults: plan)
  }

  @Test("a folder without a manifest is refused")
  func noManifest() throws {
    #expect(throws: PackError.self) { try PublishedFolder(directory.path, faults: FaultPlan()) }
  }

  @Test("caches may keep packs for ever, and the manifest for a minute")
  func caching() throws {
    #expect(try Answer(folder(), "/chess-1.pack")["Cache-Control"] == "public, max-age=31536000, immutable")
    #expect(try Answer(folder(), "/manifest.json")["Cache-Control"] == "public, max-age=60")
  }

  @Test("a server for this machine only takes no other names, to which a page elsewhere could have led")
  func names() throws {
    let own = try PublishedFolder(directory("dist"), faults: FaultPlan(), names: ["mac.example", "fe80::1"])
    func status(_ site: PublishedFolder, _ host: String) throws -> Int {
      try site.reply(to: PackRequest(target: "/manifest.json", headers: ["Host": host])).status
    }
    for host in ["127.0.0.1:7340", "localhost", "[::1]:80", "MAC.example:7340", "mac.example", "[fe80::1]:7340"] {
      #expect(try status(own, host) == 200, "\(host)")
    }
    for host in ["evil.example", "mac.example.evil", "127.0.0.1.evil.example:7340", "fe80::1"] {
      #expect(try status(own, host) == 421, "\(host)")
      #expect(try status(folder(), host) == 200, "\(host)")
    }
  }

  @Test(
    "a path that is not a file of the folder is refused",
    arguments: [
      "/", "/nothing", "/.secret", "/../outside.pack", "/%2e%2e/outside.pack", "/a/../../outside.pack", "/manifest.json/x",
      "/..%5coutside.pack",
    ])
  func missing(_ target: String) throws {
    let status = try Answer(folder(), target).status
    #expect(status == 404 || status == 400)
  }

  @Test(
    "a link inside the folder is followed, and a link out of it gets 404",
    arguments: ["out.pack", "up/outside.pack", "loop", "older/chess-1.pack"])
  func links(_ name: String) throws {
    try FileManager.default.createSymbolicLink(atPath: directory("dist/out.pack"), withDestinationPath: "../outside.pack")
    try FileManager.default.createSymbolicLink(atPath: directory("dist/up"), withDestinationPath: "..")
    try FileManager.default.createSymbolicLink(atPath: directory("dist/loop"), withDestinationPath: "loop")
    try directory.write(Self.pack, to: "dist-of-may/chess-1.pack")
    try FileManager.default.createSymbolicLink(atPath: directory("dist/older"), withDestinationPath: "../dist-of-may")
    try FileManager.default.createSymbolicLink(atPath: directory("dist/latest.pack"), withDestinationPath: "chess-1.pack")
    #expect(try Answer(folder(), "/\(name)").status == 404)
    #expect(try Answer(folder(), "/latest.pack").bytes == Self.pack)
  }

  @Test("a link does not give access to files whose names begin with a dot", arguments: ["seen", "below/file", "up/.hidden/file"])
  func linksToHidden(_ name: String) throws {
    try directory.write([1], to: "dist/.secret.txt")
    try directory.write([1], to: "dist/.hidden/file")
    try directory.write([2], to: "dist/plain/file")
    for (link, target) in [("seen", ".secret.txt"), ("below", ".hidden"), ("up", "."), ("open", "plain")] {
      try FileManager.default.createSymbolicLink(atPath: directory("dist/\(link)"), withDestinationPath: target)
    }
    #expect(try Answer(folder(), "/\(name)").status == 404)
    #expect(try Answer(folder(), "/open/file").bytes == [2])
  }

  @Test(
    "a file with a key is never served, wherever it is and whenever it appears",
    arguments: [
      "pkk1-0000", " \n pks1-0000", "-----BEGIN EC PRIVATE KEY-----\nAAAA\n", "-----BEGIN ENCRYPTED PRIVATE KEY-----\n",
      "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIHJ5c3RhbA==\n-----END PRIVATE KEY-----\n",
      String(repeating: "0123456789abcdef", count: 4) + "\n",
      "settings: 1\nkey: pkk1-\(String(repeating: "0123456789abcdef", count: 4))-00000000\n",
    ])
  func keys(_ text: String) throws {
    let folder = try folder { $0.redirects = true }
    #expect(folder.keys().isEmpty)
    for path in ["p2.key", "a.pack", "sub/p2.key", "sub/sub/p2.key"] { try directory.write(Array(text.utf8), to: "dist/\(path)") }
    try FileManager.default.createSymbolicLink(atPath: directory("dist/plain.txt"), withDestinationPath: "p2.key")
    for target in ["p2.key", "a.pack", "sub/p2.key", "sub/sub/p2.key", "plain.txt", "moved/p2.key", "p%32.key"] {
      let answer = try Answer(folder, "/\(target)", ["Range": "bytes=2-"])
      #expect(answer.status == 403, "\(target)")
      #expect(String(decoding: answer.bytes, as: UTF8.self).contains("key"), "\(target)")
      #expect(String(decoding: answer.bytes, as: UTF8.self).hasSuffix(", so it is not served.\n"), "\(target)")
      #expect(try Answer(folder, "/\(target)", method: "HEAD").bytes.isEmpty)
    }
    try directory.write(Array(text.utf8), to: "dist/.hidden.key")
    try directory.write(Array(text.utf8), to: "dist/.git/a/b/key")
    #expect(
      Set(folder.keys()) == [".git/a/b/key", ".hidden.key", "a.pack", "p2.key", "plain.txt", "sub/p2.key", "sub/sub/p2.key"])
    #expect(try Answer(folder, "/manifest.json").status == 200)
  }

  @Test("a port that is in use on one of the two addresses is refused")
  func takenHalf() async throws {
    let folder = try folder()
    // A machine without IPv6 has no second address.
    guard let other = try? await HTTPServer(folder, hosts: ["::1"], port: 0) else { return }
    await #expect(throws: PackError.self) { _ = try await HTTPServer(folder, hosts: ["127.0.0.1", "::1"], port: other.port) }
    await other.stop(within: 0)
  }

  @Test("a pack is served with its size, its date and a tag, and conditional requests use them")
  func validators() throws {
    let folder = try folder()
    let whole = try Answer(folder, "/chess-1.pack")
    #expect(whole.status == 200)
    #expect(whole.bytes == Self.pack)
    #expect(whole["Content-Length"] == "1000")
    #expect(whole["Accept-Ranges"] == "bytes")
    let tag = try #require(whole["ETag"])
    let date = try #require(whole["Last-Modified"])
    #expect(try Answer(folder, "/chess-1.pack", ["If-None-Match": tag]).status == 304)
    #expect(try Answer(folder, "/chess-1.pack", ["If-Modified-Since": date]).status == 304)
    #expect(try Answer(folder, "/chess-1.pack", ["If-None-Match": "\"x\"", "If-Modified-Since": date]).status == 200)
    #expect(try Answer(folder, "/chess-1.pack", ["If-Match": "\"x\""]).status == 412)
    #expect(try Answer(folder, "/chess-1.pack", ["If-Unmodified-Since": "Thu, 01 Jan 1998 00:00:00 GMT"]).status == 412)
    #expect(try Answer(folder, "/chess-1.pack", ["Range": "bytes=5-9", "If-Range": tag]).bytes == Array(Self.pack[5...9]))
    #expect(try Answer(folder, "/chess-1.pack", ["Range": "bytes=5-9", "If-Range": date]).status == 206)
    #expect(try Answer(folder, "/chess-1.pack", ["Range": "bytes=5-9", "If-Range": "\"x\""]).status == 200)
  }

  @Test(
    "a range is sent with exact ends",
    arguments: [("bytes=0-0", 0...0), ("bytes=990-2000", 990...999), ("bytes=-3", 997...999), ("bytes=999-", 999...999)])
  func range(_ text: String, _ wanted: ClosedRange<Int>) throws {
    let answer = try Answer(folder(), "/chess-1.pack", ["Range": text])
    #expect(answer.status == 206)
    #expect(answer["Content-Range"] == "bytes \(wanted.lowerBound)-\(wanted.upperBound)/1000")
    #expect(answer.bytes == Array(Self.pack[wanted]))
  }

  @Test("a range after the end is not satisfiable, and a reply to HEAD has no body")
  func edges() throws {
    let behind = try Answer(folder(), "/chess-1.pack", ["Range": "bytes=1000-"])
    #expect(behind.status == 416)
    #expect(behind["Content-Range"] == "bytes */1000")
    let head = try Answer(folder(), "/chess-1.pack", method: "HEAD")
    #expect(head.status == 200 && head.reply.body == nil && head["Content-Length"] == "1000")
    #expect(try Answer(folder(), "/chess-1.pack", method: "PUT").status == 405)
  }

  // MARK: Pages of other origins

  @Test(
    "a page of any site can read each answer, with its length, its range and its tag",
    arguments: [("GET", "/chess-1.pack", 206), ("HEAD", "/manifest.json", 200), ("GET", "/nothing", 404), ("PUT", "/manifest.json", 405)])
  func sharing(_ method: String, _ target: String, _ status: Int) throws {
    let answer = try Answer(folder(), target, ["Origin": "https://example.com", "Range": "bytes=5-9"], method: method)
    #expect(answer.status == status)
    #expect(answer["Access-Control-Allow-Origin"] == "*")
    #expect(answer["Access-Control-Allow-Credentials"] == nil)
    #expect(answer["Access-Control-Expose-Headers"] == "Accept-Ranges, Content-Length, Content-Range, ETag")
  }

  @Test("a fault with a status and a redirect can be read by a page of any site, too")
  func sharingOfFaults() throws {
    for folder in [try folder({ $0.status = 503 }), try folder({ $0.redirects = true })] {
      #expect(try Answer(folder, "/chess-1.pack")["Access-Control-Allow-Origin"] == "*")
    }
  }

  @Test("a browser that asks whether a page may send a range is answered yes, unless it asks under another name")
  func preflight() throws {
    let asked: HeaderFields = [
      "Origin": "https://example.com", "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "range",
      "Host": "evil.example",
    ]
    let answer = try Answer(folder(), "/chess-1.pack", asked, method: "OPTIONS")
    #expect(answer.status == 204 && answer.reply.body == nil)
    #expect(answer["Access-Control-Allow-Origin"] == "*")
    #expect(answer["Access-Control-Allow-Methods"] == "GET, HEAD")
    #expect(answer["Access-Control-Allow-Headers"] == "If-Match, If-None-Match, If-Range, Range")
    #expect(try Answer(folder(), "/chess-1.pack", method: "OPTIONS").status == 405)
    let own = try PublishedFolder(directory("dist"), faults: FaultPlan(), names: ["127.0.0.1"])
    #expect(try Answer(own, "/chess-1.pack", asked, method: "OPTIONS").status == 421)
  }

  // MARK: Faults

  @Test("a fault with a status sends this status")
  func status() throws {
    #expect(try Answer(folder { $0.status = 503 }, "/chess-1.pack").status == 503)
  }

  @Test("a truncated body has the full Content-Length and ends earlier")
  func truncation() throws {
    let answer = try Answer(folder { $0.truncation = 100 }, "/chess-1.pack")
    #expect(answer["Content-Length"] == "1000")
    #expect(answer.bytes == Array(Self.pack[..<100]))
  }

  @Test("a wrong size is one byte more, in whole files and in ranges")
  func wrongSize() throws {
    let folder = try folder { $0.hasWrongSize = true }
    let answer = try Answer(folder, "/chess-1.pack")
    #expect(answer["Content-Length"] == "1001")
    #expect(answer.bytes == Self.pack + [0])
    #expect(try Answer(folder, "/chess-1.pack", ["Range": "bytes=998-"])["Content-Range"] == "bytes 998-1000/1001")
  }

  @Test("corruption flips one bit in the middle, also in ranges that contain it")
  func corruption() throws {
    let folder = try folder { $0.isCorrupt = true }
    var wanted = Self.pack
    wanted[500] ^= 1
    #expect(try Answer(folder, "/chess-1.pack").bytes == wanted)
    #expect(try Answer(folder, "/chess-1.pack", ["Range": "bytes=500-500"]).bytes == [wanted[500]])
    #expect(try Answer(folder, "/chess-1.pack", ["Range": "bytes=0-499"]).bytes == Array(Self.pack[..<500]))
  }

  @Test("a redirect leads to the file, not to another redirect")
  func redirect() throws {
    let folder = try folder { $0.redirects = true }
    let first = try Answer(folder, "/chess-1.pack")
    #expect(first.status == 302)
    #expect(try Answer(folder, try #require(first["Location"])).bytes == Self.pack)
  }

  @Test("without ranges, the whole file is sent, and ranges are not offered")
  func noRanges() throws {
    let answer = try Answer(folder { $0.ignoresRanges = true }, "/chess-1.pack", ["Range": "bytes=0-9"])
    #expect(answer.status == 200)
    #expect(answer.bytes == Self.pack)
    #expect(answer["Accept-Ranges"] == nil)
  }

  @Test("faults affect only packs, unless patterns of files are given")
  func patterns() throws {
    #expect(try Answer(folder { $0.status = 503 }, "/manifest.json").status == 200)
    let named = try folder {
      $0.status = 503
      $0.patterns = ["mani*.jso?"]
    }
    #expect(try Answer(named, "/manifest.json").status == 503)
    #expect(try Answer(named, "/chess-1.pack").status == 200)
  }

  @Test("a fault affects the given number of requests")
  func times() throws {
    let folder = try folder {
      $0.status = 503
      $0.times = 2
    }
    let statuses = try (0..<4).map { _ in try Answer(folder, "/chess-1.pack").status }
    #expect(statuses == [503, 503, 200, 200])
  }

  @Test("a chance affects the given share of requests, and the same ones with the same seed")
  func chance() throws {
    func statuses(_ seed: UInt64) throws -> [Int] {
      let folder = try folder {
        $0.status = 503
        $0.chance = 0.25
        $0.seed = seed
      }
      return try (0..<400).map { _ in try Answer(folder, "/chess-1.pack").status }
    }
    let first = try statuses(7)
    #expect(first == (try statuses(7)))
    #expect(first != (try statuses(8)))
    #expect((60...140).contains(first.count { $0 == 503 }))
  }
}

@Suite("Games from one pack", .bounded)
struct GameSiteTests {
  private let directory: TemporaryDirectory
  private let site: GameSite
  private let path: String
  private let key: [UInt8]
  /// The host of the game's origin.
  private let host: String

  init() async throws {
    directory = try TemporaryDirectory()
    let path = try await makePack(SampleTree(["index.html": SampleTree.File(Array("<!doctype html>".utf8))]), in: directory)
    let bytes = (0..<32).map { UInt8($0) }
    self.path = path
    key = bytes
    site = try GameSite(GameStock(path, .pack, keys: KeyRing(try PackKey(bytes: bytes.byteSpan))), options: .init())
    host = String(site.games[0].origin(port: "").dropFirst("http://".count))
  }

  @Test(
    "a request with a host name of this machine is redirected to the origin of the game, with path, query and port",
    arguments: ["localhost", "LOCALHOST:7225", "127.0.0.1:80", "127.9.9.9", "[::1]:7225", "localhost.", "[::1]"])
  func own(_ host: String) throws {
    let answer = try Answer(site, "/a%20b?c=d", ["Host": host])
    #expect(answer.status == 302)
    let port = host.split(separator: ":").last.flatMap { UInt16($0) }.map { ":\($0)" } ?? ""
    #expect(answer["Location"] == "http://\(self.host)\(port)/a%20b?c=d")
    #expect(!String(decoding: answer.bytes, as: UTF8.self).contains("doctype"))
  }

  @Test("only the origin of its id gets a single game")
  func origins() throws {
    #expect(try Answer(site, "/", ["Host": host]).status == 200)
    #expect(try Answer(site, "/", ["Host": "\(host.uppercased()).:7225"]).status == 200)
    #expect(try Answer(site, "/", ["Host": "other.localhost"]).status == 404)
    #expect(try Answer(site, "/", ["Host": "x.\(host)"]).status == 404)
    #expect(try Answer(site, "/").status == 302)
  }

  @Test("a file of another name has the origin of the pack's id, and a pack with another id never has the same")
  func renamed() async throws {
    let id = site.games[0].id
    var hosts: Set<String> = []
    for name in ["\(id).pack", "\(id)-0123456789abcdef.pack", "Other One.pack", "renamed.pack", "x.pack"] {
      try FileManager.default.createDirectory(atPath: directory("of \(name)"), withIntermediateDirectories: true)
      try FileManager.default.copyItem(atPath: path, toPath: directory("of \(name)/\(name)"))
      let copy = try GameSite(
        GameStock(directory("of \(name)/\(name)"), .pack, keys: KeyRing(try PackKey(bytes: key.byteSpan))), options: .init())
      hosts.insert(copy.games[0].origin(port: ""))
      #expect(copy.games[0].id == id || copy.games[0].id.hasPrefix("pack-"))
    }
    // By the name if it is the id, otherwise by the digest of the id.
    #expect(hosts.count <= 2)
    #expect(hosts.contains("http://\(host)"))
  }

  @Test("the script of a service worker is refused unless it is allowed", arguments: [false, true])
  func serviceWorkers(_ isAllowed: Bool) throws {
    let site = try GameSite(
      GameStock(path, .pack, keys: KeyRing(try PackKey(bytes: key.byteSpan))), options: .init(), allowsServiceWorkers: isAllowed)
    for fields: HeaderFields in [["Service-Worker": "script"], ["service-worker": "x"], ["Sec-Fetch-Dest": "serviceworker"]] {
      var all: HeaderFields = ["Host": host]
      all.fields += fields.fields
      let answer = try Answer(site, "/index.html", all)
      #expect(answer.status == (isAllowed ? 200 : 403))
      #expect(String(decoding: answer.bytes, as: UTF8.self).contains("doctype") == isAllowed)
    }
    #expect(try Answer(site, "/index.html", ["Host": host, "Sec-Fetch-Dest": "worker"]).status == 200)
  }

  @Test(
    "a request with any other host is refused",
    arguments: [
      "games.example", "localhost.example", "127.0.0.1.example", "127.0.0.example", "192.168.0.1", "0.0.0.0", "[::2]", ".localhost",
      "evillocalhost", "localhost:80@evil.com", "localhost:", "localhost:80:80", "localhost:+80", "localhost:65536", "localhost:000080",
      "localhost:٣",
      "user@localhost", "localhost/", "localhost#", "localhost?", "localhost ", " localhost", "localhost,evil.com", "localhost\\",
      "127.0.0.1:80@evil.com",
      "[::1]:", "[::1]x", "[::1]:80@evil.com", "[::1", "::1", "[0::1]", "chess.localhost:80@evil.com", "evil.com:80.localhost",
      "a@b.localhost",
      "a/b.localhost", "%6cocalhost", "localhost..", ".", ":80", "@localhost", "\u{212A}.localhost",
    ])
  func strangers(_ host: String) throws {
    let answer = try Answer(site, "/", ["Host": host])
    #expect(answer.status == 421)
    #expect(!String(decoding: answer.bytes, as: UTF8.self).contains("doctype"))
  }

  @Test("the host of an absolute target counts, not the Host field")
  func absolute() throws {
    #expect(try Answer(site, "http://games.example/", ["Host": "localhost"]).status == 421)
    #expect(try Answer(site, "http://\(host)/", ["Host": "games.example"]).status == 200)
    #expect(try Answer(site, "http://localhost:80@evil.com/", ["Host": host]).status == 421)
  }

  @Test("a page of another origin may link here, but not fetch or frame anything", arguments: ["cross-site", "same-site"])
  func otherOrigin(_ whose: String) throws {
    func status(_ mode: String, _ destination: String) throws -> Int {
      try Answer(site, "/", ["Host": host, "Sec-Fetch-Site": whose, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": destination]).status
    }
    #expect(try status("no-cors", "image") == 403)
    #expect(try status("cors", "empty") == 403)
    #expect(try status("websocket", "websocket") == 403)
    for frame in ["iframe", "frame", "embed", "object"] { #expect(try status("navigate", frame) == 403) }
    #expect(try status("navigate", "document") == 200)
  }

  @Test("a page of the game itself may fetch and frame everything", arguments: ["same-origin", "none"])
  func ownOrigin(_ whose: String) throws {
    for mode in ["cors", "no-cors", "navigate"] {
      let fields: HeaderFields = ["Host": host, "Sec-Fetch-Site": whose, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": "iframe"]
      #expect(try Answer(site, "/", fields).status == 200)
    }
  }

  @Test("without Sec-Fetch-Site, the Origin field decides")
  func origin() throws {
    for origin in [
      "http://games.example", "null", "https://\(host):7225", "http://\(host)", "http://\(host):72250", "http://localhost:7225",
    ] {
      let answer = try Answer(site, "/", ["Host": "\(host):7225", "Origin": origin])
      #expect(answer.status == 403 && answer["Access-Control-Allow-Origin"] == nil, "\(origin)")
    }
    #expect(try Answer(site, "/", ["Host": "\(host):7225", "Origin": "http://\(host.uppercased()):7225"]).status == 200)
  }
}

@Suite("Games from a release", .bounded)
struct ReleaseSiteTests {
  private let directory: TemporaryDirectory

  init() async throws {
    directory = try TemporaryDirectory()
    var packs: [ManifestPack] = []
    for id in ["a", "b", "c", "d"] {
      let path = try await makePack(SampleTree(["index.html": SampleTree.File(Array(id.utf8))]), in: directory, name: id)
      let pack = try Pack.open(path, key: knownKey())
      packs.append(
        ManifestPack(
          id: id, version: 1, url: "https://cdn.example.com/\(id).pack", size: pack.layout.packSize,
          sha256: [UInt8](repeating: 7, count: 32), contentRoot: pack.contentRoot, contentSize: pack.contentSize, installSize: 1 << 20,
          files: UInt64(pack.entryCount), maxFrame: UInt64(pack.largestFrame), keyID: "\(pack.keyID)", delivery: .prefetch, install: .packed
        ))
    }
    let manifest = Manifest(version: 1, issued: nil, expires: ManifestTime("2030-01-01T00:00:00Z")!, budget: nil, packs: packs)
    try directory.write(KeysSample.sign(manifest).bytes, to: "manifest.json")
  }

  private func site(mostOpen: Int = 64) throws(PackError) -> GameSite {
    try GameSite(GameStock(directory.path, .release, keys: KeyRing(try knownKey()), mostOpen: mostOpen), options: .init())
  }

  /// Hides the files of all packs, or shows them again.
  private func hide(_ isHidden: Bool) throws {
    for id in ["a", "b", "c", "d"] {
      let names = ["\(id).pack", "\(id).hidden"]
      try FileManager.default.moveItem(atPath: directory(names[isHidden ? 0 : 1]), toPath: directory(names[isHidden ? 1 : 0]))
    }
  }

  private func page(_ id: String, of site: GameSite) throws -> String {
    String(decoding: try Answer(site, "/", ["Host": "\(id).localhost"]).bytes, as: UTF8.self)
  }

  @Test(
    "a pack that is missing, another one, cut or damaged is refused at the start, also one that does not stay open",
    arguments: ["missing-input", "wrong-pack", "truncated", "authentication-failed"], ["a", "d"])
  func refused(_ code: String, _ id: String) throws {
    let path = directory("\(id).pack")
    var bytes = try #require(directory.bytes(of: "\(id).pack"))
    try FileManager.default.removeItem(atPath: path)
    switch code {
    case "missing-input": break
    case "wrong-pack": try FileManager.default.copyItem(atPath: directory("b.pack"), toPath: path)
    case "truncated": try directory.write(bytes.prefix(100), to: "\(id).pack")
    default:
      bytes[bytes.count - 20] ^= 1
      try directory.write(bytes, to: "\(id).pack")
    }
    let error = #expect(throws: PackError.self) { _ = try site(mostOpen: 2) }
    #expect(error?.code.rawValue == code && error?.subject == path, "\(error?.message ?? "")")
  }

  @Test("a few packs stay open, and the others are opened when they are requested, in place of those not requested for long")
  func fewOpen() throws {
    let site = try site(mostOpen: 2)
    #expect(site.games.map(\.id) == ["a", "b", "c", "d"])
    try hide(true)
    #expect(try page("a", of: site) == "a")
    #expect(try page("b", of: site) == "b")
    let error = #expect(throws: PackError.self) { try page("c", of: site) }
    #expect(error?.code == .missingInput && error?.subject == directory("c.pack"))
    try hide(false)
    #expect(try page("c", of: site) == "c")
    try hide(true)
    #expect(try page("c", of: site) == "c")
    #expect(try page("b", of: site) == "b")
    #expect(throws: PackError.self) { try page("a", of: site) }
    // The list needs no pack.
    #expect(try Answer(site, "/", ["Host": "localhost"]).status == 200)
  }

  @Test("a pack that was replaced by another one while it was closed is not served")
  func replaced() throws {
    let site = try site(mostOpen: 2)
    try FileManager.default.removeItem(atPath: directory("d.pack"))
    try FileManager.default.copyItem(atPath: directory("b.pack"), toPath: directory("d.pack"))
    #expect(#expect(throws: PackError.self) { try page("d", of: site) }?.code == .wrongPack)
  }

  @Test("usually all packs stay open, so they are served while a new release takes their place")
  func allOpen() throws {
    let site = try site()
    try hide(true)
    for id in ["a", "b", "c", "d"] { #expect(try page(id, of: site) == id) }
  }
}

@Suite("HTTP dates")
struct HTTPDateTests {
  @Test(
    "a date is written and read",
    arguments: [
      (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
    ])
  func dates(_ seconds: Int64, _ text: String) {
    #expect(HTTPDate(secondsSince1970: seconds).text == text)
    #expect(HTTPDate(text)?.secondsSince1970 == seconds)
  }

  @Test(
    "an invalid date is refused",
    arguments: [
      "", "Sun, 06 Nov 1994 08:49:37", "Mon, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
      "Sun, 06 Non 1994 08:49:37 GMT",
      "Sun, 31 Feb 1999 00:00:00 GMT", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun,  06 Nov 1994 08:49:37 GMT",
    ])
  func refused(_ text: String) {
    #expect(HTTPDate(text) == nil)
  }
}
