import TestSupport
import Testing

/// Tests for each of the errors in the usual sample of an app with background downloads.
@Suite("The weaknesses of the usual sample")
struct KnownWeaknessTests {
  private let disk = MemoryDisk()
  private let clock = TestClock()

  private func open() throws(PackError) -> SharedState { try .sample(MemoryFiles(disk), clock) }

  private func plan(_ manifest: Manifest, _ facts: DeliveryFacts) throws(PackError) -> DeliveryPlan {
    try open().plan(for: manifest, facts: facts).plan
  }

  private func launch(_ device: [DevicePack], _ downloads: Set<String> = []) -> DeliveryFacts {
    DeliveryFacts(.launch, at: clock.secondsSince1970, device: device, downloads: downloads)
  }

  @Test("offline wipe: without a manifest no record is removed, and the next manifest finds everything as before")
  func offlineWipe() throws {
    let packs = manifest(offer("ready"), offer("waiting"), offer("loading"))
    _ = try plan(packs, launch([installed("ready")]))
    _ = try open().park(disk.downloaded(), asDownload: identifier("waiting"))
    let before = disk.tree()
    for document in [[UInt8](), Array("{}".utf8), Array("{\"packages\":[]}".utf8)] {
      let error = failure { () throws(PackError) in _ = try open().accept(document) { (_) throws(PackError) in } }
      #expect(error?.code == .damagedManifest)
    }
    #expect(try open().downloadFailed(.manifest, .offline) == .keepEverything)
    #expect(disk.tree() == before)
    let after = try plan(packs, launch([installed("ready")], [identifier("loading")]))
    #expect(after.ready == ["ready"] && after.handOver.map(\.id) == ["waiting"] && after.underWay == ["loading"] && after.downloads.isEmpty)
  }

  @Test("offline wipe: a trusted manifest without packs makes packs obsolete, but deletes none")
  func emptyManifest() throws {
    _ = try plan(manifest(offer("a"), offer("b")), launch([installed("a")]))
    _ = try open().park(disk.downloaded(), asDownload: identifier("b"))
    let empty = try plan(manifest(), launch([installed("a")]))
    #expect(empty.obsolete.map(\.id) == ["a"] && empty.obsolete.map(\.installed) == [[installed("a")]])
    #expect(empty.orphans == [identifier("b")])
    #expect(try open().content().files.count == 1)
    let back = try plan(manifest(offer("a"), offer("b")), launch([installed("a")]))
    #expect(back.ready == ["a"] && back.handOver.map(\.id) == ["b"] && back.downloads.isEmpty)
  }

  @Test("stale content: after an update a pack is ready when its new bytes are on the device, not when any version of it is")
  func staleContent() throws {
    _ = try plan(manifest(offer("a")), launch([installed("a")]))
    let update = manifest(offer("a", 2))
    #expect(try plan(update, launch([installed("a")])).downloads.map(\.bytes.version) == [2])
    _ = try open().park(disk.downloaded(), asDownload: identifier("a", 2))
    let waiting = try plan(update, launch([installed("a")]))
    #expect(waiting.handOver.map(\.bytes.version) == [2] && waiting.ready.isEmpty)
    _ = try open().finishInstall(waiting.handOver[0], .installed)
    #expect(try plan(update, launch([installed("a"), installed("a", 2)])).ready == ["a"])
  }

  @Test("move onto an existing file: an existing file is replaced")
  func moveOntoExisting() throws {
    let state = try open()
    try state.schedule(offer("a"))
    _ = try state.park(disk.downloaded(filling: 1), asDownload: identifier("a"))
    #expect(try state.park(disk.downloaded(filling: 2), asDownload: identifier("a")) == .moved)
    #expect(disk.bytes(of: "/group/incoming/\(identifier("a"))")?.first == 2)
  }

  @Test("an id in two lists: a new version while the old file waits is one download and nothing else")
  func twoLists() throws {
    try open().schedule(offer("a"))
    _ = try open().park(disk.downloaded(), asDownload: identifier("a"))
    let update = try plan(manifest(offer("a", 2)), launch([]))
    #expect(lists(of: "a", in: update) == ["downloads"])
    #expect(update.downloads.map(\.bytes.version) == [2])
    #expect(update.orphans == [identifier("a")], "the old file is reported")
    #expect(try open().content().files.count == 1, "and not deleted by planning")
    #expect(lists(of: "a", in: try plan(manifest(offer("a", 2)), launch([], [identifier("a", 2)]))) == ["underWay"])
    #expect(try open().discard(update.orphans) == 1000)
  }

