/// What a library stands on: a store that it fills itself, or asset packs that the system manages.
protocol LibraryBackEnd: Actor {
  nonisolated var changes: EventHub<LibraryLoop.Change> { get }
  nonisolated var notices: EventHub<LowSpace> { get }
  /// The packs that were made usable in this process, by name.
  nonisolated var opened: Monitor<[String: OpenedPack]> { get }
  nonisolated var exports: FileExports { get }
  nonisolated var logger: (any PackLogger)? { get }
  func ensure(_ ids: [String]) async throws(PackError)
  func play(_ id: String) async throws(PackError)
  func status(of id: String) async -> PackLibrary.Status
  func offers() async -> PackLibrary.Offers
  func refresh() async throws(PackError) -> Bool
  func resume() async
  func setLanguages(_ languages: [String]?) async throws(PackError)
  func cancel(_ id: String) async throws(PackError)
  func remove(_ id: String) async throws(PackError)
  func stop() async
}

extension LibraryBackEnd {
  /// Tells the status of a pack.
  func report(_ id: String) async { changes.tell(.pack(id, await status(of: id))) }

  /// Waits until a condition holds, which is looked at now, and after each change of one of the packs and of the list.
  ///
  /// - Parameters:
  ///   - isPlaying: Whether it may hold before the packs are here as a whole.
  ///   - begin: Begins what changes them.
  func waitForChanges(
    of ids: [String], isPlaying: Bool = false, beginning begin: () -> Void, until isDone: () async throws(PackError) -> Bool
  ) async throws(PackError) {
    let names = Set(ids)
    // One signal for any number of changes, so that none is missed.
    let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let listening = changes.handle { change in
      switch change {
      case .pack(_, .downloading): return
      case .pack(_, .playable) where !isPlaying: return
      default: break
      }
      if change.id.map(names.contains) ?? true { signal.yield() }
    }
    defer { withExtendedLifetime(listening) {} }
    for id in ids { await report(id) }
    begin()
    for await _ in signals where try await isDone() { return }
    throw PackError(
      .cancelled, "the request for \(ids.count == 1 ? "pack '\(printable(ids[0].utf8))'" : "\(ids.count) packs") was cancelled")
  }
}

extension LibraryLoop: LibraryBackEnd {
  nonisolated var logger: (any PackLogger)? { delivery.state.logger }

  func setLanguages(_ languages: [String]?) async throws(PackError) {
    var device = delivery.store.device
    device.languages = languages
    delivery.store.setDevice(device)
    try await bring()
  }
}
