import Foundation

extension LibraryLoop {
  /// What is to come of a pack, and whether its file is here.
  struct Coming: Sendable {
    let record: PackStatus
    let hasArrived: Bool

    /// - Parameter isHere: Whether the file is here that the record is about.
    init(_ record: PackStatus, isHere: Bool) {
      self.record = record
      // With a lead, the pack is still to come.
      hasArrived = isHere && record.lead == nil
    }

    var isComing: Bool { record.state.isUnderWay || hasArrived }
  }

  func coming(_ id: String) async throws(PackError) -> Coming? {
    try await WorkerPool.settled { [state = delivery.state] () throws(PackError) in
      guard let record = try state.status(of: id) else { return nil }
      return Coming(record, isHere: try state.hasArrived(record))
    }
  }

  func status(of id: String) async -> Status {
    let versions = (try? await delivery.store.installed(id)) ?? []
    let opens = versions.contains { $0.state == .sealed } ? try? await delivery.lookup([id]).packs[id]?.opener?.opens : nil
    return status(of: id, versions, (try? await coming(id)) ?? nil, opens: opens)
  }

  /// - Parameters:
  ///   - versions: Those in the store.
  ///   - coming: What is to come.
  ///   - opens: When the version that the manifest names opens, if it says so.
  func status(of id: String, _ versions: [InstalledPack], _ coming: Coming?, opens: ManifestTime?) -> Status {
    let usable = versions.filter { $0.state != .failed && $0.state != .sealed }
    let sealed = versions.contains { $0.state == .sealed }
    let date = opens.map { Date(timeIntervalSince1970: Double($0.secondsSince1970)) }
    let ready = usable.first { $0.state == .current || $0.state == .trial } ?? usable.last
    if let ready, !waiters.contains(id) || failures[id] != nil || !(coming?.isComing ?? false) {
      return .ready(version: ready.version, update: update(of: ready, usable, coming) ?? (sealed ? .sealed(opens: date) : nil))
    }
    if let failure = failures[id], failure.code != .sealed || !sealed { return .failed(failure) }
    if let status = playable(coming) { return status }
    if let arrival = arrival(coming) { return arrival.status }
    if sealed, !waiters.contains(id) || failures[id] != nil { return .sealed(opens: date) }
    return !waiters.contains(id) ? .absent : .waiting(reason(of: id))
  }

  func update(of ready: InstalledPack, _ usable: [InstalledPack], _ coming: Coming?) -> PackLibrary.Update? {
    if let next = usable.last, next.version > ready.version { return .installed(version: next.version) }
    guard let coming, coming.record.bytes.sha256 != ready.sha256 else { return nil }
    return arrival(coming)
  }

  func arrival(_ coming: Coming?) -> PackLibrary.Update? {
    guard let coming, coming.isComing else { return nil }
    if coming.hasArrived { return .installing }
    let id = coming.record.id
    let isLead = coming.record.lead != nil
    guard let progress = progress[id], !isLead, hasNetwork, !retrying.contains(id) else { return .waiting(reason(of: id)) }
    return .downloading(received: progress.received, of: progress.size)
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
    let files = Set((content?.files ?? []).lazy.map(\.identifier))
    let coming = Dictionary(
      (content?.records ?? []).map { ($0.id, Coming($0, isHere: files.contains($0.identifier))) }
    ) { first, _ in first }
    let offers = listing.packs.filter(delivery.isOffered).map { pack in
      PackLibrary.Offer(
        id: pack.id, name: pack.name.isEmpty ? pack.id : pack.name, description: pack.description,
        downloadSize: pack.cheapestDelta(over: Set((versions[pack.id] ?? []).compactMap(\.contentRoot)))?.size ?? pack.size,
        installSize: pack.installSize, status: status(of: pack.id, versions[pack.id] ?? [], coming[pack.id], opens: pack.opener?.opens))
    }
    return PackLibrary.Offers(packs: offers, isComplete: listing.isComplete)
  }
}

extension PackLibrary.Update {
  /// The status of a pack of which no other version is here.
  fileprivate var status: PackLibrary.Status {
    switch self {
    case .waiting(let reason): .waiting(reason)
    case .downloading(let received, let size): .downloading(received: received, of: size)
    case .installing, .installed: .installing
    case .sealed(let opens): .sealed(opens: opens)
    }
  }
}
