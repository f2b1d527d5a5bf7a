import TestSupport
import Testing

@Suite("Packs of a catalogue on their way to a device", .bounded)
struct CatalogueDeliveryTests {
  private let disk = MemoryDisk()
  private let clock = TestClock()

  /// A manifest whose packs on demand are in two shards, and the files of these.
  private typealias Release = (manifest: Manifest, files: [SmallCatalogue.File])

  private func release(_ packs: [ManifestPack], version: UInt64 = 1) throws -> Release {
    try manifest(packs, version: version).withCatalogue()
  }

  /// A pack of the manifest itself, and packs of the first shard, `a`, and of the second, `b`.
  private static let (a, b, again) = (id("a", 0), id("b", 1), id("again", 0))
  private static let packs = [offer("core")] + [a, b, again].map { offer($0, 1, .onDemand) }

  private static func id(_ front: String, _ number: Int) -> String {
    (try? SmallCatalogue.id(front, in: number, of: 2)) ?? front
  }

  /// The packs with other versions.
  private static func changed(_ versions: [String: UInt64]) -> [ManifestPack] {
    packs.map { offer($0.id, versions[$0.id] ?? 1, $0.delivery) }
  }

  private func state() throws(PackError) -> SharedState { try .sample(MemoryFiles(disk), clock) }

  private var catalogue: Catalogue { Catalogue("/catalogue", files: MemoryFiles(disk), backend: CryptoBackends.standard) }

  /// Fetches shards as an app does.
  private func fetch(_ numbers: Int..., of release: Release) throws {
    for number in numbers { try catalogue.keep(release.files[number].bytes, number, of: release.manifest) }
  }

  private func facts(
    _ asked: Set<String> = [], _ device: [DevicePack]? = [], _ downloads: Set<String>? = nil, _ event: DeliveryEvent = .launch
  ) -> DeliveryFacts {
    DeliveryFacts(event, at: clock.secondsSince1970, device: device, downloads: downloads, asked: asked)
  }

  /// Plans as an app does.
  @discardableResult
  private func plan(
    _ release: Release, asked: Set<String> = [], device: [DevicePack]? = [], downloads: Set<String>? = nil
  ) throws -> DeliveryPlan {
    let (catalogue, manifest) = (catalogue, release.manifest)
    return try state().plan(for: manifest, facts: facts(asked, device, downloads)) { (ids) throws(PackError) in
      try catalogue.lookUp(ids, in: manifest)
    }.plan
  }

  /// Plans as an extension does.
  private func planInExtension(
    _ release: Release, device: [DevicePack] = [], downloads: Set<String>? = nil
  ) throws -> DeliveryPlan {
    disk.hold(device)
    return try state().plan(for: release.manifest, facts: facts([], nil, downloads, .periodic)).plan
  }

  /// Delivers what a plan downloads.
  ///
  /// - Parameter id: the pack that does not arrive.
  private func deliver(_ plan: DeliveryPlan, except id: String? = nil) throws {
    for download in plan.downloads where download.id != id {
      let path = disk.downloaded(size: Int(download.bytes.size))
      _ = try state().park(path, asDownload: download.identifier.description)
    }
  }

  // MARK: Refusals

  @Test("a shard that breaks a rule holds up only its own packs, and the log has its fault")
  func brokenShard() throws {
    var release = try release(Self.packs)
    // The manifest lists a pack of the first shard, too.
    release.manifest.packs.append(offer(Self.again, 1, .prefetch))
    try fetch(0, 1, of: release)
    let logger = RecordingLogger()
    let state = try SharedState(directory: "/group", files: MemoryFiles(disk), clock: clock, logger: logger)
    let (catalogue, manifest) = (catalogue, release.manifest)
    let planned = try state.plan(for: manifest, facts: facts([Self.a, Self.b])) { (ids) throws(PackError) in
      try catalogue.lookUp(ids, in: manifest)
    }.plan
    #expect(planned.undecided == [Self.a] && lists(of: Self.a, in: planned) == [])
    #expect(planned.downloads.map(\.id) == [Self.b, "core", Self.again])
    #expect(logger.take().count { $0.contains("shard refused") } == 1)
  }

  @Test("if the catalogue cannot be read, there is no plan, and nothing is recorded")
  func unreadable() throws {
    let release = try release(Self.packs)
    let state = try state()
    let error = failure { () throws(PackError) in
      _ = try state.plan(for: release.manifest, facts: facts([Self.a])) { (_) throws(PackError) in throw PackError(.cannotRead, "no") }
    }
    #expect(error?.code == .cannotRead)
    #expect(try state.content() == SharedState.Content())
  }

