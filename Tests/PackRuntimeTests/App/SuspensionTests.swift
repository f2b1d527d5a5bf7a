import TestSupport
import Testing

@testable import PackApp

/// iOS ends an app that holds a lock in the container of an app group while it is suspended.
@Suite("Suspension", .bounded)
struct SuspensionTests {
  private let place: DeliveryStage
  private var stage: StoreStage { place.stage }
  private let files = FaultyFiles()

  init() throws {
    place = try DeliveryStage()
  }

  private func tree() throws -> [String] {
    ["shared", "shared/packs", "shared/incoming", "store", "store/packs", "store/state", "store/staging"].flatMap { name in
      stage.directory.names(in: name).map { "\(name)/\($0)" }
    }
  }

  @Test("locks of store and state are held in an activity, and not while something waits for the disk")
  func locks() async throws {
    let (old, new) = (try await stage.offer("core", 1), try await stage.offer("core", 2))
    let store = try await stage.open(files: files)
    let delivery = AppDelivery(state: try place.state(files), store: store)
    _ = try await delivery.start()
    for (number, offer) in [old, new].enumerated() {
      try await delivery.adopt(try stage.manifest(UInt64(number) + 1, [offer]).bytes)
      let plan = try await delivery.plan(asked: ["core"], downloads: [])
      _ = try delivery.state.park(place.download(offer), asDownload: TagStage.identifier(offer))
      #expect(plan.downloads.count == 1)
      #expect(try await delivery.install(try await delivery.plan()).compactMap(\.installed).count == 1)
      try await store.activate("core", version: offer.entry.version)
    }
    _ = try await store.rollback("core", reason: "test")
    try await store.remove("core")
    let activities = files.activities.withLock { $0 }
    #expect(activities.begun > 10 && activities.ended == activities.begun)
    #expect(activities.unprotectedLocks == 0)
    #expect(activities.lockedSyncs == 0)
  }

  @Test("when the system is about to suspend the app, nothing is locked or changed, and later everything goes on")
  func refused() async throws {
    let offer = try await stage.offer("core", 1)
    let store = try await stage.open(files: files)
    let delivery = AppDelivery(state: try place.state(files), store: store)
    try await delivery.adopt(try stage.manifest(1, [offer]).bytes)
    _ = try await delivery.plan(asked: ["core"], downloads: [])
    let before = try tree()
    files.activities.withLock { $0.isRefused = true }
    let file = try place.download(offer)
    let locked = files.calls.count { $0.operation == .lock }
    func code(_ body: () async throws(PackError) -> Void) async -> PackError.Code? { await failure(body)?.code }
    #expect(await code { () throws(PackError) in try delivery.state.cancel("core") } == .stateBusy)
    #expect(await code { () async throws(PackError) in try await store.install(offer.path, as: "core", taking: .copying) } == .storeBusy)
    #expect(await code { () async throws(PackError) in try await store.adopt(try stage.manifest(2, [offer])) } == .storeBusy)
    #expect(files.calls.count { $0.operation == .lock } == locked)
    #expect(try tree() == before)
    // The system removes the file when its callback returns: it is moved at once, and found by the next plan.
    _ = try delivery.state.park(file, asDownload: TagStage.identifier(offer))
    #expect(files.calls.count { $0.operation == .lock } == locked)
    #expect(place.waiting == [TagStage.identifier(offer)])
    files.activities.withLock { $0.isRefused = false }
    #expect(try await delivery.install(try await delivery.plan()).compactMap(\.installed).count == 1)
  }
}
