import Foundation
import TestSupport
import Testing

@testable import PackStore

/// The packs `level` and `other` belong in the first of two shards, `arena` belongs in the second one.
@Suite("A store with packs in a catalogue", .bounded)
struct StoreCatalogueTests {
  let stage: StoreStage

  init() throws {
    stage = try StoreStage()
  }

  private func level(_ version: UInt64 = 1, _ id: String = "level", tags: [String] = [], install: InstallMode = .packed) async throws
    -> StoreStage.Offer
  {
    var offer = try await stage.offer(id, version, delivery: .onDemand, install: install)
    offer.entry.tags = tags
    return offer
  }

  /// Returns a store in which a pack of a catalogue runs.
  private func running(_ offer: StoreStage.Offer, own: [StoreStage.Offer] = []) async throws -> AssetStore {
    let store = try await stage.open()
    let release = try CatalogueRelease(1, own, catalogue: [offer])
    try await store.adopt(release.document)
    try release.deliver(to: store)
    try await store.install(offer.path, as: offer.entry.id, taking: .copying)
    try await store.activate(offer.entry.id, onTrial: false)
    return store
  }

  private func attempt(_ store: AssetStore, _ offer: StoreStage.Offer) async -> PackError? {
    await failure { () async throws(PackError) in try await store.install(offer.path, as: offer.entry.id, taking: .copying) }
  }

  /// Checks that a running pack still runs, is not reported as dropped, and survives a repair.
  private func expectRunning(_ offer: StoreStage.Offer, in store: AssetStore, _ comment: Comment? = nil) async throws {
    let id = offer.entry.id
    #expect(try await store.reconcile(.thorough) == [], comment)
    #expect(try await store.current(id)?.version == offer.entry.version, comment)
    _ = try await store.activate(id)
    let read = try await store.open(id).read("index.html")
    #expect(read == offer.tree.files["index.html"]?.bytes, comment)
    #expect(try await store.plan().obsolete == [], comment)
  }

  /// The names of the shards in the store.
  private var kept: [String] { stage.directory.names(in: "store/catalogue").sorted() }

  // MARK: Shards that are missing

  @Test("a pack whose shard is missing is not installed and not unknown, and packs of the manifest and of other shards need it not")
  func missing() async throws {
    let store = try await stage.open()
    let (core, level, arena) = (try await stage.offer("core"), try await level(), try await level(1, "arena"))
    let release = try CatalogueRelease(1, [core], catalogue: [level, arena], count: 2)
    let plan = try await store.adopt(release.document)
    #expect(plan.downloads.map(\.id) == ["core"] && plan.missingShards.isEmpty)
    let before = try stage.snapshot()
    // Both belong in the first shard, and only one of them is there.
    let unheard = try await self.level(1, "other")
    for offer in [level, unheard] {
      let error = await attempt(store, offer)
      #expect(error?.code == .catalogueNotAvailable)
      #expect(error?.advice == .fetchShards([release.fileNames[0]]))
    }
    #expect(try stage.snapshot() == before)
    #expect(await attempt(store, core) == nil)
    #expect(kept.isEmpty)

    try release.deliver(to: store, [1])
    #expect(await attempt(store, arena) == nil)
    #expect(await attempt(store, try await self.level(1, "cc"))?.code == .unknownPack)
    #expect(await attempt(store, unheard)?.code == .catalogueNotAvailable)
    try release.deliver(to: store, [0])
    #expect(await attempt(store, level) == nil)
    #expect(await attempt(store, unheard)?.code == .unknownPack)
    #expect(try await store.plan().installed == ["core", "arena", "level"])
  }

