import Foundation
import TestSupport
import Testing

@testable import PackApp
@testable import PackBase
@testable import PackRuntime
@testable import PackStore

@Suite("Space and requests by tags", .bounded)
struct TagSpaceTests {
  let tags: TagStage
  private var stage: StoreStage { tags.stage }

  init() throws {
    tags = try TagStage()
  }

  // MARK: Preservation

  /// Installs and activates packs of 20 kB.
  private func fill(_ store: AssetStore, _ packs: [(String, [String], DeliveryClass)]) async throws -> [StoreStage.Offer] {
    var offers: [StoreStage.Offer] = []
    for (id, names, delivery) in packs { offers.append(try await tags.offer(id, tags: names, size: 20_000, delivery: delivery)) }
    try await store.adopt(stage.manifest(1, offers))
    try await tags.deliver(offers, to: store)
    return offers
  }

  @Test("for a pack with several tags the highest priority counts, and a priority of the pack itself overrides it")
  func preservation() async throws {
    let store = try await stage.open()
    let offers = try await fill(
      store,
      [
        ("a", ["low", "high"], .onDemand), ("b", ["low"], .onDemand), ("c", ["other"], .onDemand), ("d", ["high"], .onDemand),
        ("e", ["low", "other"], .essential), ("f", ["kept"], .onDemand), ("g", ["kept"], .onDemand),
      ])
    #expect(try await store.preservation(ofTag: "low") == nil)
    try await store.setPreservation(0.9, tags: ["high"])
    try await store.setPreservation(0.2, tags: ["low"])
    try await store.setPreservation(1, tags: ["kept"])
    try await store.setPreservation(0.1, of: "d")
    try await store.setPreservation(0.3, of: "g")
    #expect(try await store.preservation(ofTag: "low") == 0.2)
    // As another process sees it. The tag 'other' has no priority: 'c' has its default, and 'e' the priority of its other tag.
    let other = try await stage.open(as: "two")
    let removed = try await other.purge(toFree: .max).removed
    #expect(removed.map(\.pack.id) == ["d", "b", "e", "g", "c", "a"])
    #expect(removed[1].reason == "its preservation is 0.2, and space was short")
    #expect(try await other.installed().map(\.id) == ["f"])
    withExtendedLifetime(offers) {}
  }

  @Test("the priority of a tag applies to packs that get it later, and is dropped with the tag")
  func laterPacks() async throws {
    let store = try await stage.open()
    var offers = try await fill(store, [("a", ["dear"], .onDemand), ("b", ["cheap"], .onDemand)])
    try await store.setPreservation(1, tags: ["dear"])
    offers[1].entry.tags = ["dear"]
    offers[0].entry.tags = ["new"]
    try await store.adopt(stage.manifest(2, offers))
    #expect(try await store.purge(toFree: .max).removed.map(\.pack.id) == ["a"])
    offers[1].entry.tags = ["new"]
    try await store.adopt(stage.manifest(3, offers))
    #expect(try await store.preservation(ofTag: "dear") == 1)
    try await store.setPreservation(0.7, tags: ["new"])
    #expect(try await store.preservation(ofTag: "dear") == nil)
    #expect(try await store.preservation(ofTag: "new") == 0.7)
    #expect(try await store.reconcile().isEmpty)
  }

  @Test(
    "a damaged file of priorities is ignored and replaced",
    arguments: [
      "", "{}", "{\"schema\":\"packer-store-preservation/2\",\"tags\":[]}",
      "{\"schema\":\"packer-store-preservation/1\",\"tags\":[{\"priority\":1000001,\"tag\":\"dear\"}]}",
      "{\"schema\":\"packer-store-preservation/1\",\"tags\":[{\"priority\":1000000}]}",
      "{\"schema\":\"packer-store-preservation/1\"}",
      "{\"schema\":\"packer-store-preservation/1\",\"tags\":[{\"priority\":1,\"tag\":\"dear\"},{\"priority\":2,\"tag\":\"dear\"}]}",
    ])
  func damagedPriorities(text: String) async throws {
    let store = try await stage.open()
    _ = try await fill(store, [("a", ["dear"], .onDemand)])
    try stage.directory.write(Array(text.utf8), to: "store/preservation")
    #expect(try await store.preservation(ofTag: "dear") == nil)
    try await store.setPreservation(1, tags: ["dear"])
    #expect(try await store.preservation(ofTag: "dear") == 1)
    #expect(try await store.purge(toFree: .max).removed == [])
  }

  // MARK: Low space