  @Test("orphans: dropped packs are reported while anything of them is on the device; then their records are removed")
  func orphans() throws {
    _ = try plan(manifest(offer("a"), offer("b")), launch([installed("a")]))
    for _ in 0..<3 {
      let dropped = try plan(manifest(), launch([installed("a")], [identifier("b")]))
      #expect(dropped.obsolete.map(\.id) == ["a"])
      #expect(dropped.cancellations == [identifier("b")])
    }
    #expect(try open().content().records.isEmpty)
    #expect(try plan(manifest(), launch([])).obsolete.isEmpty)
    #expect(try plan(manifest(), launch([installed("unheard-of")])).obsolete.map(\.id) == ["unheard-of"])
  }

  @Test("a purged cache: a pack that was there and that the store does not have is downloaded again")
  func purgedCache() throws {
    let packs = manifest(offer("a"))
    #expect(try plan(packs, launch([installed("a")])).ready == ["a"])
    #expect(try plan(packs, launch([])).downloads.map(\.id) == ["a"])
    _ = try open().park(disk.downloaded(), asDownload: identifier("a"))
    #expect(try plan(packs, launch([])).handOver.map(\.id) == ["a"])
    disk.remove("/group/incoming/\(identifier("a"))")
    #expect(try plan(packs, launch([])).downloads.map(\.id) == ["a"], "also if its file was waiting")
    _ = try open().park(disk.downloaded(), asDownload: identifier("a"))
    disk.remove("/group/incoming/\(identifier("a"))")
    // Before any plan saw the file, it is a download that the system does not have any more.
    clock.advance(Int64(exact.missingSeconds))
    #expect(try plan(packs, launch([])).downloads.map(\.id) == ["a"])
  }

  @Test("missing checks: a file with the wrong size is never handed over, and one with the wrong bytes never becomes ready")
  func integrity() throws {
    let packs = manifest(offer("a"))
    _ = try plan(packs, launch([]))
    guard case .wrongSize = try open().park(disk.downloaded(size: 7), asDownload: identifier("a")) else { return #expect(Bool(false)) }
    clock.advance(60)
    _ = try plan(packs, launch([]))
    _ = try open().park(disk.downloaded(), asDownload: identifier("a"))
    let file = try #require(try plan(packs, launch([])).handOver.first)
    #expect(file.bytes.sha256 == digest("a", 1), "the digest that the store checks")
    _ = try open().finishInstall(file, .failed(.wrongBytes))
    #expect(try plan(packs, launch([])).reason(of: "a") == .failed(.wrongBytes, secondsLeft: 120))
    #expect(try open().content().files.isEmpty)
  }

  @Test("rewriting everything: a progress callback writes nothing, a change of state writes one record")
  func wholeBlob() throws {
    _ = try plan(manifest((0..<100).map { offer("p\($0)") }), DeliveryFacts(.periodic, at: now))
    let files = MemoryFiles(disk)
    let state = try SharedState.sample(files, clock)
    let before = disk.tree()
    try state.note(.began, ofDownload: identifier("p7"))
    let changed = disk.tree().filter { before[$0.key] != $0.value }.keys
    #expect(Array(changed) == ["group/packs/p7"])
    let changes = files.changeCount
    for _ in 0..<1000 { try state.note(.began, ofDownload: identifier("p7")) }
    #expect(files.changeCount == changes)
  }

  @Test("a failed download is not skipped: it starts again after its delay, or at once if it was essential")
  func failedDownload() throws {
    let packs = manifest(offer("a"), offer("e", .essential))
    _ = try plan(packs, DeliveryFacts(.install, at: now))
    #expect(try open().downloadFailed(.download(identifier: identifier("e")), .offline) == .handOverAsNonEssential)
    #expect(try open().status(of: "e")?.state == .scheduled)
    _ = try open().downloadFailed(.download(identifier: identifier("a")), .offline)
    #expect(try plan(packs, launch([], [identifier("e")])).reason(of: "a") == .failed(.offline, secondsLeft: 60))
    clock.advance(60)
    #expect(try plan(packs, launch([], [identifier("e")])).downloads.map(\.id) == ["a"])
  }
}
