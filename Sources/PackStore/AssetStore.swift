public import PackCrypto
package import PackFiles
public import PackFormat
public import PackManifest
public import PackReading
public import PackTrust
package import PackWork

/// The packs on a device: installed whole or not at all, several versions side by side, tried before they are trusted.
///
/// A store is one directory (STORE.md). Any number of stores and processes may have it open at once: nothing of it is remembered between two calls. Each
/// change takes the lock file for milliseconds, reads the record of one pack, and replaces it by one rename. Packs are read, copied, unpacked and checked
/// without the lock. A crash or a power cut at any point leaves the old version or the new one, whole.
///
/// At its start a process that runs packs calls ``reconcile(_:)`` first. All work on files is done off the cooperative pool.
public actor AssetStore {
  /// The directory of the store, as it was given.
  public nonisolated let root: String
  /// How the store behaves.
  public nonisolated let policy: StorePolicy

  let directory: StoreDirectory
  let manifests: StoreManifests
  package nonisolated let hub = EventHub<StoreEvent>(bufferedCount: 256)
  private let keys: any KeyProvider
  /// Whose turn it is to install a pack, by its name.
  private let installing = KeyedLock<String>()

  /// Opens the store in a directory, or makes one there; directories above it are made too. Repairs nothing.
  ///
  /// - Parameters:
  ///   - root: the directory: one that does not exist, is empty, or is a store.
  ///   - keys: where the keys of packs come from.
  ///   - trusted: the keys whose signatures on manifests count.
  ///   - lowestVersion: the lowest manifest version that this release of the app takes.
  /// - Throws: ``PackError/Code/notAStore`` where the directory holds something else, ``PackError/Code/unsupported`` where a later release made it,
  ///   ``PackError/Code/usage`` for a policy that makes no sense.
  public init(
    root: String, keys: some KeyProvider, trusting trusted: [SigningPublicKey], lowestVersion: UInt64 = 0,
    policy: StorePolicy = StorePolicy()
  ) async throws(PackError) {
    try await self.init(
      root: root, keys: keys, trusting: trusted, lowestVersion: lowestVersion, policy: policy, files: SystemFiles(),
      clock: SystemStoreClock(),
      process: .current(), backend: CryptoBackends.standard)
  }

  /// - Parameters:
  ///   - clock: what time it is, and how waiting is done.
  ///   - process: under which name this process leaves things, and which others still run.
  package init(
    root: String, keys: some KeyProvider, trusting trusted: [SigningPublicKey], lowestVersion: UInt64, policy: StorePolicy,
    files: any FileSystem,
    clock: any StoreClock, process: StoreProcess, backend: any CryptoBackend
  ) async throws(PackError) {
    guard policy.keepVersions >= 1, policy.trialStarts >= 1 else {
      throw PackError(.usage, "a store keeps at least 1 version and gives a trial at least 1 start")
    }
    self.root = root
    self.policy = policy
    self.keys = keys
    let directory = try await WorkerPool.settled { () throws(PackError) in
      try StoreDirectory(root: root, files: files, clock: clock, process: process, policy: policy, backend: backend)
    }
    self.directory = directory
    manifests = StoreManifests(directory, trusting: trusted, lowestVersion: lowestVersion)
    if policy.isExcludedFromBackup { BackupExclusion.exclude(root) }
  }

  // MARK: Manifest

  /// The manifest that was accepted last, expired or not; nil where there is none that a trusted key vouches for.
  public var manifest: VerifiedManifest? {
    get async {
      try? await WorkerPool.settled { [manifests] () throws(PackError) in try manifests.usable() }
    }
  }

  /// What a document says that a trusted key vouches for, old or expired as it may be.
  package nonisolated func vouched(_ document: SignedManifest) throws(PackError) -> Manifest { try manifests.vouched(document) }

  /// Accepts a manifest and says what it asks for. On any error nothing changes.
  ///
  /// - Throws: ``PackError/Code/untrustedSignature``, ``PackError/Code/damagedManifest``, ``PackError/Code/manifestRollback``,
  ///   ``PackError/Code/manifestExpired``, ``PackError/Code/storeBusy``.
  @discardableResult
  public func adopt(_ document: SignedManifest) async throws(PackError) -> UpdatePlan {
    let (plan, version) = try await WorkerPool.settled { [directory, manifests] () throws(PackError) in
      let candidate = try manifests.verify(document)
      try directory.withLock { () throws(PackError) in try manifests.adopt(document, candidate) }
      return (try StorePlanning(directory).plan(for: candidate), candidate.manifest.version)
    }
    hub.tell([.adopted(manifest: version)])
    return plan
  }

  /// What the accepted manifest asks for.
  ///
  /// - Throws: ``PackError/Code/noManifest``.
  public func plan() async throws(PackError) -> UpdatePlan {
    try await WorkerPool.settled { [directory, manifests] () throws(PackError) in
      try StorePlanning(directory).plan(for: try manifests.required())
    }
  }

  // MARK: Versions

  /// Installs a pack file as the accepted manifest names it. It waits to be activated.
  ///
  /// Everything is checked before anything is written: the manifest's date, the file's header and SHA-256, free space, quota. What may be purged is
  /// purged where space is missing. What runs keeps running, whatever happens.
  ///
  /// - Parameters:
  ///   - file: the path of the pack file, not a symbolic link where it is moved.
  ///   - id: the name of the pack.
  ///   - taking: what becomes of the file.
  ///   - mode: whether the pack is kept encrypted or unpacked; what the manifest says where it is nil.
  ///   - progress: hears of the bytes checked and unpacked.
  /// - Returns: what is installed; at once where the same bytes were installed already.
  /// - Throws: ``PackError/Code/noManifest``, ``PackError/Code/manifestExpired``, ``PackError/Code/unknownPack``, ``PackError/Code/versionFailed``,
  ///   ``PackError/Code/wrongPack``, ``PackError/Code/digestMismatch``, ``PackError/Code/noSpace`` and ``PackError/Code/quotaExceeded`` with the bytes
  ///   that are missing, ``PackError/Code/cancelled``, or the error of a damaged pack.
  @discardableResult
  public func install(
    _ file: String, as id: String, taking: Taking = .moving, mode: InstallMode? = nil, progress: ProgressHandler? = nil
  ) async throws(PackError) -> InstalledPack {
    try await install(file, as: id, taking: taking, mode: mode, progress: progress, note: nil)
  }

  /// - Parameter note: gets what comes of it besides.
  package func install(
    _ file: String, as id: String, taking: Taking, mode: InstallMode?, progress: ProgressHandler?, note: Monitor<InstallNote>?
  ) async throws(PackError) -> InstalledPack {
    // One after the other: the second finds what the first installed, and perhaps took the file of.
    try await installing.lock(id)
    defer { installing.unlock(id) }
    let installation = Installation(
      directory: directory, manifests: manifests, file: file, id: id, taking: taking, mode: mode, progress: progress, note: note,
      tell: { [hub] in hub.tell($0) })
    return try await installation.run(keys: keys)
  }

  /// Has a version run from now on: on trial until it is confirmed, or for good. Called by the process that will run it, right before.
  ///
  /// - Parameters:
  ///   - id: the name of the pack.
  ///   - version: the version; where it is nil the one of the manifest if it is installed and did not fail, else the newest that did not.
  ///   - onTrial: whether the version before takes over again unless this one is confirmed.
  /// - Returns: what confirms it. A version that is current already needs nothing; its token is good and changes nothing.
  /// - Throws: ``PackError/Code/notInstalled``, ``PackError/Code/versionFailed``, ``PackError/Code/inUse`` where another living process has the pack on trial.
  @discardableResult
  public func activate(_ id: String, version: UInt64? = nil, onTrial: Bool = true) async throws(PackError) -> BootToken {
    let (token, events) = try await WorkerPool.settled { [directory, manifests] () throws(PackError) in
      try StoreTrials(directory).activate(id, version: version, onTrial: onTrial, manifest: try manifests.usable())
    }
    hub.tell(events)
    return token
  }

  /// The trial that is under way, for a process that starts in the middle of one; nil where there is none.
  public func trial(of id: String) async throws(PackError) -> BootToken? {
    try await WorkerPool.settled { [directory] () throws(PackError) in
      try directory.record(id).map(StoreTrials(directory).judged).flatMap { record in
        record.trial.map { record.token($0.bytes, nonce: $0.nonce) }
      }
    }
  }

  /// Makes the version on trial the current one. Earlier versions that are more than are kept are removed. Confirming twice is harmless.
  ///
  /// - Throws: ``PackError/Code/staleConfirmation`` unless exactly this trial is under way or was confirmed last; then nothing changes.
  public func confirm(_ token: BootToken) async throws(PackError) {
    hub.tell(try await WorkerPool.settled { [directory] () throws(PackError) in try StoreTrials(directory).confirm(token) })
  }

  /// Waits until a trial is confirmed, by whichever process, and rolls back when ``StorePolicy/trialTimeout`` passes first.
  ///
  /// Only time in which the process ran counts. Cancelling the task ends the waiting, not the trial.
  ///
  /// - Throws: ``PackError/Code/notConfirmed`` where it ran out of time or fell otherwise, ``PackError/Code/staleConfirmation`` where another trial took its
  ///   place, ``PackError/Code/cancelled``.
  public func confirmation(of token: BootToken) async throws(PackError) {
    let limit = policy.trialTimeout.microseconds
    var waited: UInt64 = 0
    while true {
      // What the process did not run does not count: each look is worth its own length, however long it took.
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
      do {
        try await directory.clock.tick(milliseconds: Self.tick)
      } catch {
        throw PackError(.cancelled, "cancelled")
      }
      waited += Self.tick * 1000
    }
  }

  /// Gives up the version on trial, or else the current one, for the version before, and remembers its bytes as failed.
  ///
  /// - Parameter reason: what is remembered with them, for a person; at most 200 bytes are kept.
  /// - Returns: what runs now, nil where there is nothing left to run.
  /// - Throws: ``PackError/Code/notInstalled`` where nothing runs.
  @discardableResult
  public func rollback(_ id: String, reason: String) async throws(PackError) -> InstalledPack? {
    let (current, events) = try await WorkerPool.settled { [directory] () throws(PackError) in
      try StoreTrials(directory).rollback(id, reason: reason)
    }
    hub.tell(events)
    return current
  }

  /// What ``open(_:)`` would open: the version on trial, or else the current one. Nil where there is none.
  public func current(_ id: String) async throws(PackError) -> InstalledPack? {
    try await WorkerPool.settled { [directory] () throws(PackError) in
      try directory.record(id).map(StoreTrials(directory).judged).flatMap { record in
        record.running.map { directory.installed($0, of: record) }
      }
    }
  }

  /// Every version of every pack, by name and then by version.
  public func installed() async throws(PackError) -> [InstalledPack] {
    try await WorkerPool.settled { [directory] () throws(PackError) in
      try directory.records().map(StoreTrials(directory).judged).flatMap { record in
        record.contents.map { directory.installed($0, of: record) }.sorted { $0.version < $1.version }
      }
    }
  }

  /// The names of the packs whose records cannot be read: nothing of them runs until ``reconcile(_:)`` has made the records anew.
  public func damagedRecords() async throws(PackError) -> [String] {
    try await WorkerPool.settled { [directory] () throws(PackError) in try directory.damagedRecords() }
  }

  /// Opens what runs of a pack: the version on trial, or else the current one. It is in use, and not removed, until the last reference goes.
  ///
  /// - Throws: ``PackError/Code/notInstalled``, ``PackError/Code/purged``, or what opening a pack throws.
  public func open(_ id: String) async throws(PackError) -> OpenedPack {
    let (running, use, events) = try await WorkerPool.settled { [directory] () throws(PackError) in try StoreTrials(directory).use(id) }
    hub.tell(events)
    do throws(PackError) {
      guard running.mode == .packed else {
        let tree = try await WorkerPool.settled { [directory] () throws(PackError) in try directory.openTree(running) }
        return OpenedPack(running, pack: nil, tree: tree, files: directory.files, use: use)
      }
      let pack = try await Pack.open(running.path, keys: keys, files: directory.files, backend: directory.backend)
      return OpenedPack(running, pack: pack, tree: nil, files: directory.files, use: use)
    } catch {
      // Where keys are fetched from, something may be missing too.
      guard error.code == .missingInput,
        try await WorkerPool.settled({ [directory] () throws(PackError) in try directory.status(outside: running.path) }) == nil
      else { throw error }
      throw PackError(
        .purged, "version \(running.version) of pack '\(id)' was removed from the device",
        advice: .reconcileStore)
    }
  }

  // MARK: Space

  /// Says how dear a pack is when space is short, from 0 to 1. One of 1 is removed by ``remove(_:)`` alone.
  ///
  /// Unless it was said, essential packs have 1, prefetched ones 0.6, those on demand 0.5, and those that the manifest does not name any more 0.
  public func setPreservation(_ priority: Double, of id: String) async throws(PackError) {
    guard (0...1).contains(priority), let name = try? PackName(id) else {
      throw PackError(
        .usage, "preservation is a number from 0 to 1 of a pack with a legal name, not \(priority) of '\(printable(id.utf8))'")
    }
    try await WorkerPool.settled { [directory] () throws(PackError) in
      try directory.change(name.text) { record in record.preservation = UInt64((priority * 1_000_000).rounded()) }
    }
  }

  /// Removes what is least dear until so many bytes are freed, or nothing is left that may go.
  ///
  /// First what failed, then packs that the manifest does not name any more, then earlier versions, then by ascending preservation and longest unused.
  /// Nothing that any process has open goes, nor a version on trial or its fallback.
  @discardableResult
  public func purge(toFree bytes: UInt64) async throws(PackError) -> PurgeReport {
    let (report, events) = try await WorkerPool.settled { [directory, manifests] () throws(PackError) in
      try StoreSpace(directory, manifests).purge(toFree: bytes)
    }
    hub.tell(events)
    return report
  }

  /// Removes all versions of a pack. What failed of it stays remembered.
  ///
  /// - Returns: whether there was one.
  /// - Throws: ``PackError/Code/inUse`` where any process has it open; then nothing changes.
  @discardableResult
  public func remove(_ id: String) async throws(PackError) -> Bool {
    let isRemoved = try await WorkerPool.settled { [directory] () throws(PackError) in try StoreSpace.remove(id, from: directory) }
    if isRemoved { hub.tell([.removed(id: id)]) }
    return isRemoved
  }

  /// All that takes space in the store, and why. The sizes sum to what its directory takes.
  public func usage() async throws(PackError) -> [StoreUsage] {
    try await WorkerPool.settled { [directory, manifests] () throws(PackError) in try StoreSpace(directory, manifests).usage() }
  }

  // MARK: Repair

  /// Sets right what crashes, power cuts, the system or a restored backup left, and says what it did. Run at each start, before anything is opened, by the
  /// process that runs packs: trials of processes that have ended are judged here.
  ///
  /// Doing it again finds nothing more. Other processes may use the store meanwhile.
  @discardableResult
  public func reconcile(_ depth: ReconcileDepth = .quick) async throws(PackError) -> [StoreFinding] {
    let (findings, events) = try await WorkerPool.value { [directory, manifests] (pool) throws(PackError) in
      try StoreRepair(directory, manifests, depth: depth, pool: pool).run()
    }
    hub.tell(events)
    return findings
  }

  /// What this store does from now on. A listener that does not keep up loses the oldest events.
  public nonisolated func events() -> AsyncStream<StoreEvent> { hub.listen() }

  /// How often a trial is looked at, in milliseconds: a confirmation by another process is noticed that late.
  private static let tick: UInt64 = 50
}
