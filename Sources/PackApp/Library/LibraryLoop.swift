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

  /// A change of a pack's status.
  struct Change: Sendable {
    let id: String
    let status: Status

    /// More of the catalogue is known. No pack has this name.
    static let ofCatalogue = Change(id: "", status: .absent)
  }

  nonisolated let delivery: AppDelivery
  nonisolated let changes = EventHub<Change>(bufferedCount: 256)
  /// The packs that were made usable in this process, by name.
  nonisolated let opened = Monitor<[String: OpenedPack]>([:])
  nonisolated let exports: FileExports

  private let service: any DownloadService
  private let source: Source
  private let bundled: BundledRelease?
  private let confirmsVersions: Bool
  private let isForDevice: @Sendable (ManifestPack) -> Bool
  /// Waits before a retry that a plan put off.
  private let sleep: @Sendable (_ seconds: UInt64) async -> Void

  /// Serializes plans, and the activations of each pack.
  private let locks = KeyedLock<String>()
  /// The number of calls that wait for each pack.
  private var waiting: [String: Int] = [:]
  /// The packs that the next plan tries again whatever failed before.
  private var requested: Set<String> = []
  /// The download progress of packs, as fractions.
  private var progress: [String: Double] = [:]
  /// The packs whose last attempt failed.
  private var retrying: Set<String> = []
  /// The errors that end the waiting for a pack.
  private var failures: [String: PackError] = [:]
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

  init(
    _ delivery: AppDelivery, service: any DownloadService, bundled: BundledRelease?, exports: FileExports, confirmsVersions: Bool,
    isForDevice: @escaping @Sendable (ManifestPack) -> Bool, source: @escaping Source,
    sleep: @escaping @Sendable (_ seconds: UInt64) async -> Void
  ) {
    self.delivery = delivery
    self.service = service
    self.bundled = bundled
    self.exports = exports
    self.confirmsVersions = confirmsVersions
    self.isForDevice = isForDevice
    self.source = source
    self.sleep = sleep
  }

  /// Recovers from the last run, and starts the downloads.
  func start() async throws(PackError) {
    _ = try await delivery.start()
    if let bundled { try await adopt(bundled) }
    let events = service.events()
    let service = service
    running = Task { [weak self] in
      await withTaskGroup { tasks in
        tasks.addTask { await service.run() }
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

  func stop() {
    isStopped = true
    running?.cancel()
    retry?.cancel()
    fetching?.cancel()
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
    if before != after { foreign = [] }
    return before != after
  }

  /// Throws if the accepted manifest is known not to have a pack. Fetches a manifest if there is none.
  private func check(_ id: String) async throws(PackError) {
    if await delivery.store.manifest == nil { _ = try await adoptPublished() }
    let lookup = try await delivery.lookup([id])
    if let refusal = lookup.refusal { throw refusal }
    // If the shard is missing, it is fetched first.
    guard lookup.unknown.isEmpty, !lookup.packs.values.contains(where: isForDevice) else { return }
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
  private func fetchShards() async throws(PackError) -> Bool {
    guard let manifest = await delivery.store.manifest?.manifest, !manifest.catalogue.isEmpty else { return false }
    let ids = isListed ? nil : undecided.union(waiting.keys)
    let catalogue = delivery.store.catalogue
    let missing = try await WorkerPool.settled { () throws(PackError) in
      if let ids { return try catalogue.lookUp(ids, in: manifest).missing }
      return try catalogue.missing(of: manifest)
    }
    var (isChanged, failure): (Bool, PackError?) = (false, nil)
    // Shards without a pack are one file.
    for (shard, numbers) in Dictionary(grouping: missing, by: { manifest.catalogue[$0] }).sorted(by: { $0.value[0] < $1.value[0] }) {
      do throws(PackError) {
        if let bytes = bundled?.file(of: shard), (try? await keep(bytes, numbers, of: manifest)) != nil {
          isChanged = true
          continue
        }
        let address = (manifest.defaults.baseURL ?? "") + shard.fileName
        try await keep(try await source(.shard(address: address, size: Int(shard.size))), numbers, of: manifest)
        isChanged = true
      } catch {
        // One that cannot be had must not hold up packs in others.
        guard error.code != .cancelled, error.code != .offline else { throw error }
        failure = failure ?? error
      }
    }
    if isChanged { changes.tell(.ofCatalogue) }
    if let failure { throw failure }
    return isChanged
  }

  private func keep(_ bytes: [UInt8], _ numbers: [Int], of manifest: Manifest) async throws(PackError) {
    try await WorkerPool.settled { [catalogue = delivery.store.catalogue] () throws(PackError) in
      for number in numbers { try catalogue.keep(bytes, number, of: manifest) }
    }
  }

  // MARK: Making packs usable

  func ensure(_ id: String) async throws(PackError) {
    if try await use(id) { return }
    try await check(id)
    failures[id] = nil
    retrying.remove(id)
    waiting[id, default: 0] += 1
    requested.insert(id)
    defer {
      waiting[id, default: 1] -= 1
      if waiting[id] == 0 { waiting[id] = nil }
    }
    let events = changes.listen()
    await report(id)
    // Not awaited, so that this call can be cancelled while another pack is being installed. Its result comes as a change.
    Task { [weak self] in try? await self?.bring() }
    for await change in events where change.id == id {
      if try await settled(id) { return }
    }
    throw PackError(.cancelled, "the request for pack '\(printable(id.utf8))' was cancelled")
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
    let versions = try await store.installed().filter { $0.id == id }
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
        var plan = try await delivery.plan(downloads: await service.underWay())
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
      let isResumed = retrying.remove(id) != nil
      let fraction = size == 0 ? 0 : min(1, Double(received) / Double(size))
      // A system sends many of these. A report reads the record, because the event may come after the installation.
      if !isResumed, let told = progress[id], fraction < 1, abs(fraction - told) < Self.progressStep { return }
      progress[id] = fraction
      await report(id)
    case .retrying(let id):
      retrying.insert(id)
      await report(id)
    case .failed(let id, let error):
      progress[id] = nil
      if !Self.isTemporary(error) { failures[id] = error }
      retrying.insert(id)
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

  /// Whether a later attempt may succeed without anybody doing something about it.
  private static func isTemporary(_ error: PackError) -> Bool {
    [.offline, .downloadFailed, .digestMismatch, .truncated, .storeBusy, .stateBusy].contains(error.code)
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

  private func plan(asked now: Set<String>) async throws(PackError) {
    guard await delivery.store.manifest != nil else { return }
    let asked = Set(waiting.keys)
    var plan = try await delivery.plan(asked: now, downloads: await service.underWay())
    if try await installBundled(&plan) { plan = try await delivery.plan(asked: now, downloads: await service.underWay()) }
    undecided = Set(plan.undecided)
    if !undecided.isEmpty { fetchShardsLater() }
    for download in plan.downloads { progress[download.id] = nil }
    for file in plan.handOver { changes.tell(Change(id: file.id, status: .installing)) }
    let installations = try await delivery.install(plan)
    for installation in installations {
      progress[installation.id] = nil
      if let failure = installation.failure, !Self.isRetried(failure) { failures[installation.id] = failure }
    }
    try await service.hand(plan, asked: asked)
    // What cannot be removed now is in the next plan.
    _ = try? await delivery.tidy(plan)
    var delay: UInt64?
    for postponement in plan.postponed {
      let id = postponement.id
      guard asked.contains(id) else { continue }
      switch plan.cause(of: postponement) {
      case .failed(_, secondsLeft: let seconds?):
        retrying.insert(id)
        delay = min(delay ?? seconds, seconds)
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
    if installations.contains(where: { $0.installed == nil && $0.failure.map(Self.isRetried) ?? true }) { delay = min(delay ?? 1, 1) }
    // What was waiting for its base can be installed now.
    let installed = Set(installations.filter { $0.installed != nil }.map(\.id))
    if plan.postponed.contains(where: { if case .base(let id) = $0.reason { installed.contains(id) } else { false } }) { delay = 0 }
    // A download that the system lost sends no event: while somebody waits, it is looked for.
    if !asked.isEmpty { delay = min(delay ?? Self.lookInterval, Self.lookInterval) }
    if let delay { planAgain(after: delay) }
    for id in Set(installations.map(\.id)).union(asked).union(plan.underWay).union(plan.downloads.map(\.id)) { await report(id) }
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
      changes.tell(Change(id: pack.id, status: .installing))
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
    retry?.cancel()
    retry = Task { [weak self, sleep] in
      await sleep(max(1, seconds))
      guard !Task.isCancelled else { return }
      await self?.planNow(isLook: seconds >= Self.lookInterval)
    }
  }

  private func planNow(isLook: Bool) async {
    // The task that calls this must not be cancelled by the next delay.
    retry = nil
    // The wait after a failure grows to a day. Somebody who waits is not left for so long.
    if isLook { requested.formUnion(retrying.intersection(waiting.keys)) }
    try? await bring()
  }

  /// The smallest change of a download's progress that is reported.
  private static let progressStep = 0.005
  /// The number of seconds between plans while somebody waits.
  private static let lookInterval: UInt64 = 30

  // MARK: Status

  private func report(_ id: String) async {
    changes.tell(Change(id: id, status: await status(of: id)))
  }

  func status(of id: String) async -> Status {
    if let failure = failures[id] { return await installedStatus(id) ?? .failed(failure) }
    if waiting[id] == nil, let ready = await installedStatus(id) { return ready }
    let state = delivery.state
    let record = try? await WorkerPool.settled { () throws(PackError) in try state.status(of: id) }
    switch record?.state {
    case .scheduled, .loading, .paused:
      if let fraction = progress[id], hasNetwork, !retrying.contains(id) { return .downloading(fraction) }
      return .waiting(!hasNetwork ? .network : retrying.contains(id) ? .retry : .turn)
    case .toBeTransferred, .installing: return .installing
    case .ready, .obsolete, .notLoaded, .failed, nil:
      if let ready = await installedStatus(id) { return ready }
      guard waiting[id] != nil else { return .absent }
      return .waiting(!hasNetwork ? .network : retrying.contains(id) ? .retry : .turn)
    }
  }

  private func installedStatus(_ id: String) async -> Status? {
    let versions = (try? await delivery.store.installed().filter { $0.id == id && $0.state != .failed }) ?? []
    guard let version = (versions.first { $0.state == .current || $0.state == .trial } ?? versions.last)?.version else { return nil }
    return .ready(version: version)
  }

  func offers() async -> PackLibrary.Offers {
    isListed = true
    guard let listing = try? await delivery.store.listing() else { return PackLibrary.Offers(packs: [], isComplete: false) }
    if !listing.missing.isEmpty { fetchShardsLater() }
    var offers: [PackLibrary.Offer] = []
    for pack in listing.packs where isForDevice(pack) {
      offers.append(
        PackLibrary.Offer(
          id: pack.id, name: pack.name.isEmpty ? pack.id : pack.name, description: pack.description, downloadSize: pack.size,
          installSize: pack.installSize, status: await status(of: pack.id)))
    }
    return PackLibrary.Offers(packs: offers, isComplete: listing.isComplete)
  }
}
