/// The loop behind a library: after each event it makes a plan, installs the files that wait, and hands the rest to the download service.
actor LibraryLoop {
  /// A small file on the server, which is fetched whole.
  enum ServerFile: Sendable {
    /// The signed manifest.
    case manifest
    /// A shard of its catalogue, of exactly this size in bytes.
    case shard(address: String, size: Int)
  }

  /// Returns a file that the server has now.
  typealias Source = @Sendable (ServerFile) async throws(PackError) -> [UInt8]
  typealias Status = PackLibrary.Status

  /// What others hear about.
  enum Change: Sendable {
    /// The status of a pack.
    case pack(String, Status)
    /// Another manifest was accepted, or more of its catalogue is known.
    case list

    /// The pack that it is about.
    var id: String? { if case .pack(let id, _) = self { id } else { nil } }
  }

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
  private let source: Source
  private let bundled: BundledRelease?
  private let confirmsVersions: Bool
  /// Waits before a retry that a plan put off.
  private let sleep: @Sendable (_ seconds: UInt64) async -> Void

  /// Serializes plans, and the activations of each pack.
  private let locks = KeyedLock<String>()
  /// The number of calls that wait for each pack.
  private var waiting: [String: Int] = [:]
  /// The priorities of the requests that wait for each pack, by their numbers.
  private var priorities: [String: [Int: Double]] = [:]
  /// The packs that the next plan tries again whatever failed before.
  private var requested: Set<String> = []
  /// The bytes of downloads that arrived.
  private var progress: [String: PackBytesReceived] = [:]
  /// The packs whose last attempt failed.
  private var retrying: Set<String> = []
  /// The errors that end the waiting for a pack.
  private var failures: [String: PackError] = [:]
  /// The last error of each pack since it was requested, and the number of errors. One of an attempt that was running then does not count.
  private var troubles: [String: (last: PackError, count: Int)] = [:]
  /// The number of bytes that were free when space was last freed for a download.
  private var freed: [String: UInt64] = [:]
  /// The packs of which the app contains other bytes than those of the manifest.
  private var foreign: Set<String> = []
  /// The packs whose shards were missing for the last plan.
  private var undecided: Set<String> = []
  /// Whether somebody listed the packs, so that all shards are fetched.
  private var isListed = false
  /// The fetching of shards, which goes on until none is missing. Nil if none is wanted.
  private var fetching: Task<Void, Never>?
  /// The packs that the last attempt to fetch shards was for, and whether it was for all. Nil while it runs.
  private var fetched: (ids: Set<String>, isListed: Bool)?
  /// The number of attempts to fetch a shard that failed, one after the other.
  private var fetchFailures = 0
  private var hasNetwork = true
  private var running: Task<Void, Never>?
  private var retry: Task<Void, Never>?
  private var isStopped = false
  /// Says when another manifest was accepted, by whomever.
  private var adoptions: EventHub<StoreEvent>.Handling?

  struct PackBytesReceived {
    var received: UInt64
    var size: UInt64
    var fraction: Double { size == 0 ? 0 : min(1, Double(received) / Double(size)) }
  }

  init(
    _ delivery: AppDelivery, service: any DownloadService, bundled: BundledRelease?, exports: FileExports, confirmsVersions: Bool,
    source: @escaping Source, sleep: @escaping @Sendable (_ seconds: UInt64) async -> Void
  ) {
    self.delivery = delivery
    self.service = service
    self.bundled = bundled
    self.exports = exports
    self.confirmsVersions = confirmsVersions
    self.source = source
    self.sleep = sleep
  }

  /// Recovers from the last run, and starts the downloads.
  func start() async throws(PackError) {
    _ = try await delivery.start()
    if let bundled { try await adopt(bundled) }
    adoptions = delivery.store.hub.handle { [changes] in if case .adopted = $0 { changes.tell(.list) } }
    let events = service.events()
    running = Task { [weak self] in
      await withTaskGroup { tasks in
        tasks.addTask { [weak self] in
          for await notice in events { await self?.take(notice) }
        }
        tasks.addTask { [weak self] in
          // Without a network the app continues with the packs that it has.
          if (try? await self?.refresh()) == nil { try? await self?.bring() }
        }
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
    opened.withLock { $0 = [:] }
    await service.stop()
  }

  // MARK: The manifest

  func refresh() async throws(PackError) -> Bool {
    let isChanged = try await adoptPublished()
    try await bring()
    if isListed, try await fetchShards() { try await bring() }
    return isChanged
  }

  /// Accepts the manifest that the server has now. Returns whether it is a newer one.
  private func adoptPublished() async throws(PackError) -> Bool {
    let before = await delivery.store.manifest?.manifest.version
    try await delivery.adopt(try await source(.manifest))
    let after = await delivery.store.manifest?.manifest.version
    guard before != after else { return false }
    foreign = []
    return true
  }

  /// Accepts the manifest that the server has.
  func fetchManifest() async throws(PackError) { _ = try await adoptPublished() }

  /// Waits before another attempt.
  func pause(seconds: UInt64) async { await sleep(seconds) }

  /// Throws if the accepted manifest is known not to have a pack. Fetches a manifest if there is none.
  private func check(_ id: String) async throws(PackError) {
    if await delivery.store.manifest == nil { _ = try await adoptPublished() }
    let lookup = try await delivery.lookup([id])
    if let refusal = lookup.refusal { throw refusal }
    // If the shard is missing, it is fetched first.
    guard lookup.unknown.isEmpty, !lookup.packs.values.contains(where: delivery.isOffered) else { return }
    throw PackError(
      .unknownPack, "the manifest has no pack '\(printable(id.utf8))' for this device",
      advice: .developer("check the name, or publish a manifest that has the pack"))
  }

  // MARK: The catalogue

  /// Fetches the shards that a plan or a list lacks, in the background, until none is missing. A failure is followed by another attempt, with growing
  /// delays. After each third, the manifest is asked first: a newer release may have replaced it.
  ///
  /// - Parameter isAtOnce: Whether a delay is cut short, as it is for a pack that no attempt was for.
  private func fetchShardsLater(isAtOnce: Bool = false) {
    guard !isStopped else { return }
    if fetching != nil {
      guard let fetched else { return }
      let isNew = isListed && !fetched.isListed || !undecided.union(waiting.keys).isSubset(of: fetched.ids)
      guard isAtOnce || isNew else { return }
      fetching?.cancel()
      self.fetched = nil
    }
    fetching = Task { [weak self, sleep] in
      while let seconds = await self?.fetchNext() {
        if seconds > 0 { await sleep(seconds) }
        if Task.isCancelled { return }
      }
    }
  }

  /// - Returns: The number of seconds after which the next attempt follows. Nil if there is nothing to fetch.
  private func fetchNext() async -> UInt64? {
    fetched = nil
    do throws(PackError) {
      if fetchFailures > 0, fetchFailures % 3 == 0 { _ = try await adoptPublished() }
      let isChanged = try await fetchShards()
      fetchFailures = 0
      guard isChanged else {
        if !Task.isCancelled { fetching = nil }
        return nil
      }
      try? await bring()
      return 0
    } catch {
      // Another attempt has taken its place.
      guard error.code != .cancelled else { return nil }
      // Others may have arrived.
      try? await bring()
      let awaited = undecided.intersection(waiting.keys)
      fetched = (undecided.union(waiting.keys), isListed)
      guard Self.isTemporary(error) || [.wrongShard, .limitExceeded].contains(error.code) else {
        for id in awaited { failures[id] = error }
        for id in awaited { await report(id) }
        fetching = nil
        return nil
      }
      fetchFailures += 1
      retrying.formUnion(awaited)
      for id in awaited { await report(id) }
      return min(1 << UInt64(min(fetchFailures, 12) - 1), awaited.isEmpty ? 3600 : Self.lookInterval)
    }
  }

  /// Fetches the shards that are missing now.
  ///
  /// - Returns: Whether there were any.
  private func fetchShards() async throws(PackError) -> Bool { try await fetchShards(for: isListed ? nil : undecided.union(waiting.keys)) }

  /// Fetches the shards that are missing to find some packs, or all of them.
  func fetchShards(for ids: Set<String>?) async throws(PackError) -> Bool {
    // One call at a time, so that each shard is fetched once.
    try await locks.lock("shards")
    defer { locks.unlock("shards") }
    let hasArrived = Monitor(false)
    // Also if another one cannot be had.
    defer { if hasArrived.withLock({ $0 }) { changes.tell(.list) } }
    return try await delivery.fetchShards(for: ids) { [bundled, source] (shard, address) async throws(PackError) in
      if let bytes = bundled?.file(of: shard), (try? ShardFile.check(bytes.byteSpan, as: shard, backend: CryptoBackends.standard)) != nil {
        hasArrived.withLock { $0 = true }
        return bytes
      }
      let bytes = try await source(.shard(address: address, size: Int(shard.size)))
      hasArrived.withLock { $0 = true }
      return bytes
    }
  }

  // MARK: Making packs usable

  func ensure(_ ids: [String]) async throws(PackError) {
    var missing: [String] = []
    for id in ids where try await !use(id) { missing.append(id) }
    for id in missing { try await check(id) }
    guard !missing.isEmpty else { return }
    try await wait(for: missing) { () async throws(PackError) in
      var isDone = true
      for id in missing where try await !settled(id) { isDone = false }
      return isDone
    }
  }

  /// Waits for packs until a condition holds, which is looked at after each change of one of them and of the manifest. What they need is planned and
  /// handed over meanwhile.
  ///
  /// - Parameter request: The number and the priority of a request by tags.
  func wait(
    for ids: [String], _ request: (number: Int, priority: Double)? = nil, until isDone: () async throws(PackError) -> Bool
  ) async throws(PackError) {
    for id in ids {
      failures[id] = nil
      freed[id] = nil
      retrying.remove(id)
      waiting[id, default: 0] += 1
      if let request { priorities[id, default: [:]][request.number] = request.priority }
      requested.insert(id)
    }
    defer {
      for id in ids {
        waiting[id, default: 1] -= 1
        if waiting[id] == 0 { waiting[id] = nil }
        if let request { priorities[id]?[request.number] = nil }
      }
    }
    let underWay = Set((await service.underWay() ?? []).compactMap { DownloadIdentifier($0)?.id })
    for id in ids { troubles[id] = (PackError(.downloadFailed, ""), underWay.contains(id) ? -1 : 0) }
    // For downloads that another request began.
    if request != nil { for id in ids { await applyPriority(of: id) } }
    let names = Set(ids)
    let events = changes.listen()
    for id in ids { await report(id) }
    // Not awaited, so that this call can be cancelled while another pack is being installed. Its result comes as a change.
    Task { [weak self] in try? await self?.bring() }
    for await change in events where change.id.map(names.contains) ?? true {
      if case .pack(_, .downloading) = change { continue }
      if try await isDone() { return }
    }
    throw PackError(
      .cancelled, "the request for \(ids.count == 1 ? "pack '\(printable(ids[0].utf8))'" : "\(ids.count) packs") was cancelled")
  }

  /// Returns whether the pack can be used now. Throws the error that waiting does not help against.
  private func settled(_ id: String) async throws(PackError) -> Bool {
    if try await use(id) {
      await report(id)
      return true
    }
    if let failure = failures[id] { throw failure }
    return false
  }

  /// Activates the newest installed version of a pack, and opens it.
  ///
  /// - Returns: Whether there is one.
  private func use(_ id: String) async throws(PackError) -> Bool {
    try await locks.lock("pack/\(id)")
    defer { locks.unlock("pack/\(id)") }
    let store = delivery.store
    let offered = try? await delivery.lookup([id]).packs[id]
    let versions = try await store.installed(id)
    if let offered, let newest = versions.first(where: { $0.sha256 == offered.sha256 }), newest.state == .installed {
      do throws(PackError) {
        // Activated only after it was opened: if the process ended while the key is fetched, a trial would count as a crash.
        let pack = try await store.open(id, activating: newest.version, onTrial: !confirmsVersions)
        opened.withLock { $0[id] = pack }
        return true
      } catch {
        if Self.isAboutBytes(error) {
          try await store.activate(id, version: newest.version)
          _ = try await store.rollback(id, reason: "cannot be opened: \(error.code)")
        } else {
          // It may open later: the key may be missing. Until then the version before it is used.
          guard error.code != .cancelled, try await store.current(id) != nil else { throw error }
        }
      }
    }
    guard let current = try await store.current(id) else {
      opened.withLock { $0[id] = nil }
      return false
    }
    if opened.withLock({ $0[id]?.installed.sha256 }) != current.sha256 {
      do throws(PackError) {
        try await open(id)
      } catch {
        guard Self.isAboutBytes(error) else { throw error }
        guard try await store.rollback(id, reason: "cannot be opened: \(error.code)") != nil else { throw error }
        try await open(id)
      }
    }
    // A trial that began in a process that did not confirm it.
    if confirmsVersions, let token = try await store.trial(of: id) { try await store.confirm(token) }
    return true
  }

  /// Whether an error says that the bytes on the device are not those of the publisher. Any other error may be gone the next time.
  private static func isAboutBytes(_ error: PackError) -> Bool {
    [.failed(.wrongBytes), .failed(.wrongSize)].contains(AppDelivery.outcome(of: error))
  }

  private func open(_ id: String) async throws(PackError) {
    let pack = try await delivery.store.open(id)
    opened.withLock { $0[id] = pack }
  }

  func reject(_ id: String, reason: String) async throws(PackError) -> UInt64? {
    try await locks.lock("pack/\(id)")
    opened.withLock { $0[id] = nil }
    let left: InstalledPack?
    do throws(PackError) {
      left = try await delivery.store.rollback(id, reason: reason)
      if left != nil { try await open(id) }
    } catch {
      locks.unlock("pack/\(id)")
      throw error
    }
    locks.unlock("pack/\(id)")
    await report(id)
    return left?.version
  }

  func cancel(_ id: String) async throws(PackError) {
    requested.remove(id)
    failures[id] = PackError(.cancelled, "the download of pack '\(printable(id.utf8))' was cancelled")
    await report(id)
    // A plan may be about to start the download.
    try await locks.lock("plan")
    defer { locks.unlock("plan") }
    try await service.cancel(id)
    progress[id] = nil
    await report(id)
  }

  func remove(_ id: String) async throws(PackError) {
    try await locks.lock("plan")
    do throws(PackError) {
      opened.withLock { $0[id] = nil }
      try await delivery.store.remove(id)
      if await delivery.store.manifest != nil {
        // The record still says that the pack is there. A plan corrects it, and schedules the pack again, as after the system freed space; so it is cancelled
        // before anything downloads it.
        var plan = try await makePlan(asked: [])
        try await service.cancel(id)
        plan.downloads.removeAll { $0.id == id }
        try await service.hand(plan, asked: [])
      }
    } catch {
      locks.unlock("plan")
      throw error
    }
    locks.unlock("plan")
    progress[id] = nil
    failures[id] = waiting[id] == nil ? nil : PackError(.cancelled, "pack '\(printable(id.utf8))' was removed")
    await report(id)
  }

  // MARK: The loop

  private func take(_ notice: ServiceNotice) async {
    guard (try? await locks.lock("plan")) != nil else { return }
    await notice.record()
    locks.unlock("plan")
    for event in notice.events { await take(event) }
  }

  private func take(_ event: ServiceEvent) async {
    switch event {
    case .changed:
      try? await bring()
    case .progress(let id, let received, let size):
      steps.tell(.received(id, received, size: size))
      let isResumed = retrying.remove(id) != nil
      let now = PackBytesReceived(received: received, size: size)
      // A system sends many of these. A report reads the record, because the event may come after the installation.
      if !isResumed, let told = progress[id], now.fraction < 1, abs(now.fraction - told.fraction) < Self.progressStep { return }
      progress[id] = now
      await report(id)
    case .retrying(let id):
      retrying.insert(id)
      await report(id)
    case .failed(let id, let error):
      progress[id] = nil
      note(error, of: id)
      if !Self.isTemporary(error) { failures[id] = error }
      retrying.insert(id)
      try? await bring()
      await report(id)
    case .noSpace(let id, let needed, let free):
      progress[id] = nil
      if waiting[id] != nil { await makeRoom(for: id, needed: needed, free: free) }
      try? await bring()
      await report(id)
    case .network(let isAvailable):
      guard hasNetwork != isAvailable else { return }
      hasNetwork = isAvailable
      for id in waiting.keys { await report(id) }
      if isAvailable, fetchFailures > 0 {
        fetchFailures = 0
        fetchShardsLater(isAtOnce: true)
      }
    }
  }

  private func note(_ trouble: PackError, of id: String) { troubles[id] = (trouble, (troubles[id]?.count ?? 0) + 1) }

  /// Frees space for the download of a pack that somebody waits for, and requests it again; or ends the wait if not enough can be freed.
  private func makeRoom(for id: String, needed: UInt64, free: UInt64) async {
    do throws(PackError) {
      // It may be there by now.
      let free = await service.availableSpace() ?? free
      if free < needed, try await !freeParts() {
        let missing = needed.less(free)
        // Space was freed before, but it did not help: the store is on another volume, or another process used the space.
        if let known = freed[id], free <= known { throw told(id, missing: missing) }
        freed[id] = free
        let report = try await delivery.store.purgeIfEnough(toFree: missing)
        guard report.missing == 0 else { throw told(id, missing: report.missing) }
        notices.tell(LowSpace(packs: [id], missing: 0, removed: report.removed.map(\.pack)))
      }
      requested.insert(id)
    } catch {
      failures[id] = error
    }
  }

  /// Removes the parts of downloads that no call waits for.
  ///
  /// - Returns: Whether there were any.
  func freeParts() async throws(PackError) -> Bool { try await service.freeSpace(keeping: Set(waiting.keys)) }

  private func told(_ id: String, missing: UInt64) -> PackError {
    notices.tell(LowSpace(packs: [id], missing: missing, removed: []))
    return TransferFailure.noSpace(of: id, missing: missing)
  }

  /// Whether a later attempt may succeed without anybody doing something about it.
  private static func isTemporary(_ error: PackError) -> Bool {
    [.offline, .downloadFailed, .digestMismatch, .wrongPack, .truncated, .storeBusy, .stateBusy].contains(error.code)
  }

  /// Whether a later attempt to install may succeed: also if the file was not the one in the manifest, because it was discarded and is downloaded again.
  private static func isRetried(_ error: PackError) -> Bool {
    isTemporary(error) || isAboutBytes(error)
  }

  /// Plans, installs the files that wait, and hands over the rest. One plan at a time.
  ///
  /// - Throws: The reason why it could not be completed. If it may be gone later, another plan follows while somebody waits.
  func bring() async throws(PackError) {
    try await locks.lock("plan")
    defer { locks.unlock("plan") }
    // Only once for each request: a plan with the name of a pack ends the wait after its last failure.
    let now = requested
    requested = []
    do throws(PackError) {
      try await plan(asked: now)
    } catch {
      requested.formUnion(now.intersection(waiting.keys))
      if !waiting.isEmpty {
        // Cancelled was the call that made the plan; the others still wait.
        if Self.isTemporary(error) || error.code == .cancelled {
          planAgain(after: 1)
        } else {
          for id in waiting.keys { failures[id] = error }
          for id in waiting.keys { await report(id) }
        }
      }
      throw error
    }
  }

  private func makePlan(asked: Set<String>) async throws(PackError) -> DeliveryPlan {
    try await delivery.plan(
      asked: asked, awaited: Set(waiting.keys), downloads: await service.underWay(), isListExact: service.isListExact)
  }

  private func plan(asked now: Set<String>) async throws(PackError) {
    guard await delivery.store.manifest != nil else { return }
    let asked = Set(waiting.keys)
    var plan = try await makePlan(asked: now)
    if try await installBundled(&plan) { plan = try await makePlan(asked: now) }
    undecided = Set(plan.undecided)
    if !undecided.isEmpty { fetchShardsLater() }
    for download in plan.downloads { progress[download.id] = nil }
    for file in plan.handOver { changes.tell(.pack(file.id, .installing)) }
    let installations = try await delivery.install(plan) { [steps] id, progress in steps.tell(.installing(id, progress)) }
    for installation in installations { note(installation) }
    let handed = Dictionary(plan.downloads.map { ($0.id, $0.identifier.description) }) { first, _ in first }
    try await service.hand(plan, asked: asked)
    for (id, identifier) in handed { if let priority = priority(of: id) { await service.setPriority(priority, of: identifier) } }
    // What cannot be removed now is in the next plan.
    _ = try? await delivery.tidy(plan)
    var delay: UInt64?
    for postponement in plan.postponed {
      let id = postponement.id
      let cause = plan.cause(of: postponement)
      if case .failed(_, secondsLeft: let seconds?) = cause { delay = min(delay ?? seconds, seconds) }
      guard asked.contains(id) else { continue }
      switch cause {
      case .failed(_, secondsLeft: _?): retrying.insert(id)
      case .failed(let reason, secondsLeft: nil):
        failures[id] = PackError(.versionFailed, "pack '\(id)' failed on this device: \(reason.text)", advice: .publishNewVersion)
      case .space(let needed, let free):
        failures[id] = PackError(
          .noSpace, "pack '\(id)' needs \(needed) bytes, but \(free) are free", advice: .freeSpace(bytes: needed.less(free)))
      case .manifestExpired:
        failures[id] = PackError(.manifestExpired, "the manifest has expired", advice: .renewManifest)
      case .notAsked:
        // Its record was lost, or the system removed the pack right after its installation.
        requested.insert(id)
        delay = min(delay ?? 1, 1)
      case .cancelled, .beforeLaunch, .allowance, .base: break
      }
    }
    if await delivery.store.manifest?.manifest.catalogue.isEmpty == false {
      // Only a shard that has arrived says that there is no such pack.
      for id in asked {
        do throws(PackError) {
          try await check(id)
        } catch {
          if !Self.isTemporary(error), error.code != .cancelled { failures[id] = error }
        }
      }
    }
    // A file that did not match was discarded, and is planned again.
    if installations.contains(where: { $0.installed == nil && failures[$0.id] == nil }) { delay = min(delay ?? 1, 1) }
    // What was waiting for its base can be installed now.
    let installed = Set(installations.filter { $0.installed != nil }.map(\.id))
    if plan.postponed.contains(where: { if case .base(let id) = $0.reason { installed.contains(id) } else { false } }) { delay = 0 }
    // A download that the system lost sends no event: while somebody waits, it is looked for.
    if !asked.isEmpty { delay = min(delay ?? Self.lookInterval, Self.lookInterval) }
    if let delay { planAgain(after: delay) }
    for id in Set(installations.map(\.id)).union(asked).union(plan.underWay).union(handed.keys) { await report(id) }
  }

  private func note(_ installation: AppDelivery.Installation) {
    let id = installation.id
    progress[id] = nil
    if !installation.removed.isEmpty { notices.tell(LowSpace(packs: [id], missing: 0, removed: installation.removed)) }
    guard let failure = installation.failure else { return }
    note(Self.isAboutBytes(failure) ? TransferFailure.wrongDigest.error(of: id) : failure, of: id)
    // A delta that cannot be used is followed by the full pack.
    if !Self.isRetried(failure), installation.status?.fallback == nil { failures[id] = failure }
    if case .freeSpace(let bytes?) = failure.advice { notices.tell(LowSpace(packs: [id], missing: bytes, removed: [])) }
  }

  /// Installs the packs that a plan would download and that the app contains. Removes those from the plan that cannot be installed.
  ///
  /// - Returns: Whether a pack was installed, so that the plan is out of date.
  private func installBundled(_ plan: inout DeliveryPlan) async throws(PackError) -> Bool {
    guard let bundled else { return false }
    let names = plan.downloads.map(\.id).filter { !foreign.contains($0) }
    var isChanged = false
    let entries = try await delivery.lookup(Set(names)).packs
    for pack in names.compactMap({ entries[$0] }) where bundled.contains(pack) {
      changes.tell(.pack(pack.id, .installing))
      do throws(PackError) {
        guard try await bundled.install(pack, in: delivery.store) else {
          foreign.insert(pack.id)
          continue
        }
        isChanged = true
      } catch {
        guard error.code != .cancelled else { throw error }
        guard !Self.isTemporary(error) else { continue }
        // The same bytes from the server would not help.
        failures[pack.id] = error
        plan.downloads.removeAll { $0.id == pack.id }
      }
      await report(pack.id)
    }
    return isChanged
  }

  private func planAgain(after seconds: UInt64) {
    guard !isStopped else { return }
    retry?.cancel()
    retry = Task { [weak self, sleep] in
      await sleep(max(1, seconds))
      guard !Task.isCancelled else { return }
      await self?.planNow()
    }
  }

  private func planNow() async {
    // The task that calls this must not be cancelled by the next delay.
    retry = nil
    try? await bring()
  }

  /// The smallest change of a download's progress that is reported.
  private static let progressStep = 0.005
  /// The number of seconds between plans while somebody waits.
  private static let lookInterval: UInt64 = 30

  // MARK: Requests by tags

  /// Returns the error that ends the wait for a pack now; nil if it may still come.
  ///
  /// - Parameter isPatient: Whether the wait goes on without a network, and after any number of failures.
  func failure(of id: String, isPatient: Bool) -> PackError? {
    if let failure = failures[id] { return failure }
    guard !isPatient, let trouble = troubles[id], trouble.count >= (trouble.last.code == .offline ? 1 : Self.mostAttempts) else {
      return nil
    }
    return trouble.last
  }

  /// The number of failed attempts after which a request that is not patient ends.
  private static let mostAttempts = 5

  /// Changes the priority of a request for a pack.
  func setPriority(_ priority: Double, of id: String, request number: Int) async {
    guard priorities[id]?[number] != nil else { return }
    priorities[id]?[number] = priority
    await applyPriority(of: id)
  }

  /// Gives the download of a pack the highest priority of the requests for it.
  private func applyPriority(of id: String) async {
    guard let record = try? await record(of: id), record.state.isUnderWay, let priority = priority(of: id) else { return }
    await service.setPriority(priority, of: record.identifier.description)
  }

  /// Returns how far the download of a pack is; nil if nothing of it has arrived.
  func received(_ id: String) -> Step? { progress[id].map { .received(id, $0.received, size: $0.size) } }

  /// Whether exactly these bytes of a pack are on their way.
  func isComing(_ pack: ManifestPack) async throws(PackError) -> Bool {
    guard let record = try await record(of: pack.id), record.bytes == PackBytes(pack) else { return false }
    return record.state.isComing
  }

  private func priority(of id: String) -> Double? { priorities[id]?.values.max() }

  // MARK: Status

  private func report(_ id: String) async {
    changes.tell(.pack(id, await status(of: id)))
  }

  private func record(of id: String) async throws(PackError) -> PackStatus? {
    try await WorkerPool.settled { [state = delivery.state] () throws(PackError) in try state.status(of: id) }
  }

  func status(of id: String) async -> Status {
    status(of: id, (try? await delivery.store.installed(id)) ?? [], (try? await record(of: id)) ?? nil)
  }

  /// - Parameters:
  ///   - versions: Those in the store.
  ///   - record: What is to come.
  private func status(of id: String, _ versions: [InstalledPack], _ record: PackStatus?) -> Status {
    let usable = versions.filter { $0.state != .failed }
    let ready = usable.first { $0.state == .current || $0.state == .trial } ?? usable.last
    if let ready, waiting[id] == nil || failures[id] != nil || !(record?.state.isComing ?? false) {
      return .ready(version: ready.version, update: update(of: ready, usable, record))
    }
    if let failure = failures[id] { return .failed(failure) }
    if let arrival = arrival(of: id, record) { return arrival.status }
    return waiting[id] == nil ? .absent : .waiting(reason(of: id))
  }

  private func update(of ready: InstalledPack, _ usable: [InstalledPack], _ record: PackStatus?) -> PackLibrary.Update? {
    if let next = usable.last, next.version > ready.version { return .installed(version: next.version) }
    guard let record, record.bytes.sha256 != ready.sha256 else { return nil }
    return arrival(of: record.id, record)
  }

  private func arrival(of id: String, _ record: PackStatus?) -> PackLibrary.Update? {
    switch record?.state {
    case .scheduled, .loading, .paused:
      guard let progress = progress[id], hasNetwork, !retrying.contains(id) else { return .waiting(reason(of: id)) }
      return .downloading(received: progress.received, of: progress.size)
    case .toBeTransferred, .installing: return .installing
    case .ready, .obsolete, .notLoaded, .failed, nil: return nil
    }
  }

  private func reason(of id: String) -> PackLibrary.WaitReason { !hasNetwork ? .network : retrying.contains(id) ? .retry : .turn }

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
  fileprivate var isComing: Bool {
    switch self {
    case .scheduled, .loading, .paused, .toBeTransferred, .installing: true
    case .notLoaded, .ready, .obsolete, .failed: false
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
