/// The state of deliveries that app and extension share: one small file per pack in a directory of their app group, for packs that are to come.
///
/// What is on the device is only in the records of the store. An extension reads them there.
///
/// A change writes one small file, however many packs there are. It is atomic, even if a process is terminated. Reading takes no lock. A change waits
/// for the other process for at most ``DeliveryPolicy/lockTimeoutMilliseconds``, or until its task is cancelled; if it cannot be recorded, the next
/// plan detects it. Download progress is not stored here. Every call blocks its thread for as long as the disk takes.
public struct SharedState: Sendable {
  /// The policy for timing.
  public let policy: DeliveryPolicy
  let directory: StateDirectory
  /// The path of the store.
  package let store: String?
  package let logger: (any PackLogger)?
  /// Whether the installation takes part in rollouts.
  package var isInRollouts = true

  /// Opens a directory. Creates it if it does not exist.
  ///
  /// - Parameters:
  ///   - directory: a path in the container of the app group, on the volume that the system downloads to. Only its last component may be
  ///     missing.
  ///   - store: the path of the store where the app installs the packs, which need not exist yet.
  ///   - policy: the policy for timing.
  ///   - logger: receives plans, and manifests that are accepted or refused.
  /// - Throws: ``PackFormat/PackError/Code/unsupported`` if the directory has another format version, or an error of the file system.
  public init(directory: String, store: String, policy: DeliveryPolicy = .init(), logger: (any PackLogger)? = nil) throws(PackError) {
    try self.init(directory: directory, store: store, policy: policy, files: SystemFiles(), clock: SystemClock(), logger: logger)
  }

  package init(
    directory: String, store: String? = nil, policy: DeliveryPolicy = .init(), files: any FileSystem, clock: any DeviceClock,
    logger: (any PackLogger)? = nil
  ) throws(PackError) {
    self.policy = policy
    self.store = store
    self.logger = logger
    self.directory = StateDirectory(
      path: directory, files: files, clock: clock, lockTimeoutMilliseconds: policy.lockTimeoutMilliseconds)
    try self.directory.make()
  }

  /// The time by the device's clock, in seconds since 1970.
  public var time: Int64 { directory.clock.secondsSince1970 }

  // MARK: Reading

