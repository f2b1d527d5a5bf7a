/// Downloads with ``Transfers``, which this process drives.
package struct TransferService: DownloadService {
  let state: SharedState
  package let transfers: Transfers

  package init(_ state: SharedState, _ transfers: Transfers) {
    self.state = state
    self.transfers = transfers
  }

  package var isListExact: Bool { true }

  package func events() -> AsyncStream<ServiceNotice> {
    let (stream, continuation) = AsyncStream.makeStream(of: ServiceNotice.self)
    let task = Task { [self] in
      for await event in transfers.events {
        continuation.yield(ServiceNotice(record: { await record(event) }, events: Self.translate(event)))
      }
      continuation.finish()
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }

  package func stop() async { await transfers.close() }

  package func underWay() async -> Set<String>? { await transfers.identifiers }

  package func hand(_ plan: DeliveryPlan, asked: Set<String>) async throws(PackError) {
    for identifier in plan.cancellations { await transfers.cancel(identifier) }
    await transfers.add(plan.downloads)
    try await transfers.removeParts { [state] (identifier) throws(PackError) in
      guard let record = try? state.status(of: identifier.id), record.identifier == identifier else { return false }
      switch record.state {
      case .notLoaded(.cancelled), .notLoaded(.arrived): return false
      case .notLoaded, .scheduled, .loading, .paused, .failed: return true
      }
    }
  }

  package func arriving(_ identifier: String) -> ArrivingPack? { transfers.arriving(identifier) }

  /// Whether a pack is read while it arrives, or was by an earlier process.
  func hasPieces(_ identifier: String) -> Bool { arriving(identifier) != nil || transfers.place.hasMap(identifier) }

  package func arrive(_ download: PlannedDownload) async -> ArrivingPack? { await transfers.arrive(download) }

  package func take(lead: String, of download: PlannedDownload) async -> Bool { await transfers.take(lead: lead, of: download) }

  package func setPriority(_ priority: Double, of identifier: String) async { await transfers.setPriority(priority, of: identifier) }

  package func cancel(_ id: String) async throws(PackError) {
    let identifier = try await WorkerPool.settled { [state] () throws(PackError) in
      let identifier = try state.status(of: id)?.identifier
      try state.cancel(id)
      return identifier
    }
    // Also what is kept of a download that failed.
    if let identifier { await transfers.cancel(identifier.description) }
  }

  package func availableSpace() async -> UInt64? { try? await transfers.availableSpace() }

  package func freeSpace(keeping ids: Set<String>, launchesOf required: [PlannedDownload]) async throws(PackError) -> Bool {
    let launches = required.filter { !ids.contains($0.id) && hasPieces($0.identifier.description) }
    var kept = Set(launches.map(\.identifier))
    // The others first, because a launch is copied.
    var isFreed = try await free(keeping: ids, kept)
    for download in launches {
      let isShorter = await transfers.shorten(download)
      if Task.isCancelled { throw PackError(.cancelled, "cancelled") }
      if isShorter == nil { kept.remove(download.identifier) }
      isFreed = isFreed || isShorter ?? false
    }
    if kept.count < launches.count, try await free(keeping: ids, kept) { isFreed = true }
    return isFreed
  }

  /// - Parameter kept: The downloads that stay besides those of the packs.
  private func free(keeping ids: Set<String>, _ kept: Set<DownloadIdentifier>) async throws(PackError) -> Bool {
    let ended = await transfers.cancelAll { DownloadIdentifier($0).map { ids.contains($0.id) || kept.contains($0) } ?? false }
    for identifier in ended { try await blocking { (state) throws(PackError) in try Self.giveUp(identifier, state) } }
    let isRemoved = try await transfers.removeParts { [state] (identifier) throws(PackError) in
      guard !ids.contains(identifier.id), !kept.contains(identifier) else { return true }
      try Self.giveUp(identifier.description, state)
      return false
    }
    return isRemoved || !ended.isEmpty
  }

  /// Records that a pack that was requested is not wanted any more. Those that the manifest requires come later.
  private static func giveUp(_ identifier: String, _ state: SharedState) throws(PackError) {
    guard let id = DownloadIdentifier(identifier)?.id, try state.status(of: id)?.isWanted == true else { return }
    try state.cancel(id)
  }

  // MARK: Events

  /// Records an event. The next plan finds what could not be recorded.
  package func record(_ event: TransferEvent) async {
    switch event {
    case .began(let identifier, _):
      try? await blocking { (state) throws(PackError) in try state.note(.began, ofDownload: identifier) }
    case .finished(let identifier, let path):
      // A file that is not needed is removed with the other parts.
      _ = try? await blocking { (state) throws(PackError) in try state.park(path, asDownload: identifier) }
      await transfers.settle(identifier)
    case .failed(let identifier, let failure, let hasGrown):
      _ = try? await blocking { (state) throws(PackError) in
        try state.downloadFailed(
          .download(identifier: identifier), failure.deliveryFailure, hasGrown: hasGrown, atLeast: failure.retryAfter)
      }
      await transfers.settle(identifier)
    case .progress, .playable, .offline, .online: break
    }
  }

  private func blocking(_ body: @escaping @Sendable (SharedState) throws(PackError) -> some Sendable) async throws(PackError) {
    _ = try await WorkerPool.settled { [state] () throws(PackError) in try body(state) }
  }

  package static func translate(_ event: TransferEvent) -> [ServiceEvent] {
    func pack(_ identifier: String) -> String { DownloadIdentifier(identifier)?.id ?? identifier }
    switch event {
    case .began, .finished: return [.changed]
    case .progress(let identifier, let received, let size): return [.progress(id: pack(identifier), received: received, size: size)]
    case .playable(let identifier): return [.playable(id: pack(identifier))]
    case .failed(let identifier, .noSpace(let needed, let free), _): return [.noSpace(id: pack(identifier), needed: needed, free: free)]
    case .failed(let identifier, let failure, _): return [.failed(id: pack(identifier), failure.error(of: pack(identifier)))]
    case .offline: return [.network(isAvailable: false)]
    case .online: return [.network(isAvailable: true)]
    }
  }
}
