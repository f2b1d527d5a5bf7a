import Foundation
import TestSupport
import Testing

@testable import PackBuild
@testable import PackGate
@testable import PackPublish

/// A project with a pack that opens at a time, one whose versions have keys of their own, and one that is like all others.
private struct SealedProject {
  let project: ReleaseProject
  var directory: TemporaryDirectory { project.directory }
  private var place: FolderPlace { FolderPlace(directory("www"), files: FaultyFiles()) }

  /// The first of December 2026.
  static let opens = "2026-12-01T00:00:00Z"
  /// The number of that day for ``ReleaseProject/time(_:isFixed:)``.
  static let day: Int64 = 31

  static func configuration(opens: String = opens) -> String {
    """
    serve: {baseURL: "https://cdn.example.com/packs/"}
    perPackKeys: true
    packs:
      - {id: core, root: build/core, delivery: essential}
      - {id: finale, root: build/games/kart, install: packed, opens: \(opens)}
      - {id: movie, root: build/movie, install: packed, perVersionKeys: true}

    """
  }

  init() throws {
    project = try ReleaseProject(Self.configuration())
  }

  func entry(_ id: String) throws -> ManifestPack { try #require(try project.pack(id)) }
  func openerName(_ id: String) throws -> String { try #require(try entry(id).openerFile).name }
  func files(_ ending: String, in folder: String = "dist") -> [String] {
    directory.names(in: folder).filter { $0.hasSuffix(ending) }.sorted()
  }

  /// Publishes the release without its due openers, as far as these have a time.
  @discardableResult
  func publish() throws(PackError) -> Publication {
    let publication = Publication(try ReleaseFiles(directory("dist")), at: place, own: try project.own())
    let plan = try publication.plan()
    _ = try publication.upload(plan, files: FaultyFiles())
    try publication.publish(plan)
    return publication
  }

  var opening: Opening { get throws(PackError) { Opening(at: place, own: try project.own()) } }

  func findings(on day: Int64 = 2, key first: UInt8 = 0, change: (String) throws -> Void = { _ in }) async throws -> [String] {
    try change(directory("dist"))
    var verification = ReleaseVerification(directory("dist"), now: ReleaseProject.time(day).now)
    verification.trusted = TrustedKeys([try ReleaseProject.signingKey(0).publicKey])
    verification.configuration = try PackerConfiguration.read(directory("packer.yml"))
    verification.jobs = 2
    let report = try await verification.run(key: Shared(try TestSupport.key(filledFrom: first)))
    return report.findings.filter { $0.level == .error }.map(\.rule.id)
  }

  static func time(_ text: String) -> ManifestTime { ManifestTime(text) ?? ReleaseProject.time().now }
}

@Suite("A pack that opens later", .bounded)
struct OpenerTests {
  @Test("has a key that only the root key leads to, and an opener in its entry; the opener is not in the release before its time")
  func early() async throws {
    let sample = try SealedProject()
    try await sample.project.build()
    let (finale, movie, core) = (try sample.entry("finale"), try sample.entry("movie"), try sample.entry("core"))
    #expect(core.opener == nil && finale.opener?.opens == SealedProject.time(SealedProject.opens) && movie.opener?.opens == nil)
    #expect(movie.opener?.size == 156 && Set([core.keyID, finale.keyID, movie.keyID]).count == 3)
    #expect(sample.files(".opener") == [try sample.openerName("movie")])
    let root = try TestSupport.key(filledFrom: 0)
    for entry in [finale, movie] {
      let path = sample.directory("dist/\(entry.fileName)")
      let own = try root.packKey(for: PackName(entry.id))
      #expect(throws: PackError.self) { try Pack.open(path, key: own) }
      try Pack.open(path, key: root).check(against: entry)
      let opener = try Opener(of: entry.edition(), root: root)
      #expect(try ManifestOpener(of: opener, opens: entry.opener?.opens) == entry.opener)
      let opened = try await Pack.open(path, keys: OpenerKeys(opener, over: KeyRing(own)))
      #expect(opened.contentRoot == entry.contentRoot)
    }
    // No file of the release has what the opener has.
    let secret = try Opener(of: finale.edition(), root: root).bytes
    for (name, bytes) in sample.project.contents() { #expect(bytes.firstRange(of: secret[108...]) == nil, "\(name)") }
    #expect(try await sample.findings() == [])
  }

  @Test("is made again byte for byte, and keeps its version and key when its time has come: only the opener is added")
  func due() async throws {
    let sample = try SealedProject()
    try await sample.project.build()
    let before = sample.project.contents()
    try sample.project.record()
    try await sample.project.build()
    #expect(sample.project.contents() == before)
    let report = try await sample.project.build(on: SealedProject.day + 1)
    #expect(report.ids(.reused) == ["core", "finale", "movie"])
    #expect(sample.files(".opener") == [try sample.openerName("finale"), try sample.openerName("movie")])
    #expect(sample.files(".pack").allSatisfy { before[$0] == sample.directory.bytes(of: "dist/\($0)") })
    #expect(try await sample.findings(on: SealedProject.day + 1) == [])
  }

  @Test("has another key in each version, and no deltas to it")
  func versions() async throws {
    let sample = try SealedProject()
    try await sample.project.build()
    let first = try sample.entry("movie")
    try sample.project.record(keepsPacks: true)
    var random = SeededGenerator(seed: 4)
    try sample.project.add("movie/more.mp4", random.bytes(40_000))
    try sample.project.add("core/js/main.js", Array(repeating: 66, count: 9000))
    try await sample.project.build(on: 2)
    let second = try sample.entry("movie")
    #expect(second.version == 2 && second.keyID != first.keyID && second.deltas.isEmpty)
    #expect(second.openerFile?.name != first.openerFile?.name)
    #expect(try await sample.findings(on: 3) == [])
    // Nothing changed, so nothing is packed again.
    try sample.project.record(keepsPacks: true)
    let again = try await sample.project.build(on: 3)
    #expect(again.ids(.reused) == ["core", "finale", "movie"] && again.items.allSatisfy { $0.version == ($0.id == "finale" ? 1 : 2) })
  }

  @Test("is not made by a machine that has only the keys of packs")
  func lacksRoot() async throws {
    let sample = try SealedProject()
    var build = ReleaseBuild(try PackerConfiguration.read(sample.directory("packer.yml")), time: ReleaseProject.time())
    build.files = FaultyFiles()
    let own = try TestSupport.key(filledFrom: 0).packKey(for: PackName("movie"))
    let pack = try #require(build.configuration.packs.first { $0.id.text == "movie" })
    let keyed = KeyedPack(pack, key: Shared(own))
    let error = #expect(throws: PackError.self) { try keyed.keyID(ofVersion: 1) }
    #expect(error?.code == .noKey)
  }

  @Test("the gate finds an opener before its time, one that is missing, and one that does not follow from the root key")
  func gate() async throws {
    let sample = try SealedProject()
    try await sample.project.build()
    let root = try TestSupport.key(filledFrom: 0)
    let opener = try Opener(of: sample.entry("finale").edition(), root: root).bytes
    let name = try sample.openerName("finale")
    #expect(try await sample.findings { try Data(opener).write(to: URL(fileURLWithPath: "\($0)/\(name)")) } == ["PK2029"])
    #expect(try await sample.findings(on: SealedProject.day + 1) == [])
    #expect(try await sample.findings { try FileManager.default.removeItem(atPath: "\($0)/\(name)") } == [])
    let movie = try sample.openerName("movie")
    #expect(try await sample.findings { try FileManager.default.removeItem(atPath: "\($0)/\(movie)") } == ["PK2001"])
    // An entry whose opener was made with another root key.
    var entry = try sample.entry("movie")
    entry.opener = try ManifestOpener(of: Opener(of: entry.edition(), root: TestSupport.key(filledFrom: 9)), opens: nil)
    let place = ReleaseInspection.Place(directory: sample.directory("dist"), manifest: "")
    let sighting = try OpenerSighting(try #require(entry.opener), of: entry, in: place, key: Shared(root.copy()), files: FaultyFiles())
    #expect(sighting.isOfPack == false && sighting.isExpected && sighting.size == nil)
  }

  @Test("is published without its opener; this follows when its time has come, once, from the root key alone")
  func publication() async throws {
    let sample = try SealedProject()
    try await sample.project.build()
    try sample.publish()
    let (finale, movie) = (try sample.openerName("finale"), try sample.openerName("movie"))
    #expect(sample.files(".opener", in: "www") == [movie])
    // Nothing else of the release is needed.
    try FileManager.default.removeItem(atPath: sample.directory("dist"))
    let root = try TestSupport.key(filledFrom: 0)
    let early = try sample.opening.plan(at: SealedProject.time("2026-11-30T23:59:59Z"))
    #expect(early.due.isEmpty && early.open.map(\.id) == ["movie"] && early.later.map(\.id) == ["finale"] && early.early.isEmpty)
    try sample.opening.run(early, root: root)
    #expect(sample.files(".opener", in: "www") == [movie])
    let plan = try sample.opening.plan(at: SealedProject.time(SealedProject.opens))
    #expect(plan.due.map(\.id) == ["finale"] && plan.later.isEmpty)
    let other = try TestSupport.key(filledFrom: 9)
    let error = #expect(throws: PackError.self) { try sample.opening.run(plan, root: other) }
    #expect(error?.code == .wrongKey && sample.files(".opener", in: "www") == [movie])
    try sample.opening.run(plan, root: root)
    #expect(Set(sample.files(".opener", in: "www")) == [finale, movie])
    let again = try sample.opening.plan(at: SealedProject.time(SealedProject.opens))
    #expect(again.due.isEmpty && again.open.map(\.id) == ["finale", "movie"])
    #expect(try sample.opening.plan(at: SealedProject.time("2026-11-01T00:00:00Z")).early.map(\.id) == ["finale"])
  }

  @Test("of another product's manifest nothing is opened, nor without one")
  func otherPlaces() async throws {
    let sample = try SealedProject()
    let now = SealedProject.time(SealedProject.opens)
    #expect(throws: PackError.self) { try sample.opening.plan(at: now) }
    try await sample.project.build(signers: [5])
    let publication = Publication(
      try ReleaseFiles(sample.directory("dist")), at: FolderPlace(sample.directory("www"), files: FaultyFiles()),
      own: try sample.project.own(signer: 5))
    let plan = try publication.plan()
    _ = try publication.upload(plan, files: FaultyFiles())
    try publication.publish(plan)
    let error = #expect(throws: PackError.self) { try sample.opening.plan(at: now) }
    #expect(error?.code == .releaseConflict)
  }

  @Test("of a release that is built after its time, the opener is uploaded with it; pruning keeps openers of releases that stay")
  func afterwards() async throws {
    let sample = try SealedProject()
    try await sample.project.build()
    try sample.publish()
    try sample.project.record()
    try sample.project.add("core/js/main.js", [1])
    try await sample.project.build(on: SealedProject.day + 1)
    let release = try sample.publish().release
    let (finale, movie) = (try sample.openerName("finale"), try sample.openerName("movie"))
    #expect(release.openers.keys.map(\.name) == [finale] && release.files.map(\.name).contains(finale))
    #expect(Set(sample.files(".opener", in: "www")) == [finale, movie])
    var pruning = Pruning(
      of: FolderPlace(sample.directory("www"), files: FaultyFiles()), own: try sample.project.own(),
      now: ReleaseProject.time(SealedProject.day + 2).now)
    pruning.keep = 1
    let scratch = try TemporaryDirectory()
    let plan = try pruning.plan(in: scratch(""))
    #expect(!plan.removed.contains { $0.name.hasSuffix(".opener") } && plan.unknown.count == 0)
  }

  @Test(
    "two clocks that agree to five minutes give the earlier time, and others are refused",
    arguments: [(0, 0), (-300, -300), (300, 0), (-301, nil), (301, nil), (86_400, nil)] as [(Int64, Int64?)])
  func clocks(offset: Int64, expected: Int64?) throws {
    let now = ReleaseProject.time().now
    let server = now.secondsSince1970 + offset
    let clock = ServerClock(address: "https://cdn.example.com/packs/manifest.json", times: server...server)
    do throws(PackError) {
      let agreed = try clock.agreed(with: now)
      #expect(agreed.secondsSince1970 - now.secondsSince1970 == expected)
    } catch {
      #expect(expected == nil && error.code == .wrongClock && error.advice != nil)
    }
  }

  @Test("a cache that has kept the server's date for some minutes is no wrong clock")
  func cachedDate() throws {
    let now = ReleaseProject.time().now
    let server = now.secondsSince1970
    #expect(try ServerClock(address: "", times: server - 900...server + 10).agreed(with: now) == now)
  }

  @Test("at the server, an opener before its time is a fault, and its absence none; afterwards it is the other way round")
  func live() async throws {
    let sample = try SealedProject()
    try await sample.project.build()
    let entry = try sample.entry("finale")
    let file = try #require(entry.openerFile)
    func faults(_ kind: LiveFile.Kind, status: Int) -> [LiveFault.Kind] {
      let url = "https://cdn.example.com/packs/\(file.name)"
      let plan = LivePlan(
        manifestURL: "https://cdn.example.com/packs/manifest.json", manifest: [], version: 1, files: [], allowLists: [],
        now: ReleaseProject.time().now)
      var answer = LiveAnswer(url: url)
      (answer.status, answer.received, answer.sha256) = (status, file.size, file.sha256)
      answer.fields = ["content-length": "\(file.size)", "etag": "\"1\"", "cache-control": "max-age=31536000"]
      let found = LiveFile(kind: kind, url: url, pack: "finale", size: file.size, sha256: file.sha256)
      return LiveJudgement.faults(of: found, LiveJudgement.Answers(whole: answer), plan).map(\.kind)
    }
    #expect(faults(.notYet, status: 200) == [.early])
    for status in [403, 404, 410] { #expect(faults(.notYet, status: status) == []) }
    #expect(faults(.opener, status: 200) == [])
    #expect(faults(.opener, status: 404) == [.missing])
  }
}
