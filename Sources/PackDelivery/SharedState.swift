package import PackFiles
public import PackFormat
public import PackManifest

/// What app and extension share about deliveries: one small file per pack below a directory of their app group.
///
/// A change costs one small file, however many packs there are. It is whole or not at all, whenever a process dies. Reading takes no lock; a change
/// waits for the other process at most ``DeliveryPolicy/lockTimeoutMilliseconds``, and what could not be recorded is found by the next plan.
/// Progress is not kept here. Every call blocks its thread for as long as the disk takes.
public struct SharedState: Sendable {
  /// How patient it is.
  public let policy: DeliveryPolicy
  let directory: StateDirectory

  /// Opens a directory, or makes it.
  ///
  /// - Parameter directory: a path below the container of the app group, on the volume that the system downloads to; only its last part may be missing.
  /// - Throws: ``PackFormat/PackError/Code/unsupported`` where a later version made it, or what the disk says.
  public init(directory: String, policy: DeliveryPolicy = .init()) throws(PackError) {
    try self.init(directory: directory, policy: policy, files: SystemFiles(), clock: SystemDeliveryClock())
  }

  package init(
    directory: String, policy: DeliveryPolicy = .init(), files: any FileSystem, clock: any DeliveryClock
  ) throws(PackError) {
    self.policy = policy
    self.directory = StateDirectory(
      path: directory, files: files, clock: clock, lockTimeoutMilliseconds: policy.lockTimeoutMilliseconds)
    try self.directory.make()
  }

  /// The time by the device's clock, in seconds since 1970.
  public var time: Int64 { directory.clock.secondsSince1970 }

  // MARK: Reading

  /// Everything that is shared, as it is at one moment or another.
  public struct Content: Hashable, Sendable {
    /// The records that can be read.
    public var records: [PackStatus] = []
    /// The names of packs whose records cannot be read. The next plan makes them anew.
    public var damaged: [String] = []
    /// The files that came, and were not installed yet.
    public var files: [WaitingFile] = []

    package init() {}
  }

  /// Reads everything.
  public func content() throws(PackError) -> Content {
    let root = try directory.open()
    var content = Content()
    for name in try directory.names(in: .packs, of: root) {
      guard let id = PackName(fileName: name)?.text else { continue }
      do throws(PackError) {
        if let record = try directory.record(id, in: root) { content.records.append(record) }
      } catch {
        guard error.code == .damagedState else { throw error }
        content.damaged.append(id)
      }
    }
    for folder in [StateDirectory.Folder.incoming, .installing] {
      for name in try directory.names(in: folder, of: root) {
        guard let identifier = DownloadIdentifier(name), let status = try directory.status("\(folder.rawValue)/\(name)", in: root) else {
          continue
        }
        content.files.append(WaitingFile(identifier: identifier, size: status.size, isBeingInstalled: folder == .installing))
      }
    }
    return content
  }

  /// How far the delivery of a pack is; nil where nothing is known of it.
  ///
  /// - Throws: ``PackFormat/PackError/Code/damagedState`` where the record cannot be read.
  public func status(of id: String) throws(PackError) -> PackStatus? {
    try directory.record(id, in: try directory.open())
  }

  // MARK: Planning

  /// A plan, and what was wrong with the shared state.
  public struct Planned: Hashable, Sendable {
    /// What is to be done.
    public var plan: DeliveryPlan
    /// The names of packs whose records could not be read, and were made anew.
    public var rebuilt: [String]
  }

  /// Plans what to do, and records it: what the plan hands to the system is `scheduled` when this returns.
  ///
  /// Where app and extension plan at the same time, each download is in the plan of one of them. Records are written in batches under the lock and
  /// synced together, so a power cut may damage some of the last ones, which the next plan makes anew.
  ///
  /// - Throws: ``PackFormat/PackError/Code/stateBusy``, and then nothing may be handed to the system; or what the disk says.
  public func plan(for manifest: Manifest, facts: DeliveryFacts) throws(PackError) -> Planned {
    var facts = facts
    if facts.event.permitsEssential { facts.allowance = try rememberedAllowance(facts.allowance) } else { facts.allowance = nil }
    let content = try content()
    var plan = DeliveryPlan(for: manifest, records: content.records, files: content.files, facts: facts, policy: policy)
    var withdrawn = try record(plan.changes, replacing: Set(content.damaged))
    // What nobody needs a record for is rid of the damaged one.
    let named = Set(plan.changes.map(\.id))
    withdrawn.formUnion(
      try record(
        content.damaged.filter { !named.contains($0) }.map { .init(id: $0, before: nil, after: nil) }, replacing: Set(content.damaged)))
    plan.withdraw(withdrawn)
    try keep(plan.allowance)
    return Planned(plan: plan, rebuilt: content.damaged)
  }