  @Test("an extension leaves packs of the catalogue as they are, with their downloads and files, whether their shards are here or not")
  func inExtension() throws {
    let release = try release(Self.packs)
    try fetch(0, 1, of: release)
    try deliver(try plan(release, asked: [Self.a, Self.b]), except: Self.b)
    let records = try state().content()
    #expect(records.files.map(\.identifier.id).sorted() == [Self.a, "core"])
    let planned = try planInExtension(release, downloads: [identifier(Self.b)])
    #expect(planned.undecided == [Self.a, Self.b] && planned.handOver.map(\.id) == ["core"] && planned.downloads == [])
    #expect(planned.orphans == [] && planned.cancellations == [] && planned.obsolete == [] && planned.changes == [])
    let after = try state().content()
    #expect(after.files == records.files && after.records.filter { $0.id != "core" } == records.records.filter { $0.id != "core" })
    // A new version of an installed pack is planned by the app.
    let later = try self.release(Self.changed([Self.a: 2, "core": 2]), version: 2)
    try fetch(0, of: later)
    #expect(try planInExtension(later).downloads.map(\.id) == ["core"])
    #expect(try plan(later, device: [installed(Self.a), installed("core")]).downloads.map(\.id) == [Self.a])
  }

  @Test("if no shard is here, nothing installed is removed, nothing under way is cancelled, and no file is discarded")
  func lostShards() throws {
    let release = try release(Self.packs)
    try fetch(0, 1, of: release)
    try deliver(try plan(release, asked: [Self.a, Self.b]), except: Self.b)
    disk.remove("/catalogue")
    let later = try self.release(Self.changed([Self.a: 2, Self.b: 2, Self.again: 2, "core": 2]), version: 2)
    let planned = try plan(later, device: [installed(Self.again)], downloads: [identifier(Self.b)])
    #expect(planned.undecided == [Self.a, Self.again, Self.b].sorted() && planned.obsolete == [])
    #expect(planned.cancellations == [] && planned.orphans == [identifier("core")])
    #expect(try state().status(of: Self.b)?.state.isUnderWay == true)
    // The packs of the manifest itself do not wait.
    #expect(planned.downloads.map(\.bytes) == [bytes("core", 2)])
  }

  // MARK: Requests

  @Test("a pack that was requested before its shard is here is downloaded when it is, also if nobody asks again")
  func requested() throws {
    let release = try release(Self.packs)
    let first = try plan(release, asked: [Self.a])
    #expect(first.undecided == [Self.a] && first.downloads.map(\.id) == ["core"])
    #expect(try state().status(of: Self.a)?.isWanted == true)
    // Another shard does not help.
    try fetch(1, of: release)
    #expect(try plan(release).undecided == [Self.a])
    try fetch(0, of: release)
    let planned = try plan(release)
    #expect(planned.downloads.map(\.bytes) == [bytes(Self.a, 1)] && planned.undecided == [])
  }

  @Test("only files of packs are downloaded, and under their names")
  func onlyPacks() throws {
    let release = try release(Self.packs)
    #expect(try plan(release, asked: Set(Self.packs.map(\.id))).downloads.map(\.identifier.description) == [identifier("core")])
    try fetch(0, 1, of: release)
    let planned = try plan(release)
    #expect(Set(planned.downloads.map(\.identifier.description)) == Set([Self.a, Self.b, Self.again].map { identifier($0) }))
    #expect(DownloadIdentifier("~\(release.manifest.catalogue[0].fileName)@1-0123456789abcdef") == nil)
  }

  @Test("a name that the catalogue does not have leaves no record once its shard is here, and a request for it is forgotten")
  func unknownName() throws {
    let release = try release(Self.packs)
    let none = Self.id("none", 0)
    #expect(try plan(release, asked: [none]).undecided == [none])
    #expect(try state().status(of: none) != nil)
    try fetch(0, of: release)
    #expect(try plan(release).undecided == [])
    #expect(try state().content().records.map(\.id) == ["core"])
  }

  @Test("the catalogue is searched for the packs that a plan is about and for their bases, and for no others")
  func searched() throws {
    var packs = Self.packs
    packs[1].basePack = Self.b
    let release = try release(packs)
    try fetch(0, 1, of: release)
    let (catalogue, manifest, searches) = (catalogue, release.manifest, Monitor<[Set<String>]>([]))
    func plan(_ asked: Set<String>, _ device: [DevicePack]) throws -> DeliveryPlan {
      try state().plan(for: manifest, facts: facts(asked, device)) { (ids) throws(PackError) in
        searches.withLock { $0.append(ids) }
        return try catalogue.lookUp(ids, in: manifest)
      }.plan
    }
    func taken() -> [Set<String>] {
      searches.withLock { searches in
        defer { searches = [] }
        return searches
      }
    }
    _ = try plan([], [])
    #expect(taken() == [[]])
    // The base of a pack is in another shard.
    #expect(try plan([Self.a], []).downloads.map(\.id) == [Self.a])
    #expect(taken() == [[Self.a], [Self.a, Self.b]])
    _ = try plan([], [installed(Self.a), installed(Self.again), installed("core")])
    #expect(taken() == [[Self.a, Self.again], [Self.a, Self.again, Self.b]])
    // A pack that was removed from the device is not wanted any more.
    for _ in 0..<2 { _ = try plan([], [installed(Self.again)]) }
    #expect(taken().last == [Self.again])
  }

