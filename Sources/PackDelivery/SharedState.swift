/// The state of deliveries that app and extension share: one small file per pack in a directory of their app group.
///
/// A change writes one small file, however many packs there are. It is atomic, even if a process is terminated. Reading takes no lock. A change waits
/// for the other process for at most ``DeliveryPolicy/lockTimeoutMilliseconds``, or until its task is cancelled; if it cannot be recorded, the next
/// plan detects it. Download progress is not stored here. Every call blocks its thread for as long as the disk takes.
public struct SharedState: Sendable {
  /// The policy for timing.
  public let policy: DeliveryPolicy
  let directory: StateDirectory
  let logger: (any PackLogger)?

  /// Opens a directory. Creates it if it does not exist.
  ///
  /// - Parameters:
  ///   - directory: a path in the container of the app group, on the volume that the system downloads to. Only its last component may be
  ///     missing.
  ///   - policy: the policy for timing.
  ///   - logger: receives plans, and manifests that are accepted or refused.
  /// - Throws: ``PackFormat/PackError/Code/unsupported`` if the directory has another format version, or an error of the file system.
  public init(directory: String, policy: DeliveryPolicy = .init(), logger: (any PackLogger)? = nil) throws(PackError) {
    try self.init(directory: directory, policy: policy, files: SystemFiles(), clock: SystemClock(), logger: logger)
  }

  package init(
    directory: String, policy: DeliveryPolicy = .init(), files: any FileSystem, clock: any DeviceClock, logger: (any PackLogger)? = nil
  ) throws(PackError) {
    self.policy = policy
    self.logger = logger
    self.directory = StateDirectory(
      path: directory, files: files, clock: clock, lockTimeoutMilliseconds: policy.lockTimeoutMilliseconds)
    try self.directory.make()
  }

  /// The time by the device's clock, in seconds since 1970.
  public var time: Int64 { directory.clock.secondsSince1970 }

  // MARK: Reading

  /// The whole shared state. Its parts are not read at exactly the same moment.
  public struct Content: Hashable, Sendable {
    /// The records that can be read.
    public var records: [PackStatus] = []
    /// The names of packs whose records cannot be read. The next plan recreates them.
    public var damaged: [String] = []
    /// The downloaded files that are not installed yet.
    public var files: [WaitingFile] = []

    package init() {}
  }

