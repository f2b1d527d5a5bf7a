import Foundation
import TestSupport
import Testing

@testable import PackBuild
@testable import PackPublish

@Suite("What access logs say of releases", .bounded)
struct ObservationTests {
  private static func digest(_ first: UInt8) -> [UInt8] { [first] + [UInt8](repeating: 0xAB, count: 31) }

  private static func pack(_ id: String, _ version: UInt64, size: UInt64 = 1000, digest first: UInt8, root: UInt8) -> ManifestPack {
    let sha256 = digest(first)
    return ManifestPack(
      id: id, version: version, url: "https://cdn.example.com/packs/" + ManifestPack.publishedName(id, sha256), size: size, sha256: sha256,
      contentRoot: digest(root), contentSize: 1, installSize: 1, files: 1, maxFrame: 1, keyID: "e545120e613dd715", delivery: .prefetch,
      install: .packed)
  }

  /// Manifest 1 was recorded; manifest 2 has a delta from it, a lead and a shard.
  private static let releases: ObservedReleases = {
    var core = pack("core", 2, digest: 2, root: 12)
    core.deltas = [
      ManifestDelta(bases: [digest(11)], size: 100, sha256: digest(3)), ManifestDelta(bases: [digest(99)], size: 50, sha256: digest(4)),
    ]
    core.stream = ManifestStream(launch: 10, tail: 10, leaves: digest(0), size: 30, sha256: digest(5))
    var manifest = Manifest(version: 2, issued: nil, expires: ManifestTime("2027-01-01T00:00:00Z")!, budget: nil, packs: [core])
    manifest.catalogue = [Shard(size: 20, contentSize: 30, maxCount: 1, sha256: digest(6))]
    let old = ReleaseLock.Pack(
      id: "core", version: 1, size: 900, sha256: digest(1), contentRoot: digest(11), keyID: "e545120e613dd715", settings: "",
      created: ManifestTime("2026-01-01T00:00:00Z")!)
    let release = ReleaseLock.Release(
      manifestVersion: 1, signedDigest: digest(7), contentDigest: digest(8), issued: ManifestTime("2026-01-01T00:00:00Z")!,
      expires: ManifestTime("2027-01-01T00:00:00Z")!, packs: [old])
    return ObservedReleases([(manifest, [core])], recorded: [release])
  }()

  private static func name(_ first: UInt8, _ ending: String = "pack", _ id: String = "core") -> String {
    "\(id)-\(digest(first).prefix(8).hex).\(ending)"
  }

  private static let (core1, core2, delta, otherDelta) = (name(1), name(2), name(3), name(4))
  private static let (lead, shard) = (name(5, "lead"), name(6, "shard", "catalogue"))

  /// A device's request.
  private struct Asked {
    var path: String
    var status = 200
    var bytes: String = "0"
    var client = "a"
    var time = "01:00:00"
    var method = "GET"

    init(_ path: String, _ status: Int = 200, _ bytes: Int? = 0, client: String = "a", at time: String = "01:00:00", method: String = "GET")
    {
      (self.path, self.status, self.client, self.time, self.method) = (path, status, client, time, method)
      self.bytes = bytes.map { "\($0)" } ?? "null"
    }

    var line: [UInt8] {
      Array(
        #"{"url":"/packs/\#(path)","status":\#(status),"size":\#(bytes),"client_ip":"\#(client)","method":"\#(method)","timestamp":"2026-11-30T\#(time)Z"}"#
          .utf8)
    }
  }