  // MARK: New manifests

  @Test("a new manifest holds up an installed pack only until its shard is here, and others not at all")
  func update() throws {
    let first = try release(Self.packs)
    try fetch(0, 1, of: first)
    try deliver(try plan(first, asked: [Self.a, Self.b]))
    let device = ["core", Self.a, Self.b].map { installed($0) }
    #expect(try plan(first, device: device).ready.sorted() == [Self.a, Self.b, "core"])
    // Another pack of the same shard changes.
    let second = try release(Self.changed([Self.again: 2]), version: 2)
    var planned = try plan(second, device: device)
    #expect(planned.undecided == [Self.a] && planned.ready.sorted() == [Self.b, "core"] && planned.downloads == [])
    try fetch(0, of: second)
    planned = try plan(second, device: device)
    #expect(planned.downloads == [] && planned.ready.sorted() == [Self.a, Self.b, "core"] && planned.obsolete == [])
    // An installed pack that changed is downloaded without a new request.
    let third = try release(Self.changed([Self.again: 2, Self.b: 3]), version: 3)
    try fetch(1, of: third)
    #expect(try plan(third, device: device).downloads.map(\.bytes) == [bytes(Self.b, 3)])
  }

  @Test("an installed pack of the catalogue is updated by the delta in its entry")
  func delta() throws {
    var packs = Self.changed([Self.a: 2])
    packs[1].deltas = [ManifestDelta(bases: [digest("root \(Self.a)", 1)], size: 90, sha256: digest("delta", 2))]
    let release = try release(packs, version: 2)
    let held = DevicePack(id: Self.a, version: 1, sha256: digest(Self.a, 1), mode: .packed, contentRoot: digest("root \(Self.a)", 1))
    try plan(release, asked: [Self.a], device: [installed("core"), held])
    try fetch(0, of: release)
    let planned = try plan(release, device: [installed("core"), held])
    #expect(planned.downloads.map(\.isDelta) == [true] && planned.downloadSize == 90)
    #expect(planned.downloads.first?.url == "https://cdn.example.com/" + ManifestPack.publishedName(Self.a, digest("delta", 2)))
  }

  @Test("a pack that was removed from the device needs no shard any more, and one that is no longer offered is obsolete")
  func removed() throws {
    let first = try release(Self.packs)
    try fetch(0, 1, of: first)
    try deliver(try plan(first, asked: [Self.a, Self.b]))
    try state().discard(try plan(first, device: [installed(Self.a), installed(Self.b)]).orphans)
    // The first was purged, and the second is no longer offered.
    let second = try release(Self.packs.filter { $0.id != Self.b }, version: 2)
    try plan(first, device: [installed(Self.b)])
    disk.remove("/catalogue")
    #expect(try plan(second, device: [installed(Self.b)]).undecided == [Self.b])
    try fetch(1, of: second)
    let planned = try plan(second, device: [installed(Self.b)])
    #expect(planned.obsolete.map(\.id) == [Self.b] && planned.undecided == [])
    #expect(try state().status(of: Self.a) == nil)
  }

  @Test("a pack that moves into the catalogue stays installed, and so does one that moves out of it")
  func moved() throws {
    let device = [installed("core"), installed(Self.a)]
    let first = try release([offer("core"), offer(Self.a, 1, .onDemand)])
    try fetch(0, of: first)
    try deliver(try plan(first, asked: [Self.a]))
    #expect(try plan(first, device: device).ready.sorted() == [Self.a, "core"])
    let second = try release([offer("core", 1, .onDemand), offer(Self.a)], version: 2)
    let waiting = try plan(second, device: device)
    #expect(waiting.ready == [Self.a] && waiting.undecided == ["core"] && waiting.obsolete == [] && waiting.downloads == [])
    #expect(try planInExtension(second, device: device).downloads == [])
    try fetch(Shard.number(of: "core", among: 2), of: second)
    let planned = try plan(second, device: device)
    #expect(planned.ready.sorted() == [Self.a, "core"] && planned.undecided == [] && planned.obsolete == [])
  }
}