  /// Reads the whole shared state.
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
    let installing = Set(content.records.filter { $0.state == .installing }.map(\.identifier))
    for name in try directory.names(in: .incoming, of: root) {
      guard let identifier = DownloadIdentifier(name), let status = try directory.status(Self.place(identifier), in: root) else { continue }
      content.files.append(WaitingFile(identifier: identifier, size: status.size, isBeingInstalled: installing.contains(identifier)))
    }
    return content
  }

  /// Returns the status of a pack's delivery; nil if there is no record.
  ///
  /// - Throws: ``PackFormat/PackError/Code/damagedState`` if the record cannot be read.
  public func status(of id: String) throws(PackError) -> PackStatus? {
    try directory.record(id, in: try directory.open())
  }

  // MARK: Planning

  /// A plan, and the problems found in the shared state.
  public struct Planned: Hashable, Sendable {
    /// The plan.
    public var plan: DeliveryPlan
    /// The names of packs whose records could not be read and were recreated.
    public var rebuilt: [String]
  }

  /// Makes a plan and records it: the downloads to hand to the system are recorded as `scheduled` when this returns.
  ///
  /// If app and extension plan at the same time, each download is in the plan of only one of them. Records are written in batches under the lock and
  /// synced together, so a power failure may damage some of the last ones. The next plan recreates these.
  ///
  /// - Throws: ``PackFormat/PackError/Code/stateBusy``, or an error of the file system. Nothing may be handed to the system then.
  public func plan(for manifest: Manifest, facts: DeliveryFacts) throws(PackError) -> Planned {
    try plan(for: manifest, facts: facts, search: nil)
  }

  /// Finds packs of a manifest by their ids, as far as its shards are at hand.
  package typealias Search = (_ ids: Set<String>) throws(PackError) -> CatalogueLookup

  /// - Parameter search: searches the catalogue. Nil in a process that does not: packs in the catalogue then stay as they are.
  package func plan(for manifest: Manifest, facts: DeliveryFacts, search: Search?) throws(PackError) -> Planned {
    var facts = facts
    facts.allowance = try facts.event.permitsEssential ? rememberedAllowance(facts.allowance) : nil
    let content = try content()
    let lookup = try lookup(for: manifest, facts, content, search)
    var plan = DeliveryPlan(for: manifest, lookup, records: content.records, files: content.files, facts: facts, policy: policy)
    var withdrawn = try record(plan.changes, replacing: Set(content.damaged))
    // Removes damaged records of packs that need no record.
    let named = Set(plan.changes.map(\.id))
    withdrawn.formUnion(
      try record(
        content.damaged.filter { !named.contains($0) }.map { .init(id: $0, before: nil, after: nil) }, replacing: Set(content.damaged)))
    plan.withdraw(withdrawn)
    try keep(plan.allowance)
    logger.record(.notice, .delivery, "planned", plan.logValues(for: facts, manifest.version, rebuilt: content.damaged.count))
    return Planned(plan: plan, rebuilt: content.damaged)
  }

  /// Looks up the packs that a plan is about: those that are on the device, that are to come there, or that are asked for, and the bases of all. How many
  /// packs there are does not matter.
  private func lookup(
    for manifest: Manifest, _ facts: DeliveryFacts, _ content: Content, _ search: Search?
  ) throws(PackError) -> CatalogueLookup {
    guard !manifest.catalogue.isEmpty else { return CatalogueLookup() }
    var ids = facts.asked
    for pack in facts.device ?? [] where !pack.isRejected { ids.insert(pack.id) }
    for record in content.records where !record.isIdle { ids.insert(record.id) }
    for file in content.files { ids.insert(file.identifier.id) }
    let listed = Set(manifest.packs.map(\.id))
    ids.formUnion(manifest.packs.compactMap(\.basePack))
    ids.subtract(listed)
    guard let search else { return CatalogueLookup(ids, withoutCatalogueOf: manifest) }
    var lookup = try search(ids)
    let bases = Set(lookup.packs.values.compactMap(\.basePack)).subtracting(listed).subtracting(ids)
    if !bases.isEmpty { lookup = try search(ids.union(bases)) }
    if let refusal = lookup.refusal { logger.record(.error, .delivery, "shard refused", .error(refusal)) }
    return lookup
  }

  /// Writes changes of records, each only if the record is still the one that the plan was made with.
  ///
  /// - Returns: the packs whose records have changed meanwhile.
  private func record(_ changes: [DeliveryPlan.Change], replacing damaged: Set<String>) throws(PackError) -> Set<String> {
    var withdrawn: Set<String> = []
    // Few changes are ordered one by one; for many, that would take longer than the extension may run.
    let isOrdered = changes.count <= 8
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
          try directory.write(change.after, of: change.id, isOrdered: isOrdered, in: root)
        }
        // Also brings the earlier ones to the disk.
        if !isOrdered, start == changes.count { root.noteChange(in: StateDirectory.Folder.packs.rawValue) }
      }
    }
    return withdrawn
  }

  private func isStill(_ before: PackStatus?, _ id: String, _ damaged: Set<String>, in root: RecordDirectory) throws(PackError) -> Bool {
    do throws(PackError) {
      return try directory.record(id, in: root) == before
    } catch {
      guard error.code == .damagedState else { throw error }
      return before == nil && damaged.contains(id)
    }
  }

  // MARK: Events of downloads

  /// Records an event of a download: that it started, was paused, or was cancelled.
  ///
  /// - Parameters:
  ///   - event: the event.
  ///   - identifier: the identifier of the download. An event of a download that is no longer needed is ignored.
  /// - Returns: the new record; nil if the event was ignored.
  @discardableResult
  public func note(_ event: PackEvent, ofDownload identifier: String) throws(PackError) -> PackStatus? {
    guard let identifier = DownloadIdentifier(identifier) else { return nil }
    return try change(identifier.id) { record in
      record.identifier == identifier ? event : nil
    }
  }

  /// Records that the app no longer wants a pack, or that the user cancelled its download.
  ///
  /// - Returns: the identifier of the download to cancel in the system; nil if none is in progress.
  @discardableResult
  public func cancel(_ id: String) throws(PackError) -> DownloadIdentifier? {
    var cancelled: DownloadIdentifier?
    try change(id) { record in
      cancelled = record.state.isUnderWay ? record.identifier : nil
      return .cancelled
    }
    return cancelled
  }

  /// Records that a download failed and returns what to do.
  ///
  /// - Parameters:
  ///   - subject: the download. Background Assets reports a failure of the manifest in the same callback, as a download of a type that was not handed
  ///     over.
  ///   - failure: the failure.
  ///   - hasGrown: whether the download brought bytes that the next attempt can use.
  ///   - atLeast: the number of seconds that the server asked to wait.
  @discardableResult
  public func downloadFailed(
    _ subject: DownloadSubject, _ failure: DownloadFailure, hasGrown: Bool = false, atLeast seconds: UInt32 = 0
  ) throws(PackError) -> FailureRemedy {
    guard case .download(let text) = subject else { return .keepEverything }
    guard let identifier = DownloadIdentifier(text) else { return .nothing }
    var event: PackEvent?
    let after = try change(identifier.id) { record in
      guard record.identifier == identifier else { return nil }
      event = record.event(for: failure, hasGrown: hasGrown, atLeast: seconds)
      return event
    }
    guard let after else { return .nothing }
    return event == .demoted ? .handOverAsNonEssential : .planAgain(after)
  }

  /// Applies an event to the record of a pack, under the lock. An unchanged record is not written.
  ///
  /// - Returns: the new record; nil if there is none or if the event is ignored.
  @discardableResult
  func change(_ id: String, _ event: (PackStatus) -> PackEvent?) throws(PackError) -> PackStatus? {
    // Most callbacks are repeated. An event that changes nothing needs no lock.
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
