/// The loop behind a library: after each event it makes a plan, installs the files that wait, and hands the rest to the download service.
actor LibraryLoop {
  /// A small file on the server, which is fetched whole.
  enum ServerFile: Sendable {
    /// The signed manifest.
    case manifest
    /// A shard of its catalogue, of exactly this size in bytes.
    case shard(address: String, size: Int)
    /// The file that opens a pack, of exactly this size in bytes. If the server does not have it, the error is ``PackError/Code/sealed``.
    case opener(address: String, size: Int)
    /// A file whose name is all that matters: what comes is ignored.
    case seen(address: String)

    /// Whether it may be missing.
    var isOpener: Bool { if case .opener = self { true } else { false } }
    var isManifest: Bool { if case .manifest = self { true } else { false } }
  }

  /// Returns a file that the server has now.
  typealias Source = @Sendable (ServerFile) async throws(PackError) -> [UInt8]
  typealias Status = PackLibrary.Status
  typealias Change = PackLibrary.Change

  /// The work on a pack, byte by byte.
  enum Step: Sendable {
    /// So many bytes of its file are here.
    case received(String, UInt64, size: UInt64)
    case installing(String, PackProgress)
  }

  nonisolated let delivery: AppDelivery
  nonisolated let changes = EventHub<Change>(bufferedCount: 256)
  nonisolated let steps = EventHub<Step>(bufferedCount: 1)
  nonisolated let notices = EventHub<LowSpace>(bufferedCount: 64)
  /// The packs that were made usable in this process, by name.
  nonisolated let opened = Monitor<[String: OpenedPack]>([:])
  nonisolated let exports: FileExports

  let service: any DownloadService
  let source: Source
  let bundled: BundledRelease?
  let confirmsVersions: Bool
  let consent: DownloadConsent?
  private let seen: PackLibrary.SeenFiles?
  /// The age from which on the manifest is fetched again when the app comes to the foreground, in seconds.
  private let refreshInterval: Int64
  /// Waits before a retry that a plan put off.
  let sleep: @Sendable (_ seconds: UInt64) async -> Void

  /// Serializes plans, and the activations of each pack.
  let locks = KeyedLock<String>()
  var waiters = Waiters()
  /// The packs that the next plan tries again whatever failed before.
  var requested: Set<String> = []
  /// The bytes of downloads that arrived.
  var progress: [String: PackBytesReceived] = [:]
  /// The packs whose last attempt failed.
  var retrying: Set<String> = []
  /// The errors that end the waiting for a pack.
  var failures: [String: PackError] = [:]
  /// The number of bytes that were free when space was last freed for a download.
  var freed: [String: UInt64] = [:]
  /// The packs of which the app contains other bytes than those of the manifest.
  var foreign: Set<String> = []
  /// The packs whose shards were missing for the last plan.
  var undecided: Set<String> = []
  /// Whether somebody listed the packs, so that all shards are fetched.
  var isListed = false
  /// The fetching of shards, which goes on until none is missing. Nil if none is wanted.
  var fetching: Task<Void, Never>?
  /// The packs that the last attempt to fetch shards was for, and whether it was for all. Nil while it runs.
  var fetched: (ids: Set<String>, isListed: Bool)?
  /// Whether more was wanted while an attempt was running.
  var isFetchedAgain = false
  /// The number of attempts to fetch a shard that failed, one after the other.
  var fetchFailures = 0
  /// The requests for openers that are missing. Nil if none is.
  var openers: Task<Void, Never>?
  /// What came of the last request for each opener, by its address.
  var openerRequests: [String: OpenerRequest] = [:]
  /// Whether openers are being requested now.
  var isAskingForOpeners = false
  /// Whether another plan was made meanwhile.
  var isOpenerWanted = false
  var hasNetwork = true
  var running: Task<Void, Never>?
  var retry: Task<Void, Never>?
  var isStopped = false
  /// The downloads that the user agreed to.
  var agreed: Set<DownloadIdentifier> = []
  /// The downloads of later batches that the user declined with the first.
  var declined: Set<DownloadIdentifier> = []
  /// The packs of the question that has no answer yet.
  var asking: Set<String> = []
  /// The packs that are read while they arrive, until they are installed.
  var playing: Set<String> = []
  /// The number of calls that play each of them.
  var players: [String: Int] = [:]
  /// The downloads that wait for an answer.
  var held: [PlannedDownload] = []
  /// The time when the manifest was fetched, in seconds since 1970.
  var refreshed: Int64?
  /// The request for the manifest that is made before candidates begin, and when the last one failed, in seconds since 1970.
  private var rolloutRequest: Task<Void, Never>?
  private var rolloutFailure: Int64?
  /// The number of calls that fetch it now.
  private var refreshCount = 0
  /// Says when another manifest was accepted, by whomever.
  var adoptions: EventHub<StoreEvent>.Handling?
  /// Tells what became of versions.
  private var tellings: EventHub<StoreEvent>.Handling?

  struct PackBytesReceived {
    var received: UInt64
    var size: UInt64
    var fraction: Double { size == 0 ? 0 : min(1, Double(received) / Double(size)) }
  }

  init(
    _ delivery: AppDelivery, service: any DownloadService, bundled: BundledRelease?, exports: FileExports,
    _ options: PackLibrary.Options, source: @escaping Source, sleep: @escaping @Sendable (_ seconds: UInt64) async -> Void
  ) {
    self.delivery = delivery
    self.service = service
    self.bundled = bundled
    self.exports = exports
    confirmsVersions = options.confirmsVersions
    consent = options.consent
    seen = options.seen
    refreshInterval = options.refreshInterval.components.seconds
    self.source = source
    self.sleep = sleep
  }

  /// Recovers from the last run, and starts the downloads.
  func start() async throws(PackError) {
    // Before the store looks at what ran last.
    if let seen { tellings = delivery.store.hub.handle { [weak self] event in Task { await self?.tell(event, seen) } } }
    _ = try await delivery.start()
    if let bundled { try await adopt(bundled) }
    // What began in an earlier process was agreed to then.
    let records = try await WorkerPool.settled { [state = delivery.state] () throws(PackError) in try state.content().records }
    agreed = Set(records.filter { [.loading, .paused].contains($0.state.kind) }.map(\.identifier))
    adoptions = delivery.store.hub.handle { [changes] in if case .adopted = $0 { changes.tell(.list) } }
    let events = service.events()
    running = Task { [weak self] in
      await withTaskGroup { tasks in
        tasks.addTask { [weak self] in
          for await notice in events { await self?.take(notice) }
        }
        tasks.addTask { [weak self] in await self?.resume() }
      }
    }
  }

  /// Accepts the manifest in the app if it is newer than the accepted one, as after the first start and after an update of the app.
  private func adopt(_ bundled: BundledRelease) async throws(PackError) {
    let document = try SignedManifest(bundled.document)
    do throws(PackError) {
      try await delivery.store.follow(KeysChain.text(of: document.keysBytes.map { Array(document.bytes[$0]) }))
      let version = try delivery.store.authenticated(document).version
      if let accepted = await delivery.store.manifest?.manifest, accepted.version >= version { return }
      try await delivery.adopt(bundled.document)
    } catch {
      // The device may have followed keys documents that no longer list the keys of this manifest.
      let embedded = delivery.store.embeddedKeys
      if [.untrustedSignature, .untrustedKeys].contains(error.code), try await delivery.store.trustedKeys != embedded { return }
      // An old app can still install what it contains when it gets a newer manifest from the server.
      guard [.manifestExpired, .manifestRollback, .keysExpired].contains(error.code) else { throw error }
    }
  }

  func stop() async {
    isStopped = true
    running?.cancel()
    retry?.cancel()
    fetching?.cancel()
    openers?.cancel()
    opened.withLock { $0 = [:] }
    // A plan may be recording downloads, which cannot start after this.
    if (try? await locks.lock("records")) != nil { locks.unlock("records") }
    await service.stop()
    for id in waiters.packs {
      failures[id] = Self.closed
      await report(id)
    }
  }

  /// What calls of a library say that was stopped.
  static var closed: PackError { PackError(.cancelled, "the library is closed") }

  // MARK: The manifest

  func refresh() async throws(PackError) -> Bool {
    refreshCount += 1
    defer { refreshCount -= 1 }
    let isChanged = try await adoptPublished()
    try await bring()
    if isListed, try await fetchShards() { try await bring() }
    return isChanged
  }

  /// Fetches the manifest if it is old and no other call fetches it. Otherwise, and without a network, only looks for what arrived while the app did not
  /// run.
  func resume() async {
    let time = delivery.state.time
    let isNew = refreshed.map { time >= $0 && time - $0 < refreshInterval } ?? false
    if !isNew, refreshCount == 0, (try? await refresh()) != nil { return }
    try? await bring()
  }

  /// Accepts the manifest that the server has now. Returns whether it is a newer one.
  func adoptPublished() async throws(PackError) -> Bool {
    let before = await delivery.store.manifest?.manifest.version
    try await delivery.adopt(try await source(.manifest))
    refreshed = delivery.state.time
    let after = await delivery.store.manifest?.manifest.version
    guard before != after else { return false }
    foreign = []
    return true
  }

  /// Returns whether a pack is the candidate of a rollout that is here and that this process did not open yet.
  func begins(_ pack: ManifestPack) async throws(PackError) -> Bool {
    guard pack.isCandidate, opened.withLock({ $0[pack.id]?.installed.sha256 }) != pack.sha256 else { return false }
    return try await delivery.store.installed(pack.id).contains { $0.sha256 == pack.sha256 && $0.state != .failed }
  }

  /// Asks the server for the manifest before this process opens a candidate for the first time, unless it was asked in the last minute: it may have been
  /// taken back. Waits for at most one and a half seconds; after that, what is known counts.
  func askAboutRollouts() async {
    let time = delivery.state.time
    if let refreshed, time >= refreshed, time - refreshed <= Self.freshSeconds { return }
    if rolloutRequest == nil {
      // One that failed is not made again for each pack.
      if let failed = rolloutFailure, time >= failed, time - failed < Self.failedSeconds { return }
      rolloutRequest = Task { [weak self] in await self?.adoptForRollouts() }
    }
    guard let request = rolloutRequest else { return }
    let (answers, answer) = AsyncStream.makeStream(of: Void.self)
    Task {
      await request.value
      answer.yield()
    }
    let patience = Task {
      try? await Task.sleep(for: .milliseconds(1500))
      answer.yield()
    }
    for await _ in answers { break }
    patience.cancel()
  }

  private func adoptForRollouts() async {
    do throws(PackError) {
      if try await adoptPublished() { planAgain(after: 1) }
      rolloutFailure = nil
    } catch {
      rolloutFailure = delivery.state.time
    }
    rolloutRequest = nil
  }

  /// The number of seconds in which a request about rollouts that failed is not made again.
  private static let failedSeconds: Int64 = 10
  /// The age in seconds up to which a manifest tells whether a candidate may begin.
  private static let freshSeconds: Int64 = 60

  /// Accepts the manifest that the server has.
  func fetchManifest() async throws(PackError) { _ = try await adoptPublished() }

  /// Waits before another attempt.
  func pause(seconds: UInt64) async { await sleep(seconds) }

  /// Throws if the accepted manifest is known not to have a pack. Fetches a manifest if there is none.
  func check(_ id: String) async throws(PackError) {
    if await delivery.store.manifest == nil { _ = try await adoptPublished() }
    let lookup = try await delivery.lookup([id])
    if let refusal = lookup.refusal { throw refusal }
    // If the shard is missing, it is fetched first.
    guard lookup.unknown.isEmpty, !lookup.packs.values.contains(where: delivery.isOffered) else { return }
    throw PackError(
      .unknownPack, "the manifest has no pack '\(printable(id.utf8))' for this device",
      advice: .developer("check the name, or publish a manifest that has the pack"))
  }
}