  /// Starts an app that downloads to a volume that has `free` bytes of space while `isTight` returns true.
  private func open(
    _ transport: FaultyTransport, free: UInt64, isTight: @escaping @Sendable () -> Bool
  ) async throws -> (store: AssetStore, transport: FaultyTransport, packs: PackLibrary) {
    try await tags.start(transport, files: FaultyFiles { $0.operation == .freeSpace && isTight() ? .freeSpace(free) : nil })
  }

  @Test("a download without enough space makes the store purge packs, and continues")
  func purgeForDownload() async throws {
    let (store, transport, packs) = try await open(tags.transport(), free: 1000) { [stage] in
      !stage.directory.names(in: "store/packs").allSatisfy { $0.hasPrefix("b@") }
    }
    let offers = try await fill(store, [("a", ["old"], .onDemand), ("b", ["old"], .essential)])
    let new = try await tags.offer("new", tags: ["new"], size: 15_000)
    try await store.adopt(stage.manifest(2, offers + [new]))
    let notices = packs.lowSpace()
    let access = try await TagRequest(["new"], of: packs).begin()
    #expect(access.packs.map(\.installed.id) == ["new"])
    let notice = await first(notices)
    #expect(notice?.packs == ["new"])
    #expect(notice?.missing == 0)
    #expect(notice?.removed.map(\.id) == ["a"])
    #expect(transport.calls.count == 1)
  }

  @Test("if purging would not be enough, nothing is removed, and error and notice say how many bytes are missing")
  func notEnough() async throws {
    let isTight = Monitor(true)
    let (store, _, packs) = try await open(tags.transport(), free: 1000) { isTight.withLock { $0 } }
    let offers = try await fill(store, [("a", ["old"], .onDemand), ("b", ["old"], .onDemand)])
    let new = try await tags.offer("new", tags: ["new"], size: 40_000)
    try await store.adopt(stage.manifest(2, offers + [new]))
    let notices = packs.lowSpace()
    // One of the two packs is in use, and the other is not large enough.
    let access = try await store.open("a")
    let size = try #require(try await store.current("b")).sizeOnDevice
    let error = await failure { () async throws(PackError) in _ = try await TagRequest(["new"], of: packs).begin() }
    let missing = new.entry.size - 1000 - size
    #expect(error?.code == .noSpace)
    #expect(error?.message == "pack 'new' was not downloaded: \(missing) bytes are missing on the volume")
    #expect(await first(notices) == LowSpace(packs: ["new"], missing: missing, removed: []))
    #expect(try await store.installed().map(\.id) == ["a", "b"])
    isTight.withLock { $0 = false }
    #expect(try await TagRequest(["new"], of: packs).begin().packs.count == 1)
    withExtendedLifetime(access) {}
  }

  @Test("if purging does not help because the store is on another volume, it stops, and all waiting requests fail")
  func otherVolume() async throws {
    let (store, _, packs) = try await open(tags.transport(), free: 1000) { true }
    let offers = try await fill(store, [("a", ["old"], .onDemand), ("b", ["old"], .onDemand), ("c", ["old"], .onDemand)])
    let new = try await tags.offer("new", tags: ["new", "also"], size: 15_000)
    try await store.adopt(stage.manifest(2, offers + [new]))
    let other = Task { await failure { () async throws(PackError) in _ = try await TagRequest(["also"], of: packs).begin() } }
    let error = await failure { () async throws(PackError) in _ = try await TagRequest(["new"], of: packs).begin() }
    #expect(error?.code == .noSpace)
    #expect(await other.value?.code == .noSpace)
    let left = try await store.installed()
    #expect(left.count >= 2)
  }

  @Test("parts of downloads that do not run and that nobody waits for are removed before installed packs")
  func abandoned() async throws {
    let isFirst = Monitor(true)
    let transport = tags.transport { _ in isFirst.withLock { $0 } ? .cut(at: 900, .timedOut) : nil }
    let (store, _, packs) = try await open(transport, free: 1000) { [tags] in isFirst.withLock { !$0 } && !tags.parts.isEmpty }
    let offers = try await fill(store, [("a", ["old"], .onDemand)])
    let more = try await [tags.offer("given-up", tags: ["given-up"], size: 20_000), tags.offer("new", tags: ["new"], size: 20_000)]
    try await store.adopt(stage.manifest(2, offers + more))
    let task = Task { await failure { () async throws(PackError) in _ = try await TagRequest(["given-up"], of: packs).begin() } }
    try await eventually("it does not begin") { !tags.parts.isEmpty }
    task.cancel()
    #expect(await task.value?.code == .cancelled)
    isFirst.withLock { $0 = false }
    #expect(try await TagRequest(["new"], of: packs).begin().packs.count == 1)
    #expect(try await store.installed().map(\.id).contains("a"))
  }

