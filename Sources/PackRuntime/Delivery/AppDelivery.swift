/// The app's side of deliveries: installs the files that the extension downloaded, and downloads the rest.
///
/// It has no state of its own. Its state is in the shared state, the store and the queue, which other code may use at the same time. At the start of
/// an app, call ``start()``, ``plan(asked:downloads:freeSpace:)``, ``install(_:progress:)``, ``tidy(_:)`` and ``fetch(_:)`` in this order. From
/// then on, pass each event of the queue to ``take(_:)``. After each ``take(_:)`` that parked a file, plan and install again.
public actor AppDelivery {
  /// The state that app and extension share.
  public nonisolated let state: SharedState
  /// The store where packs are installed.
  public nonisolated let store: AssetStore
  /// The queue that downloads while the app runs. Nil if the app hands plans to the system itself.
  public nonisolated let queue: DownloadQueue?
  private let isForDevice: @Sendable (ManifestPack) -> Bool
  /// Serializes the changes of the group in the queue.
  private let fetching = KeyedLock<String>()

  /// The id of the group of its requests in the queue.
  public static let group = "deliveries"

  /// Creates a delivery. Reads and changes nothing yet.
  ///
  /// - Parameters:
  ///   - state: The state that app and extension share. It must be on the same volume as the store, so that files are moved and never copied.
  ///   - store: The store where packs are installed.
  ///   - queue: The queue that downloads while the app runs.
  ///   - isForDevice: A further condition besides the store's device: returns whether a pack is meant for it. The extension must use the same rules.
  public init(
    state: SharedState, store: AssetStore, queue: DownloadQueue? = nil,
    isForDevice: @escaping @Sendable (ManifestPack) -> Bool = { _ in true }
  ) {
    self.state = state
    self.store = store
    self.queue = queue
    self.isForDevice = isForDevice
  }

  // MARK: Packs of the manifest

  /// Finds packs by name in the accepted manifest, and in its catalogue as far as it is on the device. Nothing is found without a manifest.
  package func lookup(_ ids: Set<String>) async throws(PackError) -> CatalogueLookup {
    guard await store.manifest != nil else { return CatalogueLookup() }
    return try await store.lookUp(ids)
  }

  /// Downloads the parts of the accepted manifest's catalogue that are missing to find some packs, or all of them, through the queue, which must be
  /// running. A plan that needs them has nothing about those packs (``plan(asked:downloads:freeSpace:)``); make another one afterwards.
  ///
  /// An app without a queue fetches them with ``PackLibrary``.
  ///
  /// - Parameter ids: The names of the packs. If nil, all packs.
  /// - Throws: ``PackError/Code/usage`` if there is no queue, ``PackError/Code/noManifest``, ``PackError/Code/offline``,
  ///   ``PackError/Code/downloadFailed``, ``PackError/Code/digestMismatch``, ``PackError/Code/noSpace``, ``PackError/Code/cancelled``.
  public func fetchCatalogue(for ids: Set<String>? = nil) async throws(PackError) {
    guard let queue else { throw noQueue }
    try await CatalogueFetch(store: store, queue: queue).run(for: ids)
  }

  private nonisolated var noQueue: PackError {
    PackError(
      .usage, "there is no queue to fetch with", advice: .developer("pass AppDelivery a DownloadQueue, or hand the plan to the system"))
  }

  // MARK: The start of the app

  /// The result of ``start()``.
  public struct Start: Sendable {
    /// The names of the packs whose installation was interrupted. Their files wait to be installed again.
    public internal(set) var interrupted: [String] = []
    /// The problems that were found in the store.
    public internal(set) var findings: [StoreFinding] = []
    /// The error if the store refused the manifest that the extension accepted. The store keeps its own manifest then.
    public internal(set) var refusal: PackError?
  }

  /// Recovers from the last run: repairs state and store, adopts the manifest that the extension accepted, and parks files that the queue finished.
  ///
  /// Call this once in each process, before any pack of the store is opened.
  public func start() async throws(PackError) -> Start {
    var start = Start()
    start.interrupted = try await blocking { (state) throws(PackError) in try state.recover() }
    start.findings = try await store.reconcile()
    do throws(PackError) {
      // What the extension followed counts, whether it accepted the manifest or not.
      if let record = try await blocking({ (state) throws(PackError) in try state.keysRecord() }) { try await store.follow(record) }
      if let document = try await blocking({ (state) throws(PackError) in try state.lastDocument() }) {
        try await store.adopt(SignedManifest(document))
      }
    } catch {
      start.refusal = error
    }
    try await parkFinished()
    return start
  }

  /// Accepts a manifest that the app fetched by itself, in the store and then in the shared state.
  ///
  /// - Throws: The errors of ``AssetStore/adopt(_:)``, and then the shared state is unchanged, or those of
  ///   ``PackDelivery/SharedState/accept(_:verify:)``. If only the store accepted the manifest, for example because the extension accepted a newer
  ///   one in the meantime, the next call corrects that.
  @discardableResult
  public func adopt(_ document: [UInt8]) async throws(PackError) -> UpdatePlan {
    let signed = try SignedManifest(document)
    let embedded = store.embeddedKeys
    // The keys documents count in both places, also if the store refuses the manifest. A refused one is reported by the store.
    try? await blocking { (state) throws(PackError) in try state.follow(signed, trusting: embedded) }
    let plan = try await store.adopt(signed)
    // The store has already checked the signatures of this document. The shared state cannot check signatures by itself.
    let store = store
    _ = try await blocking { (state) throws(PackError) in
      try state.accept(document) { (other) throws(PackError) in
        guard other.bytes == document else { return try store.authenticated(other) }
        return try Manifest(parsingSigned: other.bytes.byteSpan.extracting(other.signedBytes))
      }
    }
    return plan
  }

  // MARK: Planning

  /// Makes a plan from the manifest and the content of the store, and records it.
  ///
  /// The downloads of the plan are `scheduled` when this returns. The app must then pass the plan to ``fetch(_:)`` or hand its downloads to the
  /// system.
  ///
  /// - Parameters:
  ///   - asked: The names of the packs that the app wants now, including packs on demand.
  ///   - downloads: The identifiers of all downloads of the system's download service, except failed ones. Empty if the service is not used, nil if
  ///     it did not answer. The downloads of the queue are added.
  ///   - freeSpace: The number of bytes that are free on the device. Nil to ignore the free space. The store checks it again when it installs.
  /// - Throws: ``PackError/Code/noManifest``, ``PackError/Code/stateBusy``, or an error of the file system.
  public func plan(
    asked: Set<String> = [], downloads: Set<String>? = nil, freeSpace: UInt64? = nil
  ) async throws(PackError) -> DeliveryPlan {
    // The list first, then the finished files: a download that ends in between must not look lost, or it would be started again.
    var known = downloads
    if downloads != nil { known?.formUnion(try await queued()) }
    try await parkFinished()
    guard let manifest = await store.manifest?.manifest else {
      throw PackError(.noManifest, "no manifest was accepted yet", advice: .acceptManifest)
    }
    var device = try await store.installed().map {
      DevicePack(
        id: $0.id, version: $0.version, sha256: $0.sha256, mode: $0.mode, isRejected: $0.state == .failed, contentRoot: $0.contentRoot)
    }
    // The store remembers failed versions for longer than it keeps their content.
    device += try await store.plan().failed.map {
      DevicePack(id: $0.id, version: $0.version, sha256: $0.sha256, mode: $0.install, isRejected: true)
    }
    let facts = DeliveryFacts(
      .launch, at: state.time, device: device, downloads: known, asked: asked, freeSpace: freeSpace
    ) { [profile = store.device, isForDevice] pack in profile.accepts(pack) && isForDevice(pack) }
    return try await blocking { [catalogue = store.catalogue] (state) throws(PackError) in
      try state.plan(for: manifest, facts: facts) { (ids) throws(PackError) in try catalogue.lookUp(ids, in: manifest) }.plan
    }
  }

  // MARK: Installing

  /// The result of installing one file.
  public struct Installation: Sendable {
    /// The name of the pack.
    public let id: String
    /// The installed version. Nil if the installation failed.
    public let installed: InstalledPack?
    /// The error if the installation failed. Nil if it succeeded, or if the file was gone.
    public let failure: PackError?
    /// The new record. Nil if another process had changed the record, the file was gone, or the record could not be written. The next plan corrects
    /// this.
    public let status: PackStatus?
  }

  /// Installs all files that a plan hands over, one after the other. It does not activate them: the app does that.
  ///
  /// If there is no space or no key, or the store is busy, the file is kept and waits. A file that does not match the manifest is removed and
  /// downloaded again. If one file fails, the others are still installed.
  ///
  /// - Throws: ``PackError/Code/cancelled``, with the current file kept, or an error of the shared state's file system.
  public func install(_ plan: DeliveryPlan, progress: ProgressHandler? = nil) async throws(PackError) -> [Installation] {
    var installations: [Installation] = []
    for file in plan.handOver {
      guard let path = try await blocking({ (state) throws(PackError) in try state.beginInstall(file) }) else {
        installations.append(Installation(id: file.id, installed: nil, failure: nil, status: nil))
        continue
      }
      let installed: InstalledPack
      do throws(PackError) {
        installed = try await store.install(path, as: file.id, taking: .moving, mode: file.mode, progress: progress)
      } catch {
        let status = try await finish(file, Self.outcome(of: error))
        guard error.code != .cancelled else { throw error }
        installations.append(Installation(id: file.id, installed: nil, failure: error, status: status))
        continue
      }
      // The pack is installed even if this cannot be recorded: the next plan finds it in the store.
      let status = try? await finish(file, .installed(installed.mode))
      installations.append(Installation(id: file.id, installed: installed, failure: nil, status: status))
    }
    return installations
  }

  private func finish(_ file: HandOver, _ outcome: SharedState.InstallOutcome) async throws(PackError) -> PackStatus? {
    try await blocking { (state) throws(PackError) in try state.finishInstall(file, outcome) }
  }

  /// Returns what an error of the store means for the file: whether the file is kept, or is unusable.
  package static func outcome(of error: PackError) -> SharedState.InstallOutcome {
    switch error.code {
    case .noSpace, .quotaExceeded, .noKey, .wrongKey, .notWrapped, .noUsableKey, .malformedKey, .storeBusy, .cancelled, .noManifest,
      .manifestExpired, .keysExpired, .manifestRollback, .unknownPack, .catalogueNotAvailable, .damagedManifest, .cannotRead, .cannotWrite,
      .inUse, .unsupported, .damagedStore, .sourceChanged, .internalError:
      .putOff
    case .versionFailed: .failed(.rejected)
    case .wrongBase: .failed(.base)
    case .truncated: .failed(.wrongSize)
    case .digestMismatch, .wrongPack, .notAPack, .damagedHeader, .authenticationFailed, .damagedPayload, .damagedArchive:
      .failed(.wrongBytes)
    default: .failed(.installation)
    }
  }

  // MARK: Tidying

  /// The result of ``tidy(_:)``.
  public struct Tidied: Hashable, Sendable {
    /// The number of bytes freed by removing unneeded files.
    public internal(set) var freed: UInt64 = 0
    /// The names of obsolete packs that were removed.
    public internal(set) var removed: [String] = []
    /// The names of obsolete packs that are open. They are removed by a later call.
    public internal(set) var inUse: [String] = []
  }

  /// Removes what a plan lists as no longer needed: files of other versions, and packs that the manifest no longer offers.
  public func tidy(_ plan: DeliveryPlan) async throws(PackError) -> Tidied {
    var tidied = Tidied()
    tidied.freed = try await blocking { (state) throws(PackError) in try state.discard(plan.orphans) }
    for pack in plan.obsolete {
      do throws(PackError) {
        try await store.remove(pack.id)
      } catch {
        guard error.code == .inUse else { throw error }
        tidied.inUse.append(pack.id)
        continue
      }
      try await blocking { (state) throws(PackError) in _ = try state.forget(pack.id) }
      tidied.removed.append(pack.id)
    }
    return tidied
  }

  // MARK: Downloading

  /// Adds the downloads of a plan to the queue, and cancels the downloads that the plan cancels.
  ///
  /// - Throws: ``PackError/Code/usage`` if there is no queue.
  public func fetch(_ plan: DeliveryPlan) async throws(PackError) {
    guard let queue else { throw noQueue }
    // One call at a time, so that a call does not lose requests while another one rebuilds the group.
    try await fetching.lock(Self.group)
    defer { fetching.unlock(Self.group) }
    for identifier in plan.cancellations {
      _ = try await inQueue(identifier) { (queue, id) throws(PackError) in try await queue.cancel(id) }
    }
    let group = await queue.groups.contains(Self.group) ? try await queue.status(ofGroup: Self.group) : nil
    // Nothing can be added to a cancelled group. A group whose requests are all settled is replaced, because it would otherwise keep growing.
    let isOver = group.map { $0.isCancelled || (!$0.isPaused && $0.finished + $0.cancelled == $0.count) } ?? false
    if isOver { try await renew(besides: plan.downloads, in: queue) }
    do throws(PackError) {
      try await submit(plan.downloads, to: queue)
    } catch {
      // The same bytes have another URL now, and a request never changes; or the group has too many settled requests.
      guard error.code == .requestExists || error.code == .limitExceeded else { throw error }
      try await renew(besides: plan.downloads, in: queue)
      try await submit(plan.downloads, to: queue)
      if group?.isPaused == true { try await queue.pause(group: Self.group) }
    }
    try await dismissArrived(besides: plan.downloads)
    for download in plan.downloads {
      // Downloads that failed or were cancelled, or whose files were removed, are tried again.
      _ = try await inQueue(download.identifier.description) { (queue, id) throws(PackError) in try await queue.retry(id) }
    }
    // The queue does not report files again that it has already finished.
    try await parkFinished()
  }

  private func submit(_ downloads: [PlannedDownload], to queue: DownloadQueue) async throws(PackError) {
    try await queue.submit(
      downloads.lazy.map { download in
        // The system may use the same identifier for a download as the extension does.
        DownloadRequest(
          id: download.identifier.description, extensionID: download.identifier.description, url: download.url, size: download.bytes.size,
          sha256: download.bytes.sha256, priority: download.priority, isEssential: download.isEssential)
      }, group: Self.group)
  }

  /// Rebuilds the group with the requests in progress, except those for `downloads`. Partly downloaded files start again. If the process ends in the
  /// middle, the next plan finds what is missing.
  private func renew(besides downloads: [PlannedDownload], in queue: DownloadQueue) async throws(PackError) {
    try await parkFinished()
    let planned = Set(downloads.map(\.identifier.description))
    let underWay = try await queued().subtracting(planned)
    var requests: [DownloadRequest] = []
    for identifier in underWay.sorted() {
      if let status = try await inQueue(identifier, { (queue, id) throws(PackError) in try await queue.status(of: id) }) {
        requests.append(status.request)
      }
    }
    try await queue.remove(group: Self.group)
    try await queue.submit(requests, group: Self.group)
  }

  /// Records that a pack is not wanted, and cancels its download in the queue. The pack is downloaded again if the app asks for it in a plan.
  ///
  /// A download that was handed to the system directly is not cancelled.
  public func cancel(_ id: String) async throws(PackError) {
    guard let identifier = try await blocking({ (state) throws(PackError) in try state.cancel(id) }) else { return }
    _ = try await inQueue(identifier.description) { (queue, id) throws(PackError) in try await queue.cancel(id) }
  }

  /// Cancels requests in the queue whose files arrived in another way: through the extension, or from a system service after the queue stopped
  /// waiting for it.
  ///
  /// - Parameter downloads: what is downloaded now.
  private func dismissArrived(besides downloads: [PlannedDownload]) async throws(PackError) {
    guard let queue, await queue.groups.contains(Self.group) else { return }
    let unfinished = try await queue.unfinished(inGroup: Self.group)
    guard !unfinished.isEmpty else { return }
    let records = try await blocking { (state) throws(PackError) in try state.content().records }
    let states = Dictionary(records.map { ($0.identifier.description, $0.state.kind) }, uniquingKeysWith: { first, _ in first })
    let planned = Set(downloads.map(\.identifier.description))
    for identifier in unfinished where !planned.contains(identifier) {
      let hasArrived =
        switch states[identifier] {
        case .toBeTransferred, .installing, .ready: true
        default: false
        }
      if hasArrived { _ = try await inQueue(identifier) { (queue, id) throws(PackError) in try await queue.cancel(id) } }
    }
  }

  /// Records an event of the queue.
  ///
  /// - Returns: The record that changed, or the record of a finished file that waits already. Nil if no record changed, or the event is about
  ///   another group.
  @discardableResult
  public func take(_ event: DownloadEvent) async throws(PackError) -> PackStatus? {
    switch event {
    case .began(let id, _): return try await note(.began, of: id)
    case .retrying(let id, _, _): return try await note(.paused(.network), of: id)
    case .lowSpace(let id, _, _): return try await note(.paused(.system), of: id)
    case .finished(let id, let path):
      guard id.group == Self.group else { return nil }
      return try await park(path, as: id)
    case .failed(let id, let failure):
      guard id.group == Self.group else { return nil }
      guard let failure = failure.deliveryFailure else { return try await note(failure == .cancelled ? .cancelled : .forgotten, of: id) }
      let remedy = try await blocking { (state) throws(PackError) in
        try state.downloadFailed(.download(identifier: id.id), failure)
      }
      // The queue has given up on the download, and does not distinguish essential downloads from others. The next plan starts it again.
      guard case .planAgain(let status) = remedy else { return try await note(.forgotten, of: id) }
      return status
    case .progress, .forgotten, .offline, .online: return nil
    }
  }

  private func note(_ event: PackEvent, of id: DownloadID) async throws(PackError) -> PackStatus? {
    guard id.group == Self.group else { return nil }
    return try await blocking { (state) throws(PackError) in try state.note(event, ofDownload: id.id) }
  }

  /// Moves a finished file into the shared directory, from which it is installed.
  private func park(_ path: String, as id: DownloadID) async throws(PackError) -> PackStatus? {
    let parking: SharedState.Parking
    do throws(PackError) {
      parking = try await blocking { (state) throws(PackError) in try state.park(path, asDownload: id.id) }
    } catch {
      guard error.code == .missingInput else { throw error }
      // The file was already found finished and moved, before this event of the queue was handled.
      return await parked(id.id)
    }
    switch parking {
    case .recorded(let status): return status
    case .unrecorded: return nil
    case .notNeeded, .wrongSize:
      try await queue?.discard(id)
      return nil
    }
  }

  /// Returns the record of a file that waits already, or nil if it does not wait.
  private func parked(_ identifier: String) async -> PackStatus? {
    guard let download = DownloadIdentifier(identifier),
      let status = try? await blocking({ (state) throws(PackError) in try state.status(of: download.id) }),
      status.identifier == download, status.state == .toBeTransferred
    else { return nil }
    return status
  }

  private func parkFinished() async throws(PackError) {
    guard let queue, await queue.groups.contains(Self.group) else { return }
    for identifier in try await queue.finished(inGroup: Self.group) {
      let id = DownloadID(group: Self.group, id: identifier)
      if let path = try await queue.file(of: id) { _ = try await park(path, as: id) }
    }
  }

  /// Returns the identifiers of the downloads that the queue has not settled.
  private func queued() async throws(PackError) -> Set<String> {
    var identifiers: Set<String> = []
    let records = try await blocking { (state) throws(PackError) in try state.content().records }
    for record in records where record.state.isUnderWay {
      let identifier = record.identifier.description
      let status = try await inQueue(identifier) { (queue, id) throws(PackError) in try await queue.status(of: id) }
      switch status?.state {
      case .waiting, .running, .retrying, .paused: identifiers.insert(identifier)
      case .finished, .failed, .cancelled, nil: break
      }
    }
    return identifiers
  }

  /// Calls `body` for a request in the queue. Returns nil if there is no such request.
  private func inQueue<Value: Sendable>(
    _ identifier: String, _ body: (DownloadQueue, DownloadID) async throws(PackError) -> Value
  ) async throws(PackError) -> Value? {
    guard let queue, await queue.groups.contains(Self.group) else { return nil }
    do throws(PackError) {
      return try await body(queue, DownloadID(group: Self.group, id: identifier))
    } catch {
      guard error.code == .noSuchRequest else { throw error }
      return nil
    }
  }

  /// Runs `body` on the worker pool. The shared state blocks its thread, which must not be a thread of the cooperative pool.
  private nonisolated func blocking<Value: Sendable>(
    _ body: @escaping @Sendable (SharedState) throws(PackError) -> Value
  ) async throws(PackError) -> Value {
    try await WorkerPool.settled { [state] () throws(PackError) in try body(state) }
  }
}
