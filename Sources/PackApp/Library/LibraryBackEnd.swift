/// What a library stands on: a store that it fills itself, or asset packs that the system manages.
protocol LibraryBackEnd: Actor {
  nonisolated var changes: EventHub<LibraryLoop.Change> { get }
  nonisolated var notices: EventHub<LowSpace> { get }
  /// The packs that were made usable in this process, by name.
  nonisolated var opened: Monitor<[String: OpenedPack]> { get }
  nonisolated var exports: FileExports { get }
  func ensure(_ ids: [String]) async throws(PackError)
  func status(of id: String) async -> PackLibrary.Status
  func offers() async -> PackLibrary.Offers
  func refresh() async throws(PackError) -> Bool
  func resume() async
  func setLanguages(_ languages: [String]?) async throws(PackError)
  func cancel(_ id: String) async throws(PackError)
  func remove(_ id: String) async throws(PackError)
  func stop() async
}

extension LibraryLoop: LibraryBackEnd {
  func setLanguages(_ languages: [String]?) async throws(PackError) {
    var device = delivery.store.device
    device.languages = languages
    delivery.store.setDevice(device)
    try await bring()
  }
}
