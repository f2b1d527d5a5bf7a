extension LibraryLoop {
  func record(of id: String) async throws(PackError) -> PackStatus? {
    try await WorkerPool.settled { [state = delivery.state] () throws(PackError) in try state.status(of: id) }
  }

  func status(of id: String) async -> Status {
    status(of: id, (try? await delivery.store.installed(id)) ?? [], (try? await record(of: id)) ?? nil)
  }

  /// - Parameters:
  ///   - versions: Those in the store.
  ///   - record: What is to come.
  func status(of id: String, _ versions: [InstalledPack], _ record: PackStatus?) -> Status {
    let usable = versions.filter { $0.state != .failed }
    let ready = usable.first { $0.state == .current || $0.state == .trial } ?? usable.last
    if let ready, !waiters.contains(id) || failures[id] != nil || !(record?.state.isComing ?? false) {
      return .ready(version: ready.version, update: update(of: ready, usable, record))
    }
    if let failure = failures[id] { return .failed(failure) }
    if let arrival = arrival(of: id, record) { return arrival.status }
    return !waiters.contains(id) ? .absent : .waiting(reason(of: id))
  }

  func update(of ready: InstalledPack, _ usable: [InstalledPack], _ record: PackStatus?) -> PackLibrary.Update? {
    if let next = usable.last, next.version > ready.version { return .installed(version: next.version) }
    guard let record, record.bytes.sha256 != ready.sha256 else { return nil }
    return arrival(of: record.id, record)
  }

  func arrival(of id: String, _ record: PackStatus?) -> PackLibrary.Update? {
    switch record?.state {
    case .scheduled, .loading, .paused:
      guard let progress = progress[id], hasNetwork, !retrying.contains(id) else { return .waiting(reason(of: id)) }
      return .downloading(received: progress.received, of: progress.size)
    case .toBeTransferred: return .installing
    case .notLoaded, .failed, nil: return nil
    }
  }

  func reason(of id: String) -> PackLibrary.WaitReason {
    if asking.contains(id) { return .consent }
    return !hasNetwork ? .network : retrying.contains(id) ? .retry : .turn
  }

  func offers() async -> PackLibrary.Offers {
    isListed = true
    guard let listing = try? await delivery.store.listing() else { return PackLibrary.Offers(packs: [], isComplete: false) }
    if !listing.missing.isEmpty { fetchShardsLater() }
    // Everything is read once, however many packs there are.
    let versions = Dictionary(grouping: (try? await delivery.store.installed()) ?? [], by: \.id)
    let content = try? await WorkerPool.settled { [state = delivery.state] () throws(PackError) in try state.content() }
    let records = Dictionary((content?.records ?? []).map { ($0.id, $0) }) { first, _ in first }
    let offers = listing.packs.filter(delivery.isOffered).map { pack in
      PackLibrary.Offer(
        id: pack.id, name: pack.name.isEmpty ? pack.id : pack.name, description: pack.description,
        downloadSize: pack.cheapestDelta(over: Set((versions[pack.id] ?? []).compactMap(\.contentRoot)))?.size ?? pack.size,
        installSize: pack.installSize, status: status(of: pack.id, versions[pack.id] ?? [], records[pack.id]))
    }
    return PackLibrary.Offers(packs: offers, isComplete: listing.isComplete)
  }
}

extension DeliveryState {
  /// Whether these bytes are on their way.
  var isComing: Bool {
    switch self {
    case .scheduled, .loading, .paused, .toBeTransferred: true
    case .notLoaded, .failed: false
    }
  }
}

extension PackLibrary.Update {
  /// The status of a pack of which no other version is here.
  fileprivate var status: PackLibrary.Status {
    switch self {
    case .waiting(let reason): .waiting(reason)
    case .downloading(let received, let size): .downloading(received: received, of: size)
    case .installing, .installed: .installing
    }
  }
}