  /// Returns whether the file that a status is about is in the shared directory, and waits for the app to install it.
  public func hasArrived(_ status: PackStatus) throws(PackError) -> Bool { try directory.hasFile(of: status, in: try directory.open()) }

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
    for id in try directory.recordedPacks(in: root) {
      switch try recordUnlessDamaged(id, in: root) {
      case .sound(let record): if let record { content.records.append(record) }
      case .damaged: content.damaged.append(id)
      }
    }
    content.files = try files(in: root)
    return content
  }

  /// Returns the records of the store; nil if there is no store.
  func storeRecords() throws(PackError) -> StoreRecords? {
    guard let store else { return nil }
    return try StoreRecords(store, files: directory.files)
  }

  private func files(in root: RecordDirectory) throws(PackError) -> [WaitingFile] {
    var files: [WaitingFile] = []
    for name in try directory.names(in: .incoming, of: root) {
      guard let identifier = DownloadIdentifier(name), let status = try directory.status(StateDirectory.place(identifier), in: root) else {
        continue
      }
      files.append(WaitingFile(identifier: identifier, size: status.size))
    }
    return files
  }

  /// Returns the status of a pack's delivery. Nil if there is no record, as for a pack that the device has as the manifest offers it.
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
    try plan(for: ManifestListing(manifest), facts: facts, search: search)
  }

  func plan(for manifest: ManifestListing, facts: DeliveryFacts, search: Search? = nil) throws(PackError) -> Planned {
    var facts = facts
    facts.allowance = try facts.event.permitsEssential ? rememberedAllowance(facts.allowance) : nil
    let root = try directory.open()
    var damaged: Set<String> = []
    var count = 0
    // The files before the records of the store: the store moves a file away before it records the version.
    let files = try files(in: root)
    let device = try facts.device == nil ? storeRecords() : nil
    let held = Dictionary(grouping: facts.device ?? [], by: \.id)
    let manifest = try choosing(manifest, device)
    let records = PlanRecords<PackError>(ids: Set(try directory.recordedPacks(in: root)), batch: StateDirectory.batch) {
      (id) throws(PackError) in
      let record = try recordUnlessDamaged(id, in: root)
      if case .damaged = record { damaged.insert(id) }
      return record.status
    } versions: { (id) throws(PackError) in
      try device?.versions(of: id) ?? held[id] ?? []
    } hasTaken: { (file) throws(PackError) in
      try device?.hasTaken(file) ?? false
    } write: { (changes) throws(PackError) in
      count += changes.count
      return try record(changes, replacing: damaged, isOrdered: count <= Self.orderedChanges)
    }
    let lookup = try lookup(for: manifest, facts, records, files, search)
    var planning = try Planning(manifest, lookup, records, files, facts, policy)
    try planning.run()
    // Removes damaged records of packs that need no record.
    for id in damaged.sorted() {
      guard case .damaged = try recordUnlessDamaged(id, in: root) else { continue }
      _ = try records.write([DeliveryPlan.Change(id: id, before: nil, after: nil)])
    }
    if count > Self.orderedChanges { try directory.settle(.packs) }
    let plan = planning.plan
    try keep(plan.allowance)
    logger.record(.notice, .delivery, "planned", plan.logValues(for: facts, manifest.head.version, rebuilt: damaged.count))
    return Planned(plan: plan, rebuilt: damaged.sorted())
  }

  /// Few changes are ordered one by one; for many, that would take longer than the extension may run.
  private static let orderedChanges = 8

  /// Looks up the packs that a plan is about: those that are on the device, that are to come there, or that are asked for, and the bases of all. How many
  /// packs there are does not matter.
  private func lookup(
    for manifest: ManifestListing, _ facts: DeliveryFacts, _ records: PlanRecords<PackError>, _ files: [WaitingFile], _ search: Search?
  ) throws(PackError) -> CatalogueLookup {
    var lookup = CatalogueLookup()
    guard !manifest.head.catalogue.isEmpty else { return lookup }
    var ids = facts.asked
    for pack in facts.device ?? [] where !pack.isRejected { ids.insert(pack.id) }
    // Not compared with nil: for functions with a type of errors, the oldest systems lack what that takes.
    let isSearched = if case .some = search { true } else { false }
    for id in records.ids { if isSearched, try records.read(id)?.isIdle ?? true { continue } else { ids.insert(id) } }
    for file in files { ids.insert(file.identifier.id) }
    var listed: Set<String> = []
    for pack in manifest {
      listed.insert(pack.id)
      if let base = pack.basePack { ids.insert(base) }
    }
    ids.subtract(listed)
    guard let search else {
      lookup.unknown = ids
      return lookup
    }
    lookup = try search(ids)
    let bases = Set(lookup.packs.values.compactMap(\.basePack)).subtracting(listed).subtracting(ids)
    if !bases.isEmpty { lookup = try search(ids.union(bases)) }
    if let refusal = lookup.refusal { logger.record(.error, .delivery, "shard refused", .error(refusal)) }
    return lookup
  }

  /// Writes changes of records, each only if the record is still the one that the plan was made with.
  ///
  /// - Returns: the packs whose records have changed meanwhile.
  private func record(
    _ changes: [DeliveryPlan.Change], replacing damaged: Set<String>, isOrdered: Bool
  ) throws(PackError) -> Set<String> {
    var withdrawn: Set<String> = []
    try directory.withLock { (root) throws(PackError) in
      for change in changes {
        let isStill =
          switch try recordUnlessDamaged(change.id, in: root) {
          case .sound(let now): now == change.before
          case .damaged: change.before == nil && damaged.contains(change.id)
          }
        if isStill { try directory.write(change.after, of: change.id, isOrdered: isOrdered, in: root) } else { withdrawn.insert(change.id) }
      }
    }
    return withdrawn
  }

  enum FoundRecord {
    case sound(PackStatus?)
    case damaged

    var status: PackStatus? {
      if case .sound(let status) = self { status } else { nil }
    }
  }

  func recordUnlessDamaged(_ id: String, in root: RecordDirectory) throws(PackError) -> FoundRecord {
    do throws(PackError) {
      return .sound(try directory.record(id, in: root))
    } catch {
      guard error.code == .damagedState else { throw error }
      return .damaged
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
  ///   - seconds: the number of seconds that the server asked to wait.
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
    guard let seen = try coming(id, in: try directory.open()), let first = event(seen), let next = after(first, seen) else { return nil }
    if next == seen { return seen }
    return try directory.withLock { (root) throws(PackError) in
      guard let record = try coming(id, in: root), let event = event(record), let next = after(event, record) else { return nil }
      if next != record { try directory.write(next, of: id, in: root) }
      return next
    }
  }

  /// Returns the record of a pack whose file did not arrive yet. Later events of its download are late.
  private func coming(_ id: String, in root: RecordDirectory) throws(PackError) -> PackStatus? {
    guard let record = try directory.record(id, in: root), try !directory.hasFile(of: record, in: root) else { return nil }
    return record
  }

  func after(_ event: PackEvent, _ record: PackStatus) -> PackStatus? { record.after(event, at: time, policy: policy) }
}
