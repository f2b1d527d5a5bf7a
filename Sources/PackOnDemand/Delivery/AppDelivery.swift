public import PackDelivery
public import PackDownloads
public import PackFormat
public import PackManifest
public import PackReading
public import PackStore
import PackTrust
import PackWork

/// The app's side of deliveries: takes what the extension brought into the store, and fetches the rest.
///
/// It holds no state of its own: what counts is in the shared state, the store and the queue, and may be looked at by others meanwhile. The usual order at the start of
/// an app is ``start()``, ``plan(asked:downloads:freeSpace:)``, ``install(_:progress:)``, ``tidy(_:)``, ``fetch(_:)``, and from then on ``take(_:)`` with what the
/// queue tells. After each ``take(_:)`` that parked a file, plan and install again.
public actor AppDelivery {
  /// What app and extension share.
  public nonisolated let state: SharedState
  /// What the app has.
  public nonisolated let store: AssetStore
  /// What the app downloads with while it runs; nil where it hands plans to the system itself.
  public nonisolated let queue: DownloadQueue?
  private let isForDevice: @Sendable (ManifestPack) -> Bool
  /// Whose turn it is to change the group of its requests.
  private let fetching = KeyedLock<String>()

  /// The group of its requests in the queue.
  public static let group = "deliveries"

  /// Puts the parts together, and does nothing yet.
  ///
  /// - Parameters:
  ///   - state: what app and extension share, on the volume of the store, so that files are moved and never copied.
  ///   - store: where packs are installed.
  ///   - queue: what downloads while the app runs.
  ///   - isForDevice: whether a pack is meant for this device, as the extension decides it too.
  public init(
    state: SharedState, store: AssetStore, queue: DownloadQueue? = nil,
    isForDevice: @escaping @Sendable (ManifestPack) -> Bool = { _ in true }
  ) {
    self.state = state
    self.store = store
    self.queue = queue
    self.isForDevice = isForDevice
  }

  // MARK: The start of the app

  /// What was found at the start of the app.
  public struct Start: Sendable {
    /// The names of the packs whose installation was interrupted. Their files wait again.
    public internal(set) var interrupted: [String] = []
    /// What was wrong with the store.
    public internal(set) var findings: [StoreFinding] = []
    /// Why the manifest that the extension accepted was not taken over; the store goes on with its own.
    public internal(set) var refusal: PackError?
  }

  /// Takes up what the last run left: repairs state and store, adopts the manifest that the extension accepted, and parks files that the queue finished.
  ///
  /// To be called once in a process, before anything of the store is opened.
  public func start() async throws(PackError) -> Start {
    var start = Start()
    start.interrupted = try await blocking { (state) throws(PackError) in try state.recover() }
    start.findings = try await store.reconcile()
    do throws(PackError) {
      if let document = try await blocking({ (state) throws(PackError) in try state.lastDocument() }) {
        try await store.adopt(SignedManifest(document))
      }
    } catch {
      start.refusal = error
    }
    try await parkFinished()
    return start
  }

  /// Takes a manifest that the app fetched by itself. On any error nothing changes.
  ///
  /// - Throws: what ``AssetStore/adopt(_:)`` and ``PackDelivery/SharedState/accept(_:verify:)`` throw. Where the store has it and the shared state does not,
  ///   which the extension may have taken further meanwhile, the next call puts that right.
  @discardableResult
  public func adopt(_ document: [UInt8]) async throws(PackError) -> UpdatePlan {
    let signed = try SignedManifest(document)
    let plan = try await store.adopt(signed)
    // The store checked the signatures of this one, and has perhaps a later one by now; the shared state has nothing to check them with.
    let store = store
    _ = try await blocking { (state) throws(PackError) in
      try state.accept(document) { (other) throws(PackError) in
        guard other.bytes == document else { return try store.vouched(other) }
        return try Manifest(parsingSigned: other.bytes.span.extracting(other.signedBytes))
      }
    }
    return plan
  }

  // MARK: Planning

  /// Plans with what the store has, and records the plan: what is in its downloads is `scheduled` when this returns, and has to be handed over, by
  /// ``fetch(_:)`` or to the system.
  ///
  /// - Parameters:
  ///   - asked: the packs that the app wants now, those on demand among them.
  ///   - downloads: the identifiers of what the system's download service has, but for those that failed; empty where none is used, nil where it did
  ///     not answer. What the queue has comes to it.
  ///   - freeSpace: the bytes that are free on the device; nil where they are not to be looked at. The store looks again when it installs.
  /// - Throws: ``PackError/Code/noManifest``, ``PackError/Code/stateBusy``, or what the disk says.
  public func plan(
    asked: Set<String> = [], downloads: Set<String>? = nil, freeSpace: UInt64? = nil
  ) async throws(PackError) -> DeliveryPlan {
    let update = try await store.plan()
    guard let manifest = await store.manifest?.manifest else {
      throw PackError(.noManifest, "no manifest was accepted yet", advice: .acceptManifest)
    }
    var device = try await store.installed().map {
      DevicePack(id: $0.id, version: $0.version, sha256: $0.sha256, mode: $0.mode, isRejected: $0.state == .failed)
    }
    // What fell on its trial is remembered longer than it is kept.
    device += update.failed.map { DevicePack(id: $0.id, version: $0.version, sha256: $0.sha256, mode: $0.install, isRejected: true) }
    var known = downloads
    if downloads != nil { known?.formUnion(try await queued()) }
    let facts = DeliveryFacts(
      .launch, at: state.time, device: device, downloads: known, asked: asked, freeSpace: freeSpace, isForDevice: isForDevice)
    return try await blocking { (state) throws(PackError) in try state.plan(for: manifest, facts: facts).plan }
  }

  // MARK: Installing

  /// How the installation of one file ended.
  public struct Installation: Sendable {
    /// The name of the pack.
    public let id: String
    /// What is installed now; nil where nothing is.
    public let installed: InstalledPack?
    /// Why it is not.
    public let failure: PackError?
    /// What was recorded; nil where somebody else had changed the record, the file was gone, or it could not be recorded. The next plan knows more.
    public let status: PackStatus?
  }

  /// Installs all files that a plan hands over, one after the other. The app activates what it wants to run.
  ///
  /// A file with which nothing is wrong waits on where there is no room, no key, or no turn; one that is not what the manifest names goes, and is downloaded
  /// again. One that fails keeps none of the others.
  ///
  /// - Throws: ``PackError/Code/cancelled``, after the file at hand was put back; or what the shared state's disk says.
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
      // The store has it, and that is what counts: where it cannot be recorded, the next plan finds it there.
      let status = try? await finish(file, .installed(installed.mode))
      installations.append(Installation(id: file.id, installed: installed, failure: nil, status: status))
    }
    return installations
  }

  private func finish(_ file: HandOver, _ outcome: SharedState.InstallOutcome) async throws(PackError) -> PackStatus? {
    try await blocking { (state) throws(PackError) in try state.finishInstall(file, outcome) }
  }

  /// What an error of the store says about the file.
  package static func outcome(of error: PackError) -> SharedState.InstallOutcome {
    switch error.code {
    case .noSpace, .quotaExceeded, .noKey, .wrongKey, .noUsableKey, .malformedKey, .storeBusy, .cancelled, .noManifest, .manifestExpired,
      .manifestRollback, .unknownPack, .cannotRead, .cannotWrite, .inUse, .unsupported, .damagedStore, .sourceChanged, .internalError:
      .putOff
    case .versionFailed: .failed(.rejected)
    case .truncated: .failed(.wrongSize)
    case .digestMismatch, .wrongPack, .notAPack, .damagedHeader, .authenticationFailed, .damagedPayload, .damagedArchive:
      .failed(.wrongBytes)
    default: .failed(.installation)
    }
  }

  // MARK: Tidying

  /// What was removed.
  public struct Tidied: Hashable, Sendable {
    /// The bytes of files that nobody had a use for.
    public internal(set) var freed: UInt64 = 0
    /// The packs that the manifest does not offer, and of which nothing is left.
    public internal(set) var removed: [String] = []
    /// Those that somebody has open. They go another time.
    public internal(set) var inUse: [String] = []
  }

  /// Removes what a plan says nobody has a use for: files of other versions, and packs that the manifest does not offer any more.
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

  /// Hands the downloads of a plan to the queue, and takes out of it what the plan cancels.
  ///
  /// - Throws: ``PackError/Code/usage`` where there is no queue.
  public func fetch(_ plan: DeliveryPlan) async throws(PackError) {
    guard let queue else {
      throw PackError(
        .usage, "there is no queue to fetch with", advice: .developer("give AppDelivery a DownloadQueue, or hand the plan to the system"))
    }
    // One after the other: what one makes anew, another must not lose.
    try await fetching.lock(Self.group)
    defer { fetching.unlock(Self.group) }
    for identifier in plan.cancellations {
      _ = try await inQueue(identifier) { (queue, id) throws(PackError) in try await queue.cancel(id) }
    }
    let group = await queue.groups.contains(Self.group) ? try await queue.status(ofGroup: Self.group) : nil
    // To what somebody cancelled nothing can be added, and what is settled would be remembered for as long as there is the app.
    let isOver = group.map { $0.isCancelled || (!$0.isPaused && $0.finished + $0.cancelled == $0.count) } ?? false
    if isOver { try await renew(besides: plan.downloads, in: queue) }
    do throws(PackError) {
      try await submit(plan.downloads, to: queue)
    } catch {
      // The same bytes have another place now, and a request never changes; or there are too many that are over.
      guard error.code == .requestExists || error.code == .limitExceeded else { throw error }
      try await renew(besides: plan.downloads, in: queue)
      try await submit(plan.downloads, to: queue)
      if group?.isPaused == true { try await queue.pause(group: Self.group) }
    }
    try await dismissArrived()
    for download in plan.downloads {
      // What was given up, cancelled or taken away before is tried anew.
      _ = try await inQueue(download.identifier.description) { (queue, id) throws(PackError) in try await queue.retry(id) }
    }
    // A file that is here already is not told of again.
    try await parkFinished()
  }

  private func submit(_ downloads: [PlannedDownload], to queue: DownloadQueue) async throws(PackError) {
    try await queue.submit(
      downloads.lazy.map { download in
        // The system may know a download by the same name as the extension does.
        DownloadRequest(
          id: download.identifier.description, extensionID: download.identifier.description, url: download.url, size: download.bytes.size,
          sha256: download.bytes.sha256, priority: download.priority, isEssential: download.isEssential)
      }, group: Self.group)
  }

  /// Makes the group anew with what is under way besides some downloads. What came of files that are not whole comes again. Where the process ends in the
  /// middle of it, the next plans find what is missing.
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

  /// Gives a pack up that the person does not want, and ends its download in the queue. It comes again when it is asked for. A download that was handed to
  /// the system directly is not ended by this.
  public func cancel(_ id: String) async throws(PackError) {
    guard let identifier = try await blocking({ (state) throws(PackError) in try state.cancel(id) }) else { return }
    _ = try await inQueue(identifier.description) { (queue, id) throws(PackError) in try await queue.cancel(id) }
  }

  /// Takes out of the queue what came by another way: through the extension, or from a system's service that went on after the queue stopped waiting.
  private func dismissArrived() async throws(PackError) {
    let records = try await blocking { (state) throws(PackError) in try state.content().records }
    for record in records {
      switch record.state.kind {
      case .toBeTransferred, .installing, .ready: break
      default: continue
      }
      let identifier = record.identifier.description
      switch try await inQueue(identifier, { (queue, id) throws(PackError) in try await queue.status(of: id) })?.state {
      case .waiting, .running, .retrying, .paused, .failed:
        _ = try await inQueue(identifier) { (queue, id) throws(PackError) in try await queue.cancel(id) }
      case .finished, .cancelled, nil: break
      }
    }
  }

  /// Records what the queue tells.
  ///
  /// - Returns: the record that changed, or of a finished file that waits already; nil where none did, or the event is about something else.
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
      // The queue knows no difference between essential and not, and has given up: the next plan hands it over again.
      guard case .planAgain(let status) = remedy else { return try await note(.forgotten, of: id) }
      return status
    case .progress, .forgotten, .offline, .online: return nil
    }
  }

  private func note(_ event: PackEvent, of id: DownloadID) async throws(PackError) -> PackStatus? {
    guard id.group == Self.group else { return nil }
    return try await blocking { (state) throws(PackError) in try state.note(event, ofDownload: id.id) }
  }

  /// Moves a finished file into the shared directory, where installations take it from.
  private func park(_ path: String, as id: DownloadID) async throws(PackError) -> PackStatus? {
    let parking: SharedState.Parking
    do throws(PackError) {
      parking = try await blocking { (state) throws(PackError) in try state.park(path, asDownload: id.id) }
    } catch {
      guard error.code == .missingInput else { throw error }
      // It was found finished, and moved, before the queue's word of it was taken.
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

  /// The record of a file that waits already; nil where it does not.
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

  /// The identifiers of what the queue has not settled.
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

  /// Does something to a request; nil where there is none.
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

  /// The shared state blocks its thread, which must not be one of those that all tasks share.
  private nonisolated func blocking<Value: Sendable>(
    _ body: @escaping @Sendable (SharedState) throws(PackError) -> Value
  ) async throws(PackError) -> Value {
    try await WorkerPool.settled { [state] () throws(PackError) in try body(state) }
  }
}