  @Test(
    "a shard that was cut, changed, swapped or is of another release counts as missing, and is refused when it is kept", arguments: 0..<4)
  func wrongShard(_ fault: Int) async throws {
    let old = try await level(1)
    let store = try await running(old)
    let (core, new, arena) = (try await stage.offer("core"), try await level(2), try await level(1, "arena"))
    let release = try CatalogueRelease(2, [core], catalogue: [new, arena], count: 2)
    let plan = try await store.adopt(release.document)
    #expect(plan.missingShards == [release.fileNames[0]] && plan.downloads == [core.entry] && plan.obsolete.isEmpty && !plan.isEmpty)
    var bytes = release.files[0].bytes
    switch fault {
    case 0: bytes.removeLast()
    case 1: bytes[bytes.count / 2] ^= 1
    case 2: bytes = release.files[1].bytes
    default: bytes = try CatalogueRelease(1, [], catalogue: [old]).files[0].bytes
    }
    try stage.directory.write(bytes, to: "store/catalogue/\(release.name(0))")
    #expect(await attempt(store, new)?.code == .catalogueNotAvailable)
    let error = await failure { () throws(PackError) in try store.catalogue.keep(bytes, 0, of: release.manifest) }
    #expect(error?.code == .wrongShard && error?.advice == .fetchAgain)
    try stage.directory.write(bytes, to: "dist/\(release.fileNames[0])")
    let folder = stage.directory("dist")
    #expect(await failure { () async throws(PackError) in try await store.takeShards(from: folder) }?.code == .wrongShard)
    try await expectRunning(old, in: store)
    #expect(await attempt(store, core) == nil)
    try release.deliver(to: store, [1])
    #expect(await attempt(store, arena) == nil)
    try release.deliver(to: store)
    #expect(try await store.plan().downloads == [new.entry])
    #expect(await attempt(store, new) == nil)
  }

  /// The faults of a shard that was signed.
  enum Fault: String, CaseIterable {
    case unsorted, listedTwice, alsoInManifest, ofOtherShard, deliverySaid, emptyDeltas, tooMany, tooLong, tooShort, noFrame, noPacks
  }

