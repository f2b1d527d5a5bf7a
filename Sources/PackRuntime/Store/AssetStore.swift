public import PackCrypto
package import PackFiles
public import PackFormat
public import PackManifest

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
    self.root = root
    self.policy = policy
  }

  // MARK: Manifest

  /// The manifest that was accepted last, expired or not; nil where there is none that a trusted key vouches for.
  public var manifest: VerifiedManifest? {
    get async { nil }
  }

  /// Accepts a manifest and says what it asks for. On any error nothing changes.
  ///
  /// - Throws: ``PackError/Code/untrustedSignature``, ``PackError/Code/damagedManifest``, ``PackError/Code/manifestRollback``,
  ///   ``PackError/Code/manifestExpired``, ``PackError/Code/storeBusy``.
  @discardableResult
  public func adopt(_ document: SignedManifest) async throws(PackError) -> UpdatePlan { throw Self.unwritten }

  /// What the accepted manifest asks for.
  ///
  /// - Throws: ``PackError/Code/noManifest``.
  public func plan() async throws(PackError) -> UpdatePlan { throw Self.unwritten }

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
  ///   that are missing, ``PackError/Code/cancelled``, or what a damaged pack deserves.
  @discardableResult
  public func install(
    _ file: String, as id: String, taking: Taking = .moving, mode: InstallMode? = nil, progress: ProgressHandler? = nil
  ) async throws(PackError) -> InstalledPack { throw Self.unwritten }

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
    throw Self.unwritten
  }

  /// The trial that is under way, for a process that starts in the middle of one; nil where there is none.
  public func trial(of id: String) async throws(PackError) -> BootToken? { throw Self.unwritten }

  /// Makes the version on trial the current one. Earlier versions that are more than are kept are removed. Confirming twice is harmless.
  ///
  /// - Throws: ``PackError/Code/staleConfirmation`` unless exactly this trial is under way or was confirmed last; then nothing changes.
  public func confirm(_ token: BootToken) async throws(PackError) { throw Self.unwritten }

  /// Waits until a trial is confirmed, by whichever process, and rolls back when ``StorePolicy/trialTimeout`` passes first.
  ///
  /// Only time in which the process ran counts. Cancelling the task ends the waiting, not the trial.
  ///
  /// - Throws: ``PackError/Code/notConfirmed`` where it ran out of time or fell otherwise, ``PackError/Code/staleConfirmation`` where another trial took its
  ///   place, ``PackError/Code/cancelled``.
  public func confirmation(of token: BootToken) async throws(PackError) { throw Self.unwritten }

  /// Gives up the version on trial, or else the current one, for the version before, and remembers its bytes as failed.
  ///
  /// - Parameter reason: what is remembered with them, for a person; at most 200 bytes are kept.
  /// - Returns: what runs now, nil where there is nothing left to run.
  /// - Throws: ``PackError/Code/notInstalled`` where nothing runs.
  @discardableResult
  public func rollback(_ id: String, reason: String) async throws(PackError) -> InstalledPack? { throw Self.unwritten }

  /// What ``open(_:)`` would open: the version on trial, or else the current one. Nil where there is none.
  public func current(_ id: String) async throws(PackError) -> InstalledPack? { throw Self.unwritten }

  /// Every version of every pack, by name and then by version.
  public func installed() async throws(PackError) -> [InstalledPack] { throw Self.unwritten }

  /// Opens what runs of a pack: the version on trial, or else the current one. It is in use, and not removed, until the last reference goes.
  ///
  /// - Throws: ``PackError/Code/notInstalled``, ``PackError/Code/purged``, or what opening a pack throws.
  public func open(_ id: String) async throws(PackError) -> OpenedPack { throw Self.unwritten }

  // MARK: Space

  /// Says how dear a pack is when space is short, from 0 to 1. One of 1 is removed by ``remove(_:)`` alone.
  ///
  /// Unless it was said, essential packs have 1, prefetched ones 0.6, those on demand 0.5, and those that the manifest does not name any more 0.
  public func setPreservation(_ priority: Double, of id: String) async throws(PackError) { throw Self.unwritten }

  /// Removes what is least dear until so many bytes are freed, or nothing is left that may go.
  ///
  /// First what failed, then packs that the manifest does not name any more, then earlier versions, then by ascending preservation and longest unused.
  /// Nothing that any process has open goes, nor a version on trial or its fallback.
  @discardableResult
  public func purge(toFree bytes: UInt64) async throws(PackError) -> PurgeReport { throw Self.unwritten }

  /// Removes all versions of a pack. What failed of it stays remembered.
  ///
  /// - Throws: ``PackError/Code/inUse`` where any process has it open; then nothing changes.
  public func remove(_ id: String) async throws(PackError) { throw Self.unwritten }

  /// All that takes space in the store, and why. The sizes sum to what its directory takes.
  public func usage() async throws(PackError) -> [StoreUsage] { throw Self.unwritten }

  // MARK: Repair

  /// Sets right what crashes, power cuts, the system or a restored backup left, and says what it did. Run at each start, before anything is opened, by the
  /// process that runs packs: trials of processes that have ended are judged here.
  ///
  /// Doing it again finds nothing more. Other processes may use the store meanwhile.
  @discardableResult
  public func reconcile(_ depth: ReconcileDepth = .quick) async throws(PackError) -> [StoreFinding] { throw Self.unwritten }

  /// What this store does from now on. A listener that does not keep up loses the oldest events.
  public nonisolated func events() -> AsyncStream<StoreEvent> { AsyncStream { $0.finish() } }

  private static var unwritten: PackError { PackError(.internalError, "not there yet") }
}
