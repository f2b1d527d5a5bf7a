/// The packs on a device: installed completely or not at all, several versions side by side, new versions tried before they are trusted.
///
/// A store is one directory (STORE.md). Any number of stores and processes may have it open at once, because nothing is cached between two
/// calls. Each change holds the lock file for milliseconds, reads the record of one pack, and replaces it by one rename. Packs are read, copied,
/// unpacked and checked without the lock. A crash or a power cut at any point leaves either the old version or the new one complete.
///
/// A process that runs packs calls ``reconcile(_:)`` first when it starts. All file operations run outside the cooperative thread pool.
public actor AssetStore {
  /// The directory of the store, as passed to the initializer.
  public nonisolated let root: String
  /// The limits and timeouts of the store.
  public nonisolated let policy: StorePolicy

  let directory: StoreDirectory
  let manifests: StoreManifests
  package nonisolated let hub = EventHub<StoreEvent>(bufferedCount: 256)
  private let logger: (any PackLogger)?
  /// Logs the store's events. Nil without a logger.
  private let logging: EventHub<StoreEvent>.Handling?
  let keys: any KeyProvider
  /// The files of packs that are open.
  private let openFiles: FileBudget
  /// Serializes the installations of each pack, by its name.
  private let installing = KeyedLock<String>()

  /// Opens the store in a directory, or creates one there, with any missing parent directories. Repairs nothing.
  ///
  /// - Parameters:
  ///   - root: A directory that does not exist yet, is empty, or is a store.
  ///   - keys: The source of the keys of packs.
  ///   - trusted: The public keys that may sign manifests.
  ///   - lowestVersion: The lowest manifest version that this release of the app accepts.
  ///   - policy: The limits and timeouts of the store.
  ///   - device: What decides which packs are for this device. ``setDevice(_:)`` changes it.
  ///   - logger: Receives what the store does and what fails.
  /// - Throws: ``PackError/Code/notAStore`` if the directory contains something else, ``PackError/Code/unsupported`` if a later release created it,
  ///   ``PackError/Code/usage`` if the policy keeps less than 1 version or allows less than 1 start of a trial.
  public init(
    root: String, keys: some KeyProvider, trusting trusted: [SigningPublicKey], lowestVersion: UInt64 = 0,
    policy: StorePolicy = StorePolicy(), device: DeviceProfile = .current, logger: (any PackLogger)? = nil
  ) async throws(PackError) {
    try await self.init(
      root: root, keys: keys, trusting: TrustedKeys(trusted), lowestVersion: lowestVersion, policy: policy, device: device, logger: logger)
  }

  /// Opens the store in a directory in the same way, for an app that embeds a keys document.
  ///
  /// - Parameters:
  ///   - root: A directory that does not exist yet, is empty, or is a store.
  ///   - keys: The source of the keys of packs.
  ///   - trusted: The keys that the app embeds. The store records the keys documents that follow.
  ///   - lowestVersion: The lowest manifest version that this release of the app accepts.
  ///   - policy: The limits and timeouts of the store.
  ///   - device: What decides which packs are for this device. ``setDevice(_:)`` changes it.
  ///   - logger: Receives what the store does and what fails.
  /// - Throws: ``PackError/Code/notAStore``, ``PackError/Code/unsupported``, or ``PackError/Code/usage``, as the other initializer.
  public init(
    root: String, keys: some KeyProvider, trusting trusted: TrustedKeys, lowestVersion: UInt64 = 0,
    policy: StorePolicy = StorePolicy(), device: DeviceProfile = .current, logger: (any PackLogger)? = nil
  ) async throws(PackError) {
    try await self.init(
      root: root, keys: keys, trusting: trusted, lowestVersion: lowestVersion, policy: policy, files: SystemFiles(),
      clock: SystemClock(),
      process: .current(), backend: CryptoBackends.standard, device: device, logger: logger)
  }

  /// - Parameters:
  ///   - clock: The source of the time, and the way to wait.
  ///   - process: The name of this process in the store, and a check of which other processes still run.
  package init(
    root: String, keys: some KeyProvider, trusting trusted: TrustedKeys, lowestVersion: UInt64, policy: StorePolicy,
    files: any FileSystem,
    clock: any DeviceClock, process: StoreProcess, backend: any CryptoBackend, device: DeviceProfile = .any,
    logger: (any PackLogger)? = nil
  ) async throws(PackError) {
    guard policy.keepVersions >= 1, policy.trialStarts >= 1 else {
      throw PackError(.usage, "a store keeps at least 1 version and gives a trial at least 1 start")
    }
    self.root = root
    self.policy = policy
    self.keys = keys
    openFiles = FileBudget(limit: policy.openFiles)
    self.logger = logger
    let hub = self.hub
    logging = logger.map { logger in hub.handle { logger.log($0.logEvent) } }
    let directory = try await WorkerPool.settled { () throws(PackError) in
      try StoreDirectory(root: root, files: files, clock: clock, process: process, policy: policy, device: device, backend: backend)
    }
    self.directory = directory
    manifests = StoreManifests(directory, trusting: trusted, lowestVersion: lowestVersion)
    if policy.isExcludedFromBackup { BackupExclusion.exclude(root) }
  }

  // MARK: The device

  /// What decides which packs are for this device.
  public nonisolated var device: DeviceProfile { directory.device.withLock { $0 } }

  /// Changes which packs are for this device, for example after the user chose another language. Removes nothing: later plans list the packs that are to be
  /// downloaded now, and those that are obsolete now.
  public nonisolated func setDevice(_ device: DeviceProfile) {
    directory.device.withLock { $0 = device }
  }

  // MARK: Manifest

  /// The keys that count now: those that the app embeds, or those of the newest keys document that followed.
  public var trustedKeys: TrustedKeys {
    get async throws(PackError) {
      try await WorkerPool.settled { [manifests] () throws(PackError) in try manifests.keys() }
    }
  }

  /// The keys that the app embeds.
  package nonisolated var embeddedKeys: TrustedKeys { manifests.embedded }

  /// Follows the keys documents that another part of the app recorded. Changes nothing if the record is damaged or not newer.
  package func follow(_ record: [UInt8]) async throws(PackError) {
    guard let documents = try? KeysChain.documents(in: record) else { return }
    try await WorkerPool.settled { [manifests] () throws(PackError) in try manifests.follow(documents) }
  }

  /// The manifest that was accepted last, even if it has expired. Nil if there is none, or it is damaged or not signed by trusted keys.
  public var manifest: VerifiedManifest? {
    get async {
      try? await WorkerPool.settled { [manifests] () throws(PackError) in try manifests.usable() }
    }
  }

  /// Returns the manifest in a document that is signed by a trusted key, even if it is old or expired.
  package nonisolated func authenticated(_ document: SignedManifest) throws(PackError) -> Manifest { try manifests.authenticated(document) }

  /// Accepts a manifest and returns what is to be downloaded and installed for it. If the manifest is refused, nothing changes, except that keys
  /// documents in it that are valid count from now on.
  ///
  /// - Throws: ``PackError/Code/untrustedSignature``, ``PackError/Code/damagedManifest``, ``PackError/Code/manifestRollback``,
  ///   ``PackError/Code/manifestExpired``, ``PackError/Code/untrustedKeys``, ``PackError/Code/damagedKeys``, ``PackError/Code/keysExpired``,
  ///   ``PackError/Code/storeBusy``.
  @discardableResult
  public func adopt(_ document: SignedManifest) async throws(PackError) -> UpdatePlan {
    let (plan, version) = try await logged("manifest refused") { () async throws(PackError) in
      try await WorkerPool.settled { [directory, manifests] () throws(PackError) in
        try manifests.follow(document.keysBytes.map { Array(document.bytes[$0]) })
        let candidate = try manifests.verify(document)
        // A crash after it was accepted, or a shard that came later, may have kept from the records what the manifest before says of candidates.
        if let present = try manifests.usable()?.manifest, present.version != candidate.manifest.version {
          try manifests.noteCandidates(of: present)
        }
        try directory.withLock { () throws(PackError) in try manifests.adopt(document, candidate) }
        manifests.freeShards()
        try manifests.noteCandidates(of: candidate.manifest)
        return (try StorePlanning(directory, manifests).plan(for: candidate.manifest), candidate.manifest.version)
      }
    }
    hub.tell([.adopted(manifest: version)])
    return plan
  }

  /// Returns what is to be downloaded and installed for the accepted manifest.
  ///
  /// - Throws: ``PackError/Code/noManifest``.
  public func plan() async throws(PackError) -> UpdatePlan {
    try await WorkerPool.settled { [directory, manifests] () throws(PackError) in
      try StorePlanning(directory, manifests).plan(for: try manifests.required().manifest)
    }
  }

  /// Returns what is to be downloaded and installed for the accepted manifest if these packs of its catalogue are wanted too.
  package func plan(wanting ids: Set<String>) async throws(PackError) -> UpdatePlan {
    try await WorkerPool.settled { [directory, manifests] () throws(PackError) in
      try StorePlanning(directory, manifests).plan(for: try manifests.required().manifest, wanting: ids)
    }
  }

  // MARK: Versions

  /// Installs a pack file that the accepted manifest names, or a delta to the pack that it offers. The version runs only after
  /// ``activate(_:version:onTrial:)``.
  ///
  /// A delta is applied to the installed version that it was made for: a new tree is made, which shares the files that are the same if the volume can, or
  /// a new pack file. If the delta cannot be used, the full pack can be installed instead.
  ///
  /// Everything is checked before the version is there and any other goes for it: the manifest's date, the file's header and SHA-256, free space, quota. A
  /// file that is copied is checked while it is copied. If there is not enough space, packs that may be purged are purged, but only if that frees enough.
  /// The running version is never affected.
  ///
  /// - Parameters:
  ///   - file: The path of the pack file. If the file is to be moved, it must not be a symbolic link.
  ///   - id: The name of the pack.
  ///   - taking: Whether the file is moved into the store or copied.
  ///   - mode: Whether the pack is kept encrypted or is unpacked. If nil, the manifest decides.
  ///   - progress: Receives the number of bytes checked and unpacked.
  /// - Returns: The installed version. If the same bytes are installed already, it returns without installing them again.
  /// - Throws: ``PackError/Code/noManifest``, ``PackError/Code/manifestExpired``, ``PackError/Code/unknownPack``, ``PackError/Code/catalogueNotAvailable``,
  ///   ``PackError/Code/manifestRollback``, ``PackError/Code/versionFailed``, ``PackError/Code/wrongPack``, ``PackError/Code/digestMismatch``,
  ///   ``PackError/Code/noSpace`` and ``PackError/Code/quotaExceeded`` with the number of missing bytes, ``PackError/Code/cancelled``, or the error of a
  ///   damaged pack. For a delta also ``PackError/Code/wrongBase`` if the version that it needs is not installed, is damaged or is another one, or if the
  ///   file that would be made is larger than the full pack.
  @discardableResult
  public func install(
    _ file: String, as id: String, taking: Taking = .moving, mode: InstallMode? = nil, progress: ProgressHandler? = nil
  ) async throws(PackError) -> InstalledPack {
    try await install(file, as: id, taking: taking, mode: mode, progress: progress, note: nil)
  }

  /// - Parameter note: Receives the packs that were removed to make room, and a mark that keeps the new version in use.
  package func install(
    _ file: String, as id: String, taking: Taking, mode: InstallMode?, progress: ProgressHandler?, note: Monitor<InstallNote>?
  ) async throws(PackError) -> InstalledPack {
    // One installation of a pack at a time: the second call then finds what the first installed, even if the first moved the file away.
    try await installing.lock(id)
    defer { installing.unlock(id) }
    let installation = Installation(
      directory: directory, manifests: manifests, path: file, id: id, taking: taking, mode: mode, progress: progress, note: note,
      tell: { [hub] in hub.tell($0) })
    return try await logged("installation failed", id) { () async throws(PackError) in try await installation.run(keys: keys) }
  }

  /// Makes a version the running one, either on trial until it is confirmed, or permanently. The process that will run it calls this right before.
  ///
  /// - Parameters:
  ///   - id: The name of the pack.
  ///   - version: The version. If nil, the version in the manifest is activated if it is installed and has not failed, otherwise the newest
  ///     installed version that has not failed.
  ///   - onTrial: Whether the previous version runs again if this one is not confirmed.
  /// - Returns: The token that confirms the version. If the version is current already, confirming it is not necessary and changes nothing.
  /// - Throws: ``PackError/Code/notInstalled``, ``PackError/Code/purged``, ``PackError/Code/versionFailed``, ``PackError/Code/inUse`` if another
  ///   running process has the pack on trial.
  @discardableResult
  public func activate(_ id: String, version: UInt64? = nil, onTrial: Bool = true) async throws(PackError) -> BootToken {
    let (token, events) = try await logged("activation failed", id) { () async throws(PackError) in
      try await WorkerPool.settled { [directory, manifests] () throws(PackError) in
        let offered: ManifestPack? =
          if let manifest = try manifests.usable()?.manifest { try manifests.lookUp([id], in: manifest).packs[id] } else { nil }
        return try StoreTrials(directory).activate(id, version: version, onTrial: onTrial, offered: offered)
      }
    }
    hub.tell(events)
    return token
  }

  /// Returns the token of the trial in progress, for a process that starts during a trial. Returns nil if there is no trial.
  public func trial(of id: String) async throws(PackError) -> BootToken? {
    try await WorkerPool.settled { [directory] () throws(PackError) in
      try directory.record(id).map(StoreTrials(directory).judged).flatMap { record in
        record.trial.map { record.token($0.bytes, nonce: $0.nonce) }
      }
    }
  }

  /// Makes the version on trial the current one. Removes earlier versions beyond ``StorePolicy/keepVersions``. Confirming twice is harmless.
  ///
  /// - Throws: ``PackError/Code/staleConfirmation`` unless exactly this trial is in progress or was the last one confirmed. Then nothing changes.
  public func confirm(_ token: BootToken) async throws(PackError) {
    hub.tell(try await WorkerPool.settled { [directory] () throws(PackError) in try StoreTrials(directory).confirm(token) })
  }

  /// Waits until a trial is confirmed, by this or another process. Rolls back if ``StorePolicy/trialTimeout`` passes first.
  ///
  /// Only the time during which the process really ran counts. Cancelling the task ends the waiting, not the trial.
  ///
  /// - Throws: ``PackError/Code/notConfirmed`` if the time ran out or the version failed for another reason, ``PackError/Code/staleConfirmation`` if
  ///   this trial ended for another reason, for example because another one replaced it, ``PackError/Code/cancelled``.
  public func confirmation(of token: BootToken) async throws(PackError) {
    let limit = policy.trialTimeout.microseconds
    var waited: UInt64 = 0
    while true {
      // Time during which the process was suspended does not count: each check counts as one tick, however long it really took.
      let isLast = waited >= limit
      let (standing, events) = try await WorkerPool.settled { [directory] () throws(PackError) in
        try StoreTrials(directory).look(at: token, isOver: isLast, limit: limit)
      }
      hub.tell(events)
      switch standing {
      case .confirmed: return
      case .timedOut:
        throw PackError(.notConfirmed, "version \(token.version) of pack '\(token.id)' was not confirmed within \(limit / 1000) ms")
      case .underWay: break
      }
      await directory.clock.sleep(for: Self.tick)
      try Task.checkpoint()
      waited += Self.tick.microseconds
    }
  }

  /// Returns to the previous version, and records the bytes of the version on trial, or otherwise of the current version, as failed.
  ///
  /// - Parameters:
  ///   - id: The name of the pack.
  ///   - reason: A text for people, recorded with the failed version, and public in logs. At most 200 bytes are kept.
  /// - Returns: The version that runs now. Nil if no version is left to run.
  /// - Throws: ``PackError/Code/notInstalled`` if no version runs.
  @discardableResult
  public func rollback(_ id: String, reason: String) async throws(PackError) -> InstalledPack? {
    let (current, events) = try await WorkerPool.settled { [directory] () throws(PackError) in
      try StoreTrials(directory).rollback(id, reason: reason)
    }
    hub.tell(events)
    return current
  }

  /// Returns the version that ``open(_:)`` would open: the version on trial, otherwise the current one. Returns nil if there is none.
  public func current(_ id: String) async throws(PackError) -> InstalledPack? {
    try await WorkerPool.settled { [directory] () throws(PackError) in
      try directory.record(id).map(StoreTrials(directory).judged).flatMap { record in
        record.running.map { directory.installed($0, of: record) }
      }
    }
  }

  /// Returns every installed version of every pack, sorted by name and then by version.
  public func installed() async throws(PackError) -> [InstalledPack] {
    try await WorkerPool.settled { [directory] () throws(PackError) in
      try directory.records().map(StoreTrials(directory).judged).flatMap { record in
        record.contents.map { directory.installed($0, of: record) }.sorted { $0.version < $1.version }
      }
    }
  }

  /// Returns every installed version of a pack, the oldest first. Reads one record.
  public func installed(_ id: String) async throws(PackError) -> [InstalledPack] {
    try await WorkerPool.settled { [directory] () throws(PackError) in
      guard let record = try directory.record(id).map(StoreTrials(directory).judged) else { return [] }
      return record.contents.map { directory.installed($0, of: record) }.sorted { $0.version < $1.version }
    }
  }

  /// Returns the names of the packs whose records cannot be read. These packs do not run until ``reconcile(_:)`` has rebuilt the records.
  public func damagedRecords() async throws(PackError) -> [String] {
    try await WorkerPool.settled { [directory] () throws(PackError) in try directory.damagedRecords() }
  }

  /// Opens the running version of a pack: the version on trial, otherwise the current one.
  ///
  /// The version is in use, and is not removed, until the last reference to the result is released.
  ///
  /// - Throws: ``PackError/Code/notInstalled``, ``PackError/Code/purged``, or what opening a pack throws.
  public func open(_ id: String) async throws(PackError) -> OpenedPack {
    try await logged("pack cannot be opened", id) { () async throws(PackError) in try await openContent(id) }
  }

  /// Opens an installed version of a pack, and activates it after that. If it cannot be opened, the pack runs as before.
  ///
  /// - Parameter onTrial: Whether the previous version runs again if this one is not confirmed.
  /// - Throws: The errors of ``open(_:)`` and ``activate(_:version:onTrial:)``.
  package func open(_ id: String, activating version: UInt64, onTrial: Bool) async throws(PackError) -> OpenedPack {
    let opened = try await logged("pack cannot be opened", id) { () async throws(PackError) in try await openContent(id, version) }
    try await activate(id, version: version, onTrial: onTrial)
    guard let running = try await current(id), running.sha256 == opened.installed.sha256 else { return try await open(id) }
    return opened.running(as: running)
  }

  private func openContent(_ id: String, _ version: UInt64? = nil) async throws(PackError) -> OpenedPack {
    let use = try await WorkerPool.settled { [directory] () throws(PackError) in
      try StoreTrials(directory).use(id, version: version)
    }
    let running = use.installed
    hub.tell(use.events)
    do throws(PackError) {
      guard running.mode == .packed else {
        let tree = try await WorkerPool.settled { [directory, openFiles] () throws(PackError) in
          let tree = try directory.openTree(running)
          try tree.join(openFiles)
          return tree
        }
        return OpenedPack(running, pack: nil, tree: tree, files: directory.files, use: use.mark)
      }
      let keys =
        try use.opener.map { (opener) throws(PackError) -> any KeyProvider in
          OpenerKeys(try Opener(parsing: opener), over: self.keys)
        } ?? self.keys
      let pack = try await Pack.open(running.path, keys: keys, files: directory.files, backend: directory.backend)
      guard running.contentRoot == nil || pack.contentRoot == running.contentRoot else {
        throw PackError(.damagedStore, of: running.path, "has another content than was installed", advice: .reconcileStore)
      }
      try pack.join(openFiles)
      return OpenedPack(running, pack: pack, tree: nil, files: directory.files, use: use.mark)
    } catch {
      // The missing input may also be something that the key provider needs.
      guard error.code == .missingInput,
        try await WorkerPool.settled({ [directory] () throws(PackError) in try directory.status(outside: running.path) == nil })
      else { throw error }
      throw PackError(
        .purged, "version \(running.version) of pack '\(id)' was removed from the device",
        advice: .reconcileStore)
    }
  }

  /// Opens the file of an offered pack that is still arriving. It is in no store yet.
  ///
  /// - Throws: ``PackError/Code/wrongPack`` if it has other content than the manifest says, or the errors of opening a pack.
  package func openArriving(_ path: String, of entry: ManifestPack, arrival: any PackArrival) async throws(PackError) -> Pack {
    let pack = try await Pack.open(path, keys: keys, files: directory.files, backend: directory.backend, arrival: arrival)
    guard pack.contentRoot == entry.contentRoot else {
      throw PackError(.wrongPack, of: path, "has another content than the manifest says", advice: .fetchAgain)
    }
    return pack
  }

  // MARK: Space

  /// Sets the preservation priority of a pack, from 0 to 1. If space is short, packs with a lower priority are removed first.
  ///
  /// A pack with priority 1 is removed only by ``remove(_:)``. The default is 1 for essential packs, 0.6 for prefetched packs, 0.5 for packs on
  /// demand, and 0 for packs that the manifest no longer names.
  public func setPreservation(_ priority: Double, of id: String) async throws(PackError) {
    guard (0...1).contains(priority), let name = try? PackName(id) else {
      throw PackError(
        .usage, "preservation must be from 0 to 1, for a pack with a legal name; got \(priority) for '\(printable(id.utf8))'")
    }
    try await WorkerPool.settled { [directory] () throws(PackError) in
      try directory.change(name.text) { record in record.preservation = UInt64((priority * 1_000_000).rounded()) }
    }
  }

  /// Removes installed versions until the given number of bytes is freed, or no version is left that may be removed.
  ///
  /// The order is: failed versions, packs that the manifest no longer names, earlier versions, then packs by ascending preservation priority. Among
  /// equals, the one that has not been opened for the longest time is removed first. A version that any process has open is not removed, nor is a
  /// version on trial or its fallback.
  @discardableResult
  public func purge(toFree bytes: UInt64) async throws(PackError) -> PurgeReport {
    let (report, events) = try await WorkerPool.settled { [directory, manifests] () throws(PackError) in
      try StoreSpace(directory, manifests).purge(toFree: bytes)
    }
    hub.tell(events)
    return report
  }

  /// Removes all versions of a pack. The store still remembers which versions failed.
  ///
  /// - Returns: Whether any version was installed.
  /// - Throws: ``PackError/Code/inUse`` if any process has the pack open. Then nothing changes.
  @discardableResult
  public func remove(_ id: String) async throws(PackError) -> Bool {
    let isRemoved = try await WorkerPool.settled { [directory] () throws(PackError) in try StoreSpace.remove(id, from: directory) }
    if isRemoved { hub.tell([.removed(id: id)]) }
    return isRemoved
  }

  /// Returns everything that takes space in the store, with the reason. The sizes add up to the size of the store's directory.
  public func usage() async throws(PackError) -> [StoreUsage] {
    try await WorkerPool.settled { [directory, manifests] () throws(PackError) in try StoreSpace(directory, manifests).usage() }
  }

  // MARK: Repair

  /// Repairs what crashes, power cuts, the system or a restored backup left behind, and returns what it found and did.
  ///
  /// The process that runs packs calls this at each start, before it opens a pack. It also ends trials of processes that have ended: the version
  /// on trial fails, or gets another start. A second call finds nothing more to repair. Other processes may use the store at the same time.
  @discardableResult
  public func reconcile(_ depth: ReconcileDepth = .quick) async throws(PackError) -> [StoreFinding] {
    let (findings, events) = try await logged("repair failed") { () async throws(PackError) in
      try await WorkerPool.value { [directory, manifests] (pool) throws(PackError) in
        try StoreRepair(directory, manifests, depth: depth, pool: pool).run()
      }
    }
    hub.tell(events)
    return findings
  }

  /// Runs an action, and logs the error if it fails.
  func logged<Value: Sendable>(
    _ message: StaticString, _ id: String? = nil, _ action: () async throws(PackError) -> Value
  ) async throws(PackError) -> Value {
    do throws(PackError) {
      return try await action()
    } catch {
      logger.record(error.code == .cancelled ? .info : .error, .store, message, .error(error, pack: id))
      throw error
    }
  }

  /// Returns a stream of what this store does from now on. A listener that is too slow loses the oldest events.
  public nonisolated func events() -> AsyncStream<StoreEvent> { hub.listen() }

  /// The time between two checks of a trial, in milliseconds. A confirmation by another process is noticed with at most this delay.
  private static let tick: Duration = .milliseconds(50)
}