  @Test("a request for which there is no room keeps what is here of its packs")
  func ownPart() async throws {
    let new = try await tags.offer("new", tags: ["new"], size: 20_000)
    do {
      let (store, transport, packs) = try await tags.start(tags.transport { _ in .stuck(at: 900) })
      try await store.adopt(stage.manifest(1, [new]))
      let task = Task { try? await packs.ensure("new") }
      try await eventually("it does not begin") {
        try !tags.parts.isEmpty && packs.loop.delivery.state.status(of: "new")?.state.kind == .loading
      }
      task.cancel()
      _ = await task.value
      #expect(transport.running.count == 1)
      await packs.loop.stop()
      // After a plan that may be in progress.
      try? await packs.loop.bring()
    }
    stage.end("one")
    // Otherwise the pack would count as on its way.
    try FileManager.default.removeItem(atPath: stage.directory("shared"))
    let policy = StorePolicy(quota: 10_000, lockTimeout: .seconds(1000), freeSpaceMargin: 0)
    let (store, transport, packs) = try await tags.start(tags.transport(), session: "two", policy: policy)
    try await store.adopt(stage.manifest(2, [new]))
    let code = await failure { () async throws(PackError) in _ = try await TagRequest(["new"], of: packs).begin() }?.code
    #expect(code == .quotaExceeded && tags.parts.count == 1 && transport.calls.isEmpty)
  }

  @Test("packs without room in the store are not downloaded, and packs are purged if that makes room", arguments: InstallMode.allCases)
  func quota(install: InstallMode) async throws {
    let offers = try await fill(stage.open(), [("a", ["old"], .onDemand), ("b", ["old"], .onDemand)])
    let new = try await tags.offer("new", tags: ["new"], size: 30_000, install: install)
    let taken = try stage.sizeOnDevice()
    // Both installed packs must be purged.
    let quota = taken + new.entry.sizeOnDevice - 40_000
    let isOffline = Monitor(true)
    let (store, transport, packs) = try await tags.start(
      tags.transport { _ in isOffline.withLock { $0 } ? .failure(.offline) : nil }, session: "two",
      policy: StorePolicy(quota: quota, lockTimeout: .seconds(1000), freeSpaceMargin: 0))
    try await store.adopt(stage.manifest(2, offers + [new]))
    let notices = packs.lowSpace()
    let request = TagRequest(["new"], of: packs)
    let held = try await TagRequest(["old"], of: packs).begin()
    let error = await failure { () async throws(PackError) in _ = try await request.begin() }
    #expect(error?.code == .quotaExceeded)
    let missing = try #require(await first(notices)?.missing)
    #expect(missing > 0)
    #expect(error?.message.hasSuffix("\(missing) bytes are missing") == true)
    #expect(transport.calls.isEmpty)
    // As an app does after the notice.
    held.end()
    // Nothing is purged for a pack that is not downloaded.
    #expect(await failure { () async throws(PackError) in _ = try await request.begin() }?.code == .offline)
    #expect(try await store.installed().map(\.id) == ["a", "b"])
    isOffline.withLock { $0 = false }
    #expect(try await request.begin().packs.count == 1)
    let notice = await first(notices)
    #expect(notice?.missing == 0)
    #expect(notice.map { Set($0.removed.map(\.id)) } == ["a", "b"])
    #expect(try await store.installed().map(\.id) == ["new"])
  }

  @Test("if there is no space left when a pack has arrived, this is reported, and the pack is not downloaded again")
  func lackOnInstall() async throws {
    let transport = tags.transport()
    let isFull = Monitor(true)
    let files = FaultyFiles { call in
      call.operation == .freeSpace && isFull.withLock { $0 } && !transport.calls.isEmpty ? .freeSpace(1000) : nil
    }
    let (store, _, packs) = try await tags.start(transport, storeFiles: files)
    let offer = try await tags.offer("core", tags: ["boot"], install: .unpacked)
    try await store.adopt(stage.manifest(1, [offer]))
    let notices = packs.lowSpace()
    let request = TagRequest(["boot"], of: packs)
    let error = await failure { () async throws(PackError) in _ = try await request.begin() }
    #expect(error?.code == .noSpace)
    let missing = offer.entry.installSize - 1000
    #expect(error?.message.hasSuffix("\(missing) bytes are missing") == true)
    #expect(await first(notices) == LowSpace(packs: ["core"], missing: missing, removed: []))
    isFull.withLock { $0 = false }
    let access = try await request.begin()
    #expect(access.packs.count == 1)
    #expect(transport.calls.count == 1)
  }
}