  private static func observe(
    _ asked: [Asked], since: String? = nil, capacity: Int = 1 << 10, mostNames: Int = 100, releases: ObservedReleases = releases
  ) throws -> Observation {
    var observation = Observation(
      of: releases, since: since.flatMap { ManifestTime($0) }, salt: 7, capacity: capacity, mostNames: mostNames)
    for one in asked {
      let line = one.line
      let request = ObjectLine.request(line.byteSpan)
      observation.add(try #require(request), line.byteSpan)
    }
    return observation
  }

  private static func counts(_ observation: Observation, _ name: String) -> Observation.Counts? {
    observation.files.firstIndex { $0.name == name }.map { observation.counts[$0] }
  }

  // MARK: Releases

  @Test("know the files of manifests and of records, and the oldest release of each")
  func files() {
    let files = Dictionary(uniqueKeysWithValues: Self.releases.files.map { ($0.name, $0) })

    #expect(Self.releases.versions == [1, 2])
    #expect(files.count == 7)
    #expect(files["manifest.json"]?.kind == .manifest && files["manifest.json"]?.release == nil)
    #expect(files[Self.core1]?.kind == .pack && files[Self.core1]?.version == 1 && files[Self.core1]?.release == 1)
    #expect(files[Self.core2]?.kind == .pack && files[Self.core2]?.version == 2 && files[Self.core2]?.release == 2)
    #expect(files[Self.delta]?.kind == .delta && files[Self.delta]?.bases == ["core 1"] && files[Self.delta]?.size == 100)
    #expect(files[Self.otherDelta]?.bases == ["another"])
    #expect(files[Self.lead]?.kind == .lead && files[Self.lead]?.pack == "core")
    #expect(files[Self.shard]?.kind == .shard && files[Self.shard]?.size == 20)
  }

  @Test("are read from a directory, the copies of manifests in it, and the records beside it")
  func reading() async throws {
    let project = try ReleaseProject()
    var last: ReleaseFiles?
    for day in 1...3 {
      try project.add("movie/intro.mp4", [UInt8](repeating: UInt8(day), count: 5000 + day))
      try await project.build(on: Int64(day))
      let release = try ReleaseFiles(project.directory("dist"))
      let publication = Publication(release, at: FolderPlace(project.directory("www")), own: try project.own())
      let plan = try publication.plan()
      _ = try publication.upload(plan)
      try publication.publish(plan)
      last = release
      if day < 3 { _ = try project.record(keepsPacks: true) }
    }
    var faults: [String] = []
    let built = try ObservedReleases.read([project.directory("dist")], faults: &faults)
    let published = try ObservedReleases.read([project.directory("www")], faults: &faults)

    #expect(faults.isEmpty)
    #expect(built.versions == [1, 2, 3] && published.versions == [1, 2, 3])
    let names = Set(built.files.map(\.name))
    #expect(last?.files.allSatisfy { names.contains($0.name) } == true)
    #expect(built.files.filter { $0.pack == "movie" && $0.kind == .pack }.map(\.release) == [1, 2, 3])
    #expect(names.isSubset(of: published.files.map(\.name)))

    // A copy that was changed is said, and the others count.
    let copy = try #require(project.directory.names(in: "www").first { $0.hasPrefix("manifest-1-") })
    try project.directory.write([1, 2, 3], to: "www/\(copy)")
    _ = try ObservedReleases.read([project.directory("www")], faults: &faults)
    #expect(faults.count == 1 && faults[0].hasPrefix("\(copy) was not used: "))
    try project.directory.write([1, 2, 3], to: "www/manifest.json")
    #expect(throws: PackError.self) { try ObservedReleases.read([project.directory("www")], faults: &faults) }
  }

  // MARK: Names

  @Test(
    "count a path by its last component",
    arguments: ["core", "x/y/core", "https://a.example/core", "\\/core", "%63ore", "c%6Fr%65", "core-a?b=/c#d", "core-a#/d", "c%6fre"])
  func paths(_ path: String) throws {
    let digits = Self.digest(2).prefix(8).hex
    let parts = path.split(separator: "-", maxSplits: 1)
    let target = parts.count == 2 ? "core-\(digits).pack\(parts[1].dropFirst())" : "\(path)-\(digits).pack"

    let observation = try Self.observe([Asked(target)])

    #expect(Self.counts(observation, Self.core2)?.requests == 1)
  }

  @Test(
    "count no other name, and none that could not be printed",
    arguments: [
      "", "core.pack", "manifest.json.bak", "xmanifest.json", "core-0123456789ABCDEF.pack", "core-0123456789abcde.pack",
      "-0123456789abcdef.pack",
      ".a-0123456789abcdef.pack", "a b-0123456789abcdef.pack", "%1B[31m-0123456789abcdef.pack", "a%00-0123456789abcdef.pack",
      "\u{E4}-0123456789abcdef.pack", "%C3%A4-0123456789abcdef.pack", "a%2F-0123456789abcdef.pack", "a%-0123456789abcdef.pack",
      String(repeating: "a", count: 65) + "-0123456789abcdef.pack", String(repeating: "%61", count: 300) + "-0123456789abcdef.pack",
      "core-0123456789abcdef.pack/", "core-0123456789abcdef.pack%0A", "core-0123456789abcdef.json",
    ])
  func otherNames(_ name: String) throws {
    let observation = try Self.observe([Asked(name, 404)])

    #expect(observation.others == 1 && observation.requests == 1)
    #expect(observation.total == Observation.Counts())
    #expect(observation.files.count == Self.releases.files.count + 1)
  }

  @Test("have a limit for names of no known release, and count what is above it together")
  func manyNames() throws {
    let asked = (0..<50).flatMap { number -> [Asked] in
      let name = "a-\(String(0x1000_0000_0000_0000 + number, radix: 16))"
      return [Asked("\(name).pack", 404), Asked("\(name).lead"), Asked("\(name).pack", 404)]
    }
    let observation = try Self.observe(asked, mostNames: 60)

    #expect(observation.files.count == Self.releases.files.count + 1 + 60)
    #expect(observation.total.requests == 150 && observation.total.failed == 100)
    #expect(Self.counts(observation, Observation.otherNames)?.requests == 60)
    #expect(observation.failures.map(\.count).reduce(0, +) == 100)
    #expect(observation.failures.first?.count == 40)
    #expect(observation.files.count { $0.kind == .lead } == 31)
  }

  // MARK: Counts

  @Test("count requests, responses and bytes of each file")
  func requests() throws {
    let observation = try Self.observe([
      Asked("manifest.json", 200, 500), Asked("manifest.json", 304), Asked(Self.core2, 200, 1000), Asked(Self.lead, 200, 30),
      Asked(Self.shard, 200, 20), Asked(Self.core2, method: "HEAD"), Asked("index.html"), Asked(Self.core2, 499), Asked(Self.core2, 0),
      Asked(Self.core2, 301), Asked(Self.core2, 200, nil),
    ])
    let core = try #require(Self.counts(observation, Self.core2))

    #expect(observation.requests == 11 && observation.others == 1 && observation.otherMethods == 1 && observation.unsized == 1)
    #expect(observation.counts[0].unchanged == 1 && observation.counts[0].whole == 1 && observation.counts[0].bytes == 500)
    #expect(core.requests == 5 && core.whole == 2 && core.aborted == 2 && core.bytes == 1000 && core.completed == 1)
    #expect(Self.counts(observation, Self.lead)?.completed == 1 && Self.counts(observation, Self.shard)?.completed == 1)
    #expect(observation.total(of: 2).requests == 7 && observation.total(of: 1).requests == 0)
    #expect(observation.deviceEstimate == 1 && observation.deviceEstimate(of: 2) == 1 && observation.deviceEstimate(of: 1) == 0)
  }

  @Test("count a download in parts once a device has as many bytes as the file")
  func parts() throws {
    func core(_ asked: [Asked]) throws -> [UInt64] {
      let counts = try #require(Self.counts(try Self.observe(asked), Self.core2))
      return [counts.wholeCompleted, counts.begun, counts.joined, counts.unfinished]
    }
    #expect(try core([Asked(Self.core2, 206, 400), Asked(Self.core2, 206, 599)]) == [0, 1, 0, 1])
    #expect(try core([Asked(Self.core2, 206, 400), Asked(Self.core2, 206, 600)]) == [0, 1, 1, 0])
    #expect(try core([Asked(Self.core2, 206, 1000)]) == [0, 1, 1, 0])
    // Two devices; an agent makes another one, too.
    #expect(try core([Asked(Self.core2, 206, 500), Asked(Self.core2, 206, 500, client: "b")]) == [0, 2, 0, 2])
    // Cut off, then continued, or fetched anew.
    #expect(try core([Asked(Self.core2, 200, 999), Asked(Self.core2, 206, 1)]) == [0, 1, 1, 0])
    #expect(try core([Asked(Self.core2, 200, 999), Asked(Self.core2, 200, 1000)]) == [0, 1, 1, 0])
    #expect(try core([Asked(Self.core2, 200, 1000), Asked(Self.core2, 206, 1)]) == [1, 1, 0, 1])
    // Another file.
    #expect(try core([Asked(Self.core1, 206, 500), Asked(Self.core2, 206, 500)]) == [0, 1, 0, 1])
    #expect(try core([Asked(Self.core2, 206, .max), Asked(Self.core2, 206, .max)]) == [0, 2, 2, 0])
  }

  @Test("count a device that requests a delta and then gets the whole pack as one fall-back")
  func fallbacks() throws {
    func core(_ asked: [Asked]) throws -> [UInt64] {
      let counts = try #require(Self.counts(try Self.observe(asked), Self.core2))
      return [counts.devices, counts.fallbacks]
    }
    #expect(try core([Asked(Self.delta, 404), Asked(Self.delta, 404), Asked(Self.core2, 206), Asked(Self.core2, 206)]) == [1, 1])
    #expect(try core([Asked(Self.delta), Asked(Self.otherDelta), Asked(Self.core2)]) == [1, 1])
    #expect(try core([Asked(Self.delta), Asked(Self.core2, 404)]) == [1, 0])
    #expect(try core([Asked(Self.core2), Asked(Self.delta)]) == [1, 0])
    #expect(try core([Asked(Self.delta), Asked(Self.core2, client: "b"), Asked(Self.core1)]) == [1, 0])
    #expect(try core([Asked(Self.delta), Asked(Self.delta, client: "b"), Asked(Self.core2, client: "b")]) == [2, 1])
  }

  @Test("say how many devices were forgotten, because more were busy than the tables hold")
  func forgotten() throws {
    let asked = (0..<100).map { Asked(Self.core2, 206, 1, client: "\($0)") }

    #expect(try Self.observe(asked, capacity: 1024).forgotten == 0)
    let small = try Self.observe(asked, capacity: 8)
    #expect(small.forgotten == 92)
    #expect(Self.counts(small, Self.core2)?.begun == 100)
  }

  @Test("have the first and the last time of each error, in any order of the lines")
  func failures() throws {
    let observation = try Self.observe([
      Asked(Self.core2, 404, at: "02:00:00"), Asked(Self.core2, 404, at: "01:00:00"), Asked(Self.core2, 404, at: "03:00:00"),
      Asked(Self.core2, 503, at: "00:30:00"), Asked("core-0123456789abcdef.pack", 403), Asked("x.html", 500),
    ])
    let found = observation.failures

    #expect(found.map(\.status) == [404, 503, 403] && found.map(\.count) == [3, 1, 1])
    #expect(found[0].first?.description == "2026-11-30T01:00:00Z" && found[0].last?.description == "2026-11-30T03:00:00Z")
    #expect(observation.files[found[2].file].name == "core-0123456789abcdef.pack")
    #expect(observation.first?.description == "2026-11-30T00:30:00Z" && observation.last?.description == "2026-11-30T03:00:00Z")
    #expect(observation.total.failed == 5)
  }

  @Test("count only from a time on, if one is given; then nothing without a time")
  func since() throws {
    let asked = [Asked(Self.core2, at: "00:59:59"), Asked(Self.core2, at: "01:00:00"), Asked(Self.core2, at: "no time")]

    let observation = try Self.observe(asked, since: "2026-11-30T01:00:00Z")

    #expect(observation.requests == 3 && observation.earlier == 2 && observation.total.requests == 1)
    #expect(try Self.observe(asked).total.requests == 3)
  }

  // MARK: Devices

  @Test("forget the device that was used least recently")
  func table() {
    var random = SeededGenerator()
    var table = ClientTable(capacity: 8)
    var known: [(key: UInt64, value: UInt64)] = []
    var forgotten: UInt64 = 0
    for _ in 0..<20_000 {
      let key = UInt64.random(in: 0...12, using: &random)
      let place = known.firstIndex { max($0.key, 1) == max(key, 1) }
      switch Int.random(in: 0..<3, using: &random) {
      case 0:
        #expect(table.value(of: key) == place.map { known[$0].value })
        if let place { known.insert(known.remove(at: place), at: 0) }
      case 1:
        let value = random.next()
        table.set(key, to: value)
        if let place { known.remove(at: place) }
        known.insert((key, value), at: 0)
        if known.count > 8 {
          known.removeLast()
          forgotten += 1
        }
      default:
        table.remove(key)
        if let place { known.remove(at: place) }
      }
    }
    #expect(table.forgotten == forgotten && forgotten > 100)
  }

  @Test("are estimated within 8 %, and few of them almost exactly", arguments: [0, 1, 10, 100, 3000, 20_000, 300_000])
  func estimate(_ number: Int) {
    var count = ClientCount()
    let hash = ClientHash(salt: 3)
    for round in 0..<2 {
      for client in 0..<number / (round + 1) { count.add(hash.hash(UInt64(client), after: 5)) }
    }
    #expect(abs(Int(count.estimate) - number) <= (number <= 100 ? number / 20 : number * 8 / 100))
  }

  @Test("have other hashes with another salt, another address or another agent")
  func hashes() {
    let bytes = Array("203.0.113.7|Game/1.0 CFNetwork/1490".utf8)
    var all: Set<UInt64> = []
    for salt: UInt64 in [1, 2] {
      let hash = ClientHash(salt: salt)
      for end in 0...bytes.count { all.insert(hash.hash(bytes.byteSpan, end..<bytes.count, after: hash.hash(bytes.byteSpan, 0..<end))) }
    }
    #expect(all.count == 2 * (bytes.count + 1))
  }

  // MARK: Limits

  @Test("take a share in percent", arguments: ["0", "0.5", "0.5%", "100", "12.3456%", "100.0000"])
  func shares(_ text: String) { #expect(ShareLimit(text) != nil) }

  @Test(
    "refuse what is no share",
    arguments: ["", "%", "-1", "101", "100.0001", "1.23456", "1.", ".5", "1,5", "1e2", "0x1", "\u{0661}", "1%%", "1 %", "1000"])
  func otherShares(_ text: String) { #expect(ShareLimit(text) == nil) }

  @Test("compare a share exactly")
  func exact() throws {
    let half = try #require(ShareLimit("0.5"))
    #expect(!half.isExceeded(by: 5, of: 1000) && half.isExceeded(by: 6, of: 1000) && !half.isExceeded(by: 0, of: 0))
    #expect(half.isExceeded(by: .max / 100, of: .max) && !half.isExceeded(by: .max / 300, of: .max))
    let none = try #require(ShareLimit("0"))
    #expect(none.isExceeded(by: 1, of: .max) && !none.isExceeded(by: 0, of: 10))
    #expect(
      ShareLimit.percent(1, of: 1_000_000) == "0.01 %" && ShareLimit.percent(0, of: 7) == "0.00 %"
        && ShareLimit.percent(1, of: 2) == "50.00 %")
  }

  @Test("are over a limit if all requests are, or those for the new files of one release")
  func limits() throws {
    let many = (0..<1000).map { _ in Asked("manifest.json", 304) }
    let old = (0..<100).map { _ in Asked(Self.core1) }
    let few = (0..<10).map { Asked(Self.core2, $0 < 2 ? 404 : 200) }
    func findings(_ asked: [Asked], errors: String? = nil, fallbacks: String? = nil, least: UInt64 = 10) throws -> [String] {
      ObservationLimits(errors: errors.flatMap { ShareLimit($0) }, fallbacks: fallbacks.flatMap { ShareLimit($0) }, leastRequests: least)
        .findings(try Self.observe(asked))
    }
    #expect(try findings(few).isEmpty)
    #expect(try findings([], errors: "1").count == 2)
    #expect(
      try findings([], errors: "1", least: 0) == [
        "all requests: 0 requests show too little; 1 are needed",
        "files that are new in manifest 2: 0 requests show too little; 1 are needed",
      ])
    #expect(
      try findings(many + old + few, errors: "0.5") == ["files that are new in manifest 2: 20.00 % failed, 2 of 10; allowed are 0.5 %"])
    #expect(try findings(many + old + few, errors: "20").isEmpty)
    #expect(try findings(many + old, errors: "1") == ["files that are new in manifest 2: 0 requests show too little; 10 are needed"])
    #expect(try findings(few, errors: "1").count == 2)
    let fallbacks = [Asked(Self.delta), Asked(Self.core2), Asked(Self.delta, client: "b")]
    #expect(try findings(fallbacks, fallbacks: "50", least: 3).isEmpty)
    #expect(try findings(fallbacks, fallbacks: "49.9999", least: 3).count == 2)
  }
}