  /// Makes changes of records, each only where the record is still what the plan saw.
  ///
  /// - Returns: the packs whose records changed meanwhile.
  private func record(_ changes: [DeliveryPlan.Change], replacing damaged: Set<String>) throws(PackError) -> Set<String> {
    var withdrawn: Set<String> = []
    // Few changes are synced one by one; many would take longer than the extension has.
    let isSynced = changes.count <= 8
    var start = 0
    while start < changes.count {
      let batch = changes[start..<min(start + StateDirectory.batch, changes.count)]
      start += batch.count
      try directory.withLock { (root) throws(PackError) in
        for change in batch {
          guard try isStill(change.before, change.id, damaged, in: root) else {
            withdrawn.insert(change.id)
            continue
          }
          try directory.write(change.after, of: change.id, isSynced: isSynced, in: root)
        }
        // What is on the disk with the last batch is so with all.
        if !isSynced, start == changes.count {
          do throws(FileFailure) {
            try directory.sync(directoryOf: "\(StateDirectory.Folder.packs.rawValue)/", in: root)
          } catch {
            throw error.writing(directory.path)
          }
        }
      }
    }
    return withdrawn
  }

  private func isStill(_ before: PackStatus?, _ id: String, _ damaged: Set<String>, in root: OpenFile) throws(PackError) -> Bool {
    do throws(PackError) {
      return try directory.record(id, in: root) == before
    } catch {
      guard error.code == .damagedState else { throw error }
      return before == nil && damaged.contains(id)
    }
  }

  // MARK: What happens to a download

  /// Records what happened to a download: that it began, rests, was cancelled.
  ///
  /// - Parameters:
  ///   - event: what happened.
  ///   - identifier: the download it happened to. One that nobody waits for any more is passed over.
  /// - Returns: the record as it is now; nil where the event was passed over.
  @discardableResult
  public func note(_ event: PackEvent, ofDownload identifier: String) throws(PackError) -> PackStatus? {
    guard let identifier = DownloadIdentifier(identifier) else { return nil }
    return try change(identifier.id) { record in
      record.identifier == identifier ? event : nil
    }
  }

  /// Records that the app wants a pack no more, or that the person cancelled its download.
  ///
  /// - Returns: the identifier of the download to cancel in the system; nil where none is under way.
  @discardableResult
  public func cancel(_ id: String) throws(PackError) -> DownloadIdentifier? {
    var cancelled: DownloadIdentifier?
    try change(id) { record in
      cancelled = record.state.isUnderWay ? record.identifier : nil
      return .cancelled
    }
    return cancelled
  }

  /// Records that a download failed, and says what is to be done.
  ///
  /// - Parameters:
  ///   - subject: which download. Background Assets reports the manifest's failure in the same callback, as a download of another type than those that
  ///     were handed over.
  ///   - failure: why.
  public func downloadFailed(_ subject: DownloadSubject, _ failure: DownloadFailure) throws(PackError) -> FailureRemedy {
    guard case .download(let text) = subject else { return .keepEverything }
    guard let identifier = DownloadIdentifier(text) else { return .nothing }
    var event: PackEvent?
    let after = try change(identifier.id) { record in
      guard record.identifier == identifier else { return nil }
      event = record.event(for: failure)
      return event
    }
    guard let after else { return .nothing }
    return event == .demoted ? .handOverAsNonEssential : .planAgain(after)
  }

  /// Changes the record of a pack by an event, under the lock. A record that would stay the same is not written.
  ///
  /// - Returns: the record as it is now; nil where there is none, or the event is passed over.
  @discardableResult
  func change(_ id: String, _ event: (PackStatus) -> PackEvent?) throws(PackError) -> PackStatus? {
    // Most callbacks come more than once. Whoever changes nothing needs no lock.
    guard let seen = try status(of: id), let first = event(seen) else { return nil }
    switch outcome(first, of: seen) {
    case .passedOver: return nil
    case .became(seen): return seen
    case .became, .forgotten: break
    }
    return try directory.withLock { (root) throws(PackError) in
      guard let record = try directory.record(id, in: root), let event = event(record) else { return nil }
      switch outcome(event, of: record) {
      case .passedOver: return nil
      case .forgotten:
        try directory.write(nil, of: id, in: root)
        return nil
      case .became(let next):
        if next != record { try directory.write(next, of: id, in: root) }
        return next
      }
    }
  }

  func outcome(_ event: PackEvent, of record: PackStatus) -> PackStatus.Outcome {
    record.after(event, at: time, policy: policy)
  }
}