  /// Makes the first of two shards.
  private func shard(
    _ fault: Fault, _ new: StoreStage.Offer, _ other: StoreStage.Offer, _ arena: StoreStage.Offer
  ) throws(PackError) -> SmallCatalogue.File {
    let json = try CatalogueRelease.json([new])
    func saying(_ key: String) -> [UInt8] {
      Array(String(decoding: json, as: UTF8.self).replacingOccurrences(of: ",\"files\":", with: ",\(key),\"files\":").utf8)
    }
    func file(_ bytes: [UInt8], contentSize: Int) throws(PackError) -> SmallCatalogue.File {
      SmallCatalogue.File(
        Shard(
          size: UInt64(bytes.count), contentSize: UInt64(contentSize), maxCount: 1,
          sha256: try CryptoBackends.standard.digest(of: bytes.byteSpan)), bytes)
    }
    switch fault {
    case .unsorted: return try .init(CatalogueRelease.json([other, new]), count: 2)
    case .listedTwice: return try .init(CatalogueRelease.json([new, new]), count: 2)
    case .alsoInManifest: return try .init(CatalogueRelease.json([new, other]), count: 2)
    case .ofOtherShard: return try .init(CatalogueRelease.json([arena, new]), count: 2)
    case .deliverySaid: return try .init(saying(#""delivery":"onDemand""#), count: 1)
    case .emptyDeltas: return try .init(saying(#""deltas":[]"#), count: 1)
    case .tooMany: return try .init(json, count: 0)
    case .tooLong:
      var large = new
      large.entry.description = String(repeating: "d", count: 1 << 20)
      return try file(CompressionContext(level: 3).compressed(CatalogueRelease.json([large])), contentSize: 1000)
    case .tooShort: return try file(CompressionContext(level: 3).compressed(json), contentSize: json.count + 1)
    case .noFrame: return try file(json, contentSize: json.count)
    case .noPacks: return try .init(Array(#"{"others":[]}"#.utf8), count: 0)
    }
  }

  @Test(
    "a signed shard that breaks a rule is refused as damaged, nothing is lost, nothing else waits for it, and the next release works",
    arguments: Fault.allCases)
  func damaged(_ fault: Fault) async throws {
    let old = try await level(1)
    let store = try await running(old)
    let (core, new, other, arena) = (
      try await stage.offer("core"), try await level(2), try await level(1, "other"), try await level(1, "arena")
    )
    let rest = try CatalogueRelease(2, [], catalogue: [arena], count: 2).files[1]
    let own = fault == .alsoInManifest ? [core, other] : [core]
    let release = try CatalogueRelease(2, own.map(\.entry), [shard(fault, new, other, arena), rest])
    try await store.adopt(release.document)
    try release.deliver(to: store)
    #expect(await attempt(store, new)?.code == .damagedManifest)
    let plan = try await store.plan()
    #expect(plan.downloads == own.map(\.entry) && plan.missingShards.isEmpty)
    let listing = try await store.listing()
    #expect(!listing.isComplete && listing.missing.isEmpty && listing.refusal?.code == .damagedManifest)
    #expect(listing.packs == own.map(\.entry) + [arena.entry])
    for offer in own + [arena] { #expect(await attempt(store, offer) == nil) }
    try await expectRunning(old, in: store)
    try await store.setPreservation(1, of: "level")
    _ = try await store.purge(toFree: 1 << 40)
    #expect(try await store.current("level")?.version == 1)

    let next = try CatalogueRelease(3, [core], catalogue: [new, other, arena], count: 2)
    try await store.adopt(next.document)
    try next.deliver(to: store)
    #expect(await attempt(store, new) == nil)
    try await store.activate("level", onTrial: false)
    #expect(try await store.current("level")?.version == 2)
  }

  @Test("a directory in the place of a shard counts as missing, and stops nothing else")
  func directoryInPlace() async throws {
    let store = try await stage.open()
    let (core, level, arena) = (try await stage.offer("core"), try await level(), try await level(1, "arena"))
    let release = try CatalogueRelease(1, [core], catalogue: [level, arena], count: 2)
    try await store.adopt(release.document)
    try stage.directory.write([1], to: "store/catalogue/\(release.name(0))/file")
    #expect(await attempt(store, level)?.code == .catalogueNotAvailable)
    let error = await failure { () throws(PackError) in try release.deliver(to: store, [0]) }
    #expect(error?.code == .outputExists)
    try release.deliver(to: store, [1])
    for offer in [core, arena] { #expect(await attempt(store, offer) == nil) }
  }

  @Test("without its shard a pack is not purged as one that was dropped, and not at all if its tags may have priorities")
  func purging() async throws {
    let old = try await level(tags: ["world"])
    let store = try await running(old)
    try await store.setPreservation(1, tags: ["world"])
    let next = try CatalogueRelease(2, [], catalogue: [try await level(2, tags: ["world"])])
    try await store.adopt(next.document)
    #expect(try await store.purge(toFree: 1 << 40).removed == [])
    try await expectRunning(old, in: store)
    try next.deliver(to: store)
    #expect(try await store.purge(toFree: 1 << 40).removed == [])

    // A release that has dropped the pack. Only its shard shows that.
    let last = try CatalogueRelease(3, [], catalogue: [try await level(1, "arena")])
    #expect(try await store.adopt(last.document).missingShards == last.fileNames)
    #expect(try await store.purge(toFree: 1 << 40).removed == [])
    try last.deliver(to: store)
    #expect(try await store.plan().obsolete.map(\.id) == ["level"])
    #expect(try await store.purge(toFree: 1).removed.map(\.reason) == ["the manifest no longer names the pack"])
  }

  @Test("a pack whose shard is missing is purged after earlier versions of other packs, as one that is still offered")
  func purgingOrder() async throws {
    let core = try await stage.offer("core", 1)
    let store = try await running(try await level(), own: [core])
    let newCore = try await stage.offer("core", 2)
    try await store.install(core.path, as: "core", taking: .copying)
    try await store.activate("core", onTrial: false)
    let next = try CatalogueRelease(2, [newCore], catalogue: [try await level(2)])
    try await store.adopt(next.document)
    try await store.install(newCore.path, as: "core", taking: .copying)
    try await store.activate("core", onTrial: false)
    let removed = try await store.purge(toFree: 1).removed
    #expect(removed.map(\.pack.id) == ["core"] && removed.map(\.pack.version) == [1])
  }

  @Test("content without a record stays until its shard says what it is", arguments: [InstallMode.packed, .unpacked])
  func unrecorded(_ mode: InstallMode) async throws {
    let offer = try await level(install: mode)
    _ = try await running(offer)
    let content = try stage.directory.tree("store/packs")
    let release = try CatalogueRelease(1, [], catalogue: [offer])
    for isDamaged in [false, true] {
      for name in release.names { try FileManager.default.removeItem(atPath: stage.directory("store/catalogue/\(name)")) }
      if isDamaged {
        try stage.directory.write([1, 2, 3], to: "store/state/level")
      } else {
        try FileManager.default.removeItem(atPath: stage.directory("store/state/level"))
      }
      let store = try await stage.open(as: "after-\(isDamaged)")
      let findings = try await store.reconcile()
      // A pack file names itself, so a damaged record is rebuilt from it.
      if isDamaged, mode == .packed {
        #expect(findings.map(\.kind) == [.damagedRecord])
      } else {
        #expect(findings.map(\.kind) == [.undecided] && findings.allSatisfy { !$0.isRepaired })
        #expect(try await store.reconcile().map(\.kind) == [.undecided])
      }
      #expect(try stage.directory.tree("store/packs") == content)
      try release.deliver(to: store)
      if !(isDamaged && mode == .packed) {
        #expect(try await store.reconcile().map(\.kind) == [isDamaged ? .damagedRecord : .adopted])
      }
      #expect(try await store.reconcile() == [])
      try await store.activate("level", onTrial: false)
      #expect(try await store.current("level")?.version == 1)
    }
  }

  @Test("priorities of tags need no shard if the tag is known, all shards if it is not, and are kept while one is missing")
  func tags() async throws {
    let (offer, arena) = (try await level(tags: ["world", "all"]), try await level(1, "arena"))
    let store = try await stage.open()
    let release = try CatalogueRelease(1, [try await stage.offer("core")], catalogue: [offer, arena], count: 2)
    try await store.adopt(release.document)
    func attempt(_ tag: String) async -> PackError? {
      await failure { () async throws(PackError) in try await store.setPreservation(0.9, tags: [tag]) }
    }
    let error = await attempt("world")
    #expect(error?.code == .catalogueNotAvailable && error?.advice == .fetchShards(release.fileNames))
    try release.deliver(to: store, [0])
    #expect(await attempt("wurld")?.advice == .fetchShards([release.fileNames[1]]))
    #expect(await attempt("world") == nil)
    #expect(await attempt("all") == nil)
    try release.deliver(to: store, [1])
    #expect(await attempt("wurld")?.code == .unknownTag)
    let next = try CatalogueRelease(2, [], catalogue: [try await level(2, tags: ["all", "other"]), arena], count: 2)
    try await store.adopt(next.document)
    // The earlier shard is for display only.
    #expect(await attempt("world")?.code == .catalogueNotAvailable)
    #expect(try await store.preservation(ofTag: "world") == 0.9)
    try next.deliver(to: store)
    #expect(await attempt("other") == nil)
    #expect(try await store.preservation(ofTag: "world") == nil)
    #expect(try await store.preservation(ofTag: "all") == 0.9)
  }

  // MARK: Earlier shards

  /// Makes an offer with the same content under another name, which is cheaper than a pack.
  private func renamed(_ offer: StoreStage.Offer, _ id: String, _ version: UInt64 = 1) -> StoreStage.Offer {
    var renamed = offer
    (renamed.entry.id, renamed.entry.version) = (id, version)
    return renamed
  }

  @Test("only shards that changed are missing, and until they are here, their predecessors are listed and nothing else")
  func earlier() async throws {
    let (core, sample) = (try await stage.offer("core"), try await level())
    let ids = try (0..<4).map { try SmallCatalogue.id("pack", in: $0, of: 4) }
    let offers = ids.map { renamed(sample, $0) }
    let first = try CatalogueRelease(1, [core], catalogue: offers, count: 4)
    let store = try await stage.open()
    try await store.adopt(first.document)
    #expect(try await store.listing().packs == [core.entry])
    try first.deliver(to: store)
    let whole = try await store.listing()
    let all = offers.map(\.entry).sorted { $0.id.precedes($1.id) }
    #expect(whole.isComplete && whole.outdated.isEmpty && whole.packs == [core.entry] + all)

    // One pack has another version, one moves to the manifest, and one is new. Its shard and that of the last one stay as they are.
    let (changed, moved) = (renamed(sample, ids[0], 2), renamed(sample, ids[1]))
    let next = try CatalogueRelease(2, [core, moved], catalogue: [changed, offers[2], offers[3]], count: 4)
    try await store.adopt(next.document)
    #expect(try store.catalogue.missing(of: next.manifest) == [0, 1])
    for number in [2, 3] { #expect(next.name(number) == first.name(number)) }
    #expect(kept == first.names)
    let listing = try await store.listing()
    #expect(!listing.isComplete && listing.missing == [0, 1] && listing.outdated == [ids[0]])
    #expect(listing.packs == [core.entry, moved.entry] + all.filter { $0.id != ids[1] })
    #expect(!listing.current.map(\.id).contains(ids[0]))
    #expect(try await store.lookUp(Set(ids)).unknown == [ids[0]])
    #expect(await attempt(store, offers[0])?.code == .catalogueNotAvailable)

    // An earlier shard is verified, too.
    let place = "store/catalogue/\(first.name(0))"
    let bytes = try #require(stage.directory.bytes(of: place))
    try stage.directory.write(bytes.reversed(), to: place)
    #expect(try await store.listing().outdated == [])
    try stage.directory.write(bytes, to: place)
    #expect(try await store.listing().outdated == [ids[0]])

    try next.deliver(to: store, [0])
    #expect(try await store.listing().packs.contains(changed.entry) && kept.contains(next.name(0)) && !kept.contains(first.name(0)))
    #expect(try await store.listing().missing == [1])
    try next.deliver(to: store, [1])
    #expect(try await store.listing().isComplete && kept == next.names)
  }

  @Test("where the number of shards changes, the earlier ones are freed when all of the new ones are here")
  func otherNumber() async throws {
    let sample = try await level()
    let ids = try (0..<4).map { try SmallCatalogue.id("pack", in: $0, of: 4) }
    let offers = ids.map { renamed(sample, $0) }
    let store = try await stage.open()
    for (version, count) in [(1, 1), (2, 2), (3, 4), (4, 1)] as [(UInt64, Int)] {
      let release = try CatalogueRelease(version, [], catalogue: offers, count: count)
      let before = kept
      try await store.adopt(release.document)
      #expect(try store.catalogue.missing(of: release.manifest) == Array(0..<count))
      for number in 0..<count {
        #expect(Set(kept).isSuperset(of: before))
        #expect(try await store.lookUp(Set(ids)).unknown.isEmpty == false)
        try release.deliver(to: store, [number])
      }
      #expect(kept == release.names)
      let lookup = try await store.lookUp(Set(ids))
      #expect(lookup.unknown.isEmpty && Set(lookup.packs.values) == Set(offers.map(\.entry)))
      #expect(try await store.listing().isComplete)
    }
    // A manifest without a catalogue needs none of them, and files of others stay.
    try stage.directory.write([1], to: "store/catalogue/notes.txt")
    try await store.adopt(CatalogueRelease(5, [sample], catalogue: []).document)
    #expect(kept == ["notes.txt"])
    #expect(try await store.listing().packs == [sample.entry])
  }

  // MARK: What works

  @Test("an update of a pack in a catalogue is planned, installed and rolled back, and its earlier shard is freed")
  func update() async throws {
    let old = try await level(1)
    let store = try await running(old)
    let new = try await level(2)
    let release = try CatalogueRelease(2, [], catalogue: [new, try await level(1, "other")])
    let first = kept
    try await store.adopt(release.document)
    #expect(first.count == 1 && kept == first)
    try release.deliver(to: store)
    #expect(kept == release.names)
    // Packs that the device does not have are no downloads.
    #expect(try await store.plan().downloads.map(\.id) == ["level"])
    #expect(try await store.plan(wanting: ["other", "unheard"]).downloads.map(\.id) == ["level", "other"])
    #expect(await attempt(store, new) == nil)
    _ = try await store.activate("level")
    try await store.rollback("level", reason: "a test")
    #expect(try await store.current("level")?.version == 1)
    #expect(try await store.plan().failed.map(\.version) == [2])
    #expect(try await store.reconcile() == [])
    #expect(kept == release.names)
  }

  @Test("a shard is read once for all ids, and counts for no other manifest")
  func readOnce() async throws {
    let offer = try await level()
    let files = FaultyFiles()
    let store = try await stage.open(files: files)
    let release = try CatalogueRelease(1, [], catalogue: [offer])
    try await store.adopt(release.document)
    #expect(try await store.lookUp(["level", "more"]).unknown == ["level", "more"])
    try release.deliver(to: store)
    func reads(_ ids: Set<String>) async throws -> Int {
      let before = files.calls.count { $0.operation == .open && $0.name.hasSuffix(".shard") }
      #expect(try await store.lookUp(ids).packs == (ids.contains("level") ? ["level": offer.entry] : [:]))
      return files.calls.count { $0.operation == .open && $0.name.hasSuffix(".shard") } - before
    }
    #expect(try await reads(["level", "more"]) == 1)
    #expect(try await reads(["more"]) == 0)
    #expect(try await reads(["nothing", "level"]) == 0)
    let next = try CatalogueRelease(2, [], catalogue: [try await level(2)])
    try await store.adopt(next.document)
    #expect(try await store.lookUp(["level"]).unknown == ["level"])
    try next.deliver(to: store)
    #expect(try await store.lookUp(["level"]).packs["level"]?.version == 2)
  }

  @Test("a pack that was purged is planned again, one that was removed is not")
  func removed() async throws {
    let offer = try await level()
    let store = try await running(offer)
    #expect(try await store.purge(toFree: 1).removed.map(\.pack.id) == ["level"])
    #expect(try await store.plan().downloads == [offer.entry])
    #expect(await attempt(store, offer) == nil)
    try await store.remove("level")
    #expect(try await store.plan().isEmpty)
  }

  @Test("the shards that are in a directory are taken from there, and no file that is too large")
  func takingShards() async throws {
    let (level, arena) = (try await level(), try await level(1, "arena"))
    let release = try CatalogueRelease(1, [], catalogue: [level, arena], count: 2)
    let store = try await stage.open()
    try await store.adopt(release.document)
    try await store.takeShards(from: stage.directory("nothing"))
    let folder = stage.directory("dist")
    try stage.directory.write(release.files[1].bytes, to: "dist/\(release.fileNames[1])")
    try await store.takeShards(from: folder)
    #expect(kept == [release.name(1)])
    #expect(await attempt(store, arena) == nil)
    #expect(await attempt(store, level)?.code == .catalogueNotAvailable)
    try stage.directory.write(release.files[0].bytes + [0], to: "dist/\(release.fileNames[0])")
    #expect(await failure { () async throws(PackError) in try await store.takeShards(from: folder) }?.code == .wrongShard)
    try stage.directory.write(release.files[0].bytes, to: "dist/\(release.fileNames[0])")
    try await store.takeShards(from: folder)
    // Adopting the same manifest again frees none of them.
    try await store.adopt(release.document)
    #expect(kept == release.names)
    #expect(try await store.lookUp(["level"]).packs == ["level": level.entry])
  }

  @Test("a release folder is installed with the packs of its catalogue, also by file name, and a missing or wrong shard is named")
  func releaseFolder() async throws {
    func published(_ offer: StoreStage.Offer) -> StoreStage.Offer {
      var offer = offer
      offer.entry.url = StoreStage.base + ManifestPack.publishedName(offer.entry.id, offer.entry.sha256)
      return offer
    }
    let offers = [published(try await stage.offer("core")), published(try await level()), published(try await level(1, "other"))]
    let release = try CatalogueRelease(1, [offers[0]], catalogue: Array(offers[1...]))
    try stage.directory.write(release.document.bytes, to: "dist/manifest.json")
    for offer in offers {
      try FileManager.default.copyItem(atPath: offer.path, toPath: stage.directory("dist/\(offer.entry.fileName)"))
    }
    let name = release.fileNames[0]
    func install(_ installation: ReleaseInstallation, in store: AssetStore) async throws(PackError) -> [String] {
      try await installation.run(in: store, taking: .copying, mode: nil) { (_, install) async throws(PackError) in try await install(nil) }
        .installed.map(\.pack.id)
    }
    func refusal(_ installation: ReleaseInstallation, in store: AssetStore) async -> PackError? {
      await failure { () async throws(PackError) in _ = try await install(installation, in: store) }
    }
    let store = try await stage.open()
    let whole = try ReleaseInstallation(release: stage.directory("dist"))
    let file = ReleaseInstallation(files: [stage.directory("dist/\(offers[1].entry.fileName)")], as: nil)
    let named = ReleaseInstallation(files: [offers[2].path], as: "other")
    for installation in [whole, file, named] {
      let error = await refusal(installation, in: store)
      #expect(error?.code == .catalogueNotAvailable && error?.advice == .fetchShards([name]))
    }
    try stage.directory.write(release.files[0].bytes.reversed(), to: "dist/\(name)")
    for installation in [whole, file] { #expect(await refusal(installation, in: store)?.code == .wrongShard) }
    try stage.directory.write(release.files[0].bytes, to: "dist/\(name)")
    #expect(try await install(file, in: store) == ["level"])
    #expect(try await install(named, in: store) == ["other"])
    try await store.remove("other")
    #expect(try await install(whole, in: store) == ["core", "other"])
    #expect(try await install(whole, in: store) == [])
    // A store without room for all of them does not have what was removed for the others, and that is told.
    let sizes = try await store.installed().map(\.sizeOnDevice)
    for id in ["core", "level", "other"] { try await store.remove(id) }
    let quota = try await store.usage().reduce(0) { $0 + $1.sizeOnDevice } + sizes.reduce(0, +) - (try #require(sizes.min())) / 2
    let tight = try await stage.open(as: "tight", StorePolicy(quota: quota, freeSpaceMargin: 0))
    let outcome = try await whole.run(in: tight, taking: .copying, mode: nil) { (_, install) async throws(PackError) in
      try await install(nil)
    }
    #expect(!outcome.displaced.isEmpty && outcome.displaced == outcome.removed.map(\.id).sorted())
    #expect((outcome.displaced + outcome.installed.map(\.pack.id)).sorted() == ["core", "level", "other"])
  }

  @Test("a release folder is installed shard by shard, after the packs of the manifest itself")
  func shardByShard() async throws {
    var offers: [StoreStage.Offer] = []
    for id in ["zoo", "a", "b", "c", "d", "e", "f"] {
      var offer = try await level(1, id)
      offer.entry.url = StoreStage.base + ManifestPack.publishedName(id, offer.entry.sha256)
      offers.append(offer)
    }
    let release = try CatalogueRelease(1, [offers[0]], catalogue: Array(offers[1...]), count: 4)
    try stage.directory.write(release.document.bytes, to: "dist/manifest.json")
    for (name, file) in zip(release.fileNames, release.files) { try stage.directory.write(file.bytes, to: "dist/\(name)") }
    for offer in offers {
      try FileManager.default.copyItem(atPath: offer.path, toPath: stage.directory("dist/\(offer.entry.fileName)"))
    }
    let outcome = try await ReleaseInstallation(release: stage.directory("dist")).run(in: stage.open(), taking: .copying, mode: nil) {
      (_, install) async throws(PackError) in try await install(nil)
    }
    let ids = outcome.installed.map(\.pack.id)
    let shards = try ids.dropFirst().map { try Shard.number(of: $0, among: 4) }
    #expect(ids.first == "zoo" && Set(ids).count == 7)
    #expect(shards == shards.sorted() && Set(shards).count > 1)
    // By their ids they would not be.
    #expect(try ids.dropFirst().sorted().map { try Shard.number(of: $0, among: 4) } != shards)
  }

  // MARK: Versions never get lower

  @Test("a lower version in a catalogue is not installed while the higher one is on the device, and the next release works")
  func lowerVersion() async throws {
    let (first, second) = (try await level(1), try await level(2))
    let store = try await running(second)
    let lower = try CatalogueRelease(2, [], catalogue: [first])
    try await store.adopt(lower.document)
    try lower.deliver(to: store)
    let error = await attempt(store, first)
    #expect(error?.code == .manifestRollback && error?.advice == .fetchManifestAgain)
    #expect(error?.message == "manifest has version 1 of pack 'level', but version 2 was installed before")
    #expect(try await store.plan().failed == [first.entry])
    #expect(try await store.plan().downloads.isEmpty)
    try await expectRunning(second, in: store)
    let next = try CatalogueRelease(3, [], catalogue: [try await level(3)])
    try await store.adopt(next.document)
    try next.deliver(to: store)
    #expect(try await store.plan().downloads.map(\.version) == [3])

    // Who removes the pack takes whatever is offered.
    try await store.remove("level")
    let last = try CatalogueRelease(4, [], catalogue: [first])
    try await store.adopt(last.document)
    try last.deliver(to: store)
    #expect(await attempt(store, first) == nil)
  }

  @Test("a pack that moves from the manifest to the catalogue and back never gets lower on the device")
  func moving() async throws {
    let store = try await stage.open()
    let (first, second, third) = (try await level(1), try await level(2), try await level(3))
    let other = try await level(1, "other")
    try await store.adopt(CatalogueRelease(1, [second], catalogue: [other]).document)
    #expect(await attempt(store, second) == nil)
    let toCatalogue = try CatalogueRelease(2, [], catalogue: [first])
    try await store.adopt(toCatalogue.document)
    try toCatalogue.deliver(to: store)
    #expect(await attempt(store, first)?.code == .manifestRollback)
    try await store.adopt(CatalogueRelease(3, [first], catalogue: [other]).document)
    #expect(await attempt(store, first)?.code == .manifestRollback)
    #expect(try await store.plan().failed == [first.entry])
    let back = try CatalogueRelease(4, [third], catalogue: [other])
    try await store.adopt(back.document)
    #expect(await attempt(store, third) == nil)
    // Now the manifest itself vouched for it.
    let lower = try CatalogueRelease(5, [second], catalogue: [])
    #expect(await failure { () async throws(PackError) in try await store.adopt(lower.document) }?.code == .manifestRollback)
  }

  @Test("a version that a thief signed does not keep the publisher's out once the key is dropped, and the thief cannot make one lower")
  func thief() async throws {
    let (older, genuine, stolen) = (try await level(1), try await level(2), try await level(9))
    func adopt(_ release: CatalogueRelease, by store: AssetStore) async throws {
      try await store.adopt(release.document)
      try release.deliver(to: store)
    }
    do {
      let store = try await stage.open(as: "first", trusting: [0, 1])
      try await adopt(try CatalogueRelease(4, [], catalogue: [genuine]), by: store)
      #expect(await attempt(store, genuine) == nil)
      // The thief has key 1.
      try await adopt(try CatalogueRelease(5, [], catalogue: [older], signedBy: 1), by: store)
      #expect(await attempt(store, older)?.code == .manifestRollback)
      let theft = try CatalogueRelease(6, [], catalogue: [stolen], signedBy: 1)
      try await adopt(theft, by: store)
      #expect(await attempt(store, stolen) == nil)
      try await adopt(try CatalogueRelease(7, [], catalogue: [genuine]), by: store)
      #expect(try await store.plan().failed.map(\.version) == [2])
      // A shard of the thief's release is another file, and nothing leads to it.
      try stage.directory.write(theft.files[0].bytes, to: "store/catalogue/\(theft.name(0))")
      #expect(try await store.plan().failed.map(\.version) == [2])
    }
    stage.end("first")
    let store = try await stage.open(as: "next", trusting: [0])
    #expect(try await store.plan().installed == ["level"])
    #expect(await attempt(store, genuine) == nil)
    // The publisher's earlier version still counts.
    try await adopt(try CatalogueRelease(8, [], catalogue: [older]), by: store)
    #expect(await attempt(store, older)?.code == .manifestRollback)
  }

  @Test("a version that a new key vouches for again stays remembered when the old key is dropped")
  func rotation() async throws {
    let (older, genuine) = (try await level(1), try await level(2))
    let releases = [
      try CatalogueRelease(1, [], catalogue: [genuine]), try CatalogueRelease(2, [], catalogue: [genuine], signedBy: 1),
    ]
    do {
      let store = try await stage.open(as: "first", trusting: [0, 1])
      try await store.adopt(releases[0].document)
      try releases[0].deliver(to: store)
      #expect(await attempt(store, genuine) == nil)
      #expect(try await store.adopt(releases[1].document).installed == ["level"])
    }
    stage.end("first")
    let store = try await stage.open(as: "next", trusting: [1])
    let lower = try CatalogueRelease(3, [], catalogue: [older], signedBy: 1)
    try await store.adopt(lower.document)
    try lower.deliver(to: store)
    #expect(await attempt(store, older)?.code == .manifestRollback)
  }
}
