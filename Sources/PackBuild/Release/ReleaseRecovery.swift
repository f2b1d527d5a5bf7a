/// Makes a lock file that was lost, and the records of releases, again from manifests that were published.
///
/// What a lock file has already is never lowered. App versions are in no manifest: those beside the lock file stay, others must be recorded again.
package struct ReleaseRecovery {
  private let lockPath: String
  private let folder: ReleasedPacks
  private let files: any FileSystem
  private let turn: RecordingTurn
  private let before: ReleaseLock
  private let isLost: Bool
  private var lock: ReleaseLock
  /// The releases as the manifests tell them, without what only the lock file knows.
  private var history = ReleaseLock()
  /// The packs of the lock file and of records, by their digests: a manifest does not say their settings.
  private var known: [[UInt8]: ReleaseLock.Pack] = [:]
  /// The signed digests of the manifests that have a record.
  private var digests: Set<[UInt8]> = []
  private let rootKeyID: String?
  /// The manifests of which records were written, in ascending order.
  private var recorded: [UInt64] = []

  /// What was done.
  package struct Report: Sendable {
    package let lock: ReleaseLock
    /// Whether the lock file had everything.
    package let isUnchanged: Bool
    /// The versions of the manifests of which records were written, in ascending order.
    package let recorded: [UInt64]
  }

  /// Reads what is left: the lock file, app versions and records. No other process records until the value is gone.
  ///
  /// - Throws: ``PackError/Code/invalidRecord`` or ``PackError/Code/unmergedRecord`` if a file is there that cannot be read.
  package init(_ lockPath: String, _ folder: ReleasedPacks, files: any FileSystem = SystemFiles()) throws(PackError) {
    (self.lockPath, self.folder, self.files) = (lockPath, folder, files)
    turn = try RecordingTurn(lockPath, files: files)
    isLost = files.isMissing(lockPath, following: .followed)
    if isLost {
      var empty = ReleaseLock()
      try empty.readApps(besides: lockPath, files: files)
      before = empty
    } else {
      before = try .read(lockPath, files: files)
    }
    lock = before
    for pack in lock.released?.packs ?? [] { known[pack.sha256] = pack }
    var rootKeyID = lock.released?.rootKeyID
    for record in try folder.records() {
      // One that cannot be read is written again, or is in the way of nothing.
      guard let release = try? folder.release(record) else { continue }
      rootKeyID = rootKeyID ?? release.rootKeyID
      digests.insert(release.signedDigest)
      for pack in release.packs where known[pack.sha256] == nil { known[pack.sha256] = pack }
    }
    self.rootKeyID = rootKeyID
  }

  /// Adds a manifest, whose signature was checked.
  ///
  /// - Precondition: its version is not lower than that of the one added before.
  package mutating func add(_ manifest: PublishedManifest) throws(PackError) {
    history.raise(to: manifest)
    complete(&history)
    lock.raise(to: manifest)
    complete(&lock)
    guard let release = history.released, release.manifestVersion == manifest.version,
      digests.insert(manifest.verified.signedDigest).inserted
    else { return }
    try folder.record(release)
    recorded.append(manifest.version)
  }

  /// Writes the lock file.
  package consuming func finish() throws(PackError) -> Report {
    let isUnchanged = !isLost && lock == before
    if !isUnchanged { try lock.write(to: lockPath, files: files) }
    return Report(lock: lock, isUnchanged: isUnchanged, recorded: recorded)
  }

  private func complete(_ lock: inout ReleaseLock) {
    guard var release = lock.released else { return }
    release.rootKeyID = release.rootKeyID ?? rootKeyID
    for index in release.packs.indices where release.packs[index].settings.isEmpty {
      guard let pack = known[release.packs[index].sha256] else { continue }
      (release.packs[index].settings, release.packs[index].created) = (pack.settings, pack.created)
    }
    lock.released = release
  }
}
