import TestSupport
import Testing

@testable import PackApp

/// When changes of state and store reach the disk, although no lock is held while something waits for it.
@Suite("The order of changes", .bounded)
struct ChangeOrderTests {
  private let place: DeliveryStage
  private var stage: StoreStage { place.stage }
  private let files = FaultyFiles()

  init() throws {
    place = try DeliveryStage()
  }

  @Test("a change has reached the disk when it is reported")
  func settled() async throws {
    let offer = try await stage.offer("core", 1)
    let store = try await stage.open(files: files)
    let delivery = AppDelivery(state: try place.state(files), store: store)
    try await delivery.adopt(try stage.manifest(1, [offer]).bytes)
    let calls: [() async throws -> Void] = [
      { _ = try await delivery.plan(asked: ["core"], downloads: []) },
      { _ = try delivery.state.park(try place.download(offer), asDownload: TagStage.identifier(offer)) },
      { _ = try await delivery.install(try await delivery.plan()) },
      { try await store.activate("core", version: 1) },
      { try await store.setPreservation(0.5, of: "core") },
      { try await store.remove("core") },
    ]
    for call in calls {
      let before = files.calls.count
      try await call()
      // What is in the trash is removed at the next start, too.
      let last = files.calls[before...].last { [.rename, .order, .sync].contains($0.operation) && !$0.name.hasPrefix("trash/") }
      #expect(last?.operation == .sync, "\(files.calls[before...].suffix(30).map { "\($0.operation) \($0.name)" })")
    }
  }

  @Test("content leaves its place after the record that no longer names it")
  func discarded() async throws {
    let offer = try await stage.offer("core", 1)
    let store = try await stage.open(files: files)
    try await store.adopt(try stage.manifest(1, [offer]))
    _ = try await store.install(offer.path, as: "core", taking: .copying)
    let before = files.calls.count
    try await store.remove("core")
    let calls = files.calls[before...]
    let record = try #require(calls.firstIndex { $0.operation == .remove && $0.name == "state/core" })
    let content = try #require(calls.firstIndex { $0.operation == .rename && $0.name.hasPrefix("trash/") })
    #expect(record < content && calls[record..<content].contains { $0.operation == .order })
  }
}
