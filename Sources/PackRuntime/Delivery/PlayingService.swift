/// Downloads with a service of the system, but in this process what is read while it arrives: the system brings whole files.
package struct PlayingService: DownloadService {
  private let system: any DownloadService
  private let own: TransferService
  private let drop: @Sendable (_ identifier: String) async -> Void

  /// - Parameter drop: ends a download in the system, whatever its record says.
  package init(_ system: any DownloadService, own: TransferService, drop: @escaping @Sendable (_ identifier: String) async -> Void) {
    (self.system, self.own, self.drop) = (system, own, drop)
  }

  package var isListExact: Bool { system.isListExact }

  package func events() -> AsyncStream<ServiceNotice> {
    let (stream, continuation) = AsyncStream.makeStream(of: ServiceNotice.self)
    let task = Task { [streams = [system.events(), own.events()]] in
      await withTaskGroup { group in
        for events in streams { group.addTask { for await notice in events { continuation.yield(notice) } } }
      }
      continuation.finish()
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }

  package func stop() async {
    await system.stop()
    await own.stop()
  }

  package func underWay() async -> Set<String>? {
    guard let listed = await system.underWay() else { return nil }
    return listed.union(await own.underWay() ?? [])
  }

  package func hand(_ plan: DeliveryPlan, asked: Set<String>) async throws(PackError) {
    var (whole, pieces) = (plan, plan)
    pieces.downloads.removeAll { !own.hasPieces($0.identifier.description) }
    let ids = Set(pieces.downloads.map(\.id))
    whole.downloads.removeAll { ids.contains($0.id) }
    try await own.hand(pieces, asked: asked)
    try await system.hand(whole, asked: asked)
  }

  package func arriving(_ identifier: String) -> ArrivingPack? { own.arriving(identifier) }

  /// Takes the download from the system, if it has it.
  package func arrive(_ download: PlannedDownload) async -> ArrivingPack? {
    let identifier = download.identifier.description
    guard let pack = await own.arrive(download) else { return nil }
    if await !own.transfers.identifiers.contains(identifier), let listed = await system.underWay(), listed.contains(identifier) {
      await drop(identifier)
      await own.transfers.add([download])
    }
    return pack
  }

  package func take(lead: String, of download: PlannedDownload) async -> Bool { await own.take(lead: lead, of: download) }

  package func setPriority(_ priority: Double, of identifier: String) async {
    await own.setPriority(priority, of: identifier)
    if !own.hasPieces(identifier) { await system.setPriority(priority, of: identifier) }
  }

  package func cancel(_ id: String) async throws(PackError) {
    try await system.cancel(id)
    try await own.cancel(id)
  }

  package func availableSpace() async -> UInt64? { await system.availableSpace() }

  package func freeSpace(keeping ids: Set<String>, launchesOf required: [PlannedDownload]) async throws(PackError) -> Bool {
    let isFreed = try await own.freeSpace(keeping: ids, launchesOf: required)
    return try await system.freeSpace(keeping: ids, launchesOf: required) || isFreed
  }
}
