/// What ``AssetStore/compact(_:progress:)`` did.
public struct CompactionReport: Sendable {
  /// A pack that could not be rewritten. Its version runs as before.
  public struct Failure: Sendable {
    /// The name of the pack.
    public let id: String
    /// The reason.
    public let error: PackError
  }

  /// Why a pack was left as it is.
  public enum Reason: Hashable, Sendable {
    /// Its current version is not read over deltas: there is none, or it has a file or tree of its own.
    case noDeltas
    /// A version of it is on trial.
    case onTrial
    /// It was updated or removed meanwhile.
    case changed
  }

  /// The versions that are one file now.
  public let rewritten: [InstalledPack]
  /// The packs that could not be rewritten.
  public let failures: [Failure]
  /// The other packs, by name.
  public let unchanged: [String: Reason]
}

extension AssetStore {
  /// Rewrites current versions that are read over deltas as one pack file each, so that they open quickly and further deltas can be installed over them.
  ///
  /// Call it when the device has time, for example in a background task. It takes the processor time of reading the pack twice and of compressing it at
  /// zstd's lowest level on one thread, and writes a file of about the size of the pack, encrypted with the pack's key. The file is read back before it
  /// replaces the deltas. Packs can be used, installed and updated meanwhile. What is interrupted changed nothing, and begins anew the next time;
  /// cancelling the task interrupts it. A version that is open stays readable from its old files, which ``reconcile(_:)`` removes later.
  ///
  /// Nothing is removed to make room; a pack that would become more than half as large again is left as it is. Memory: about 4 MiB, 300 bytes for each
  /// file, and four readers of the pack, each with a window of every delta and a frame of the pack below.
  ///
  /// - Parameters:
  ///   - ids: The packs. If nil, those with three deltas over each other, or with deltas of more than 30 % of the pack below them, unless a version is on
  ///     trial.
  ///   - progress: Called for each pack anew, in bytes of its content.
  /// - Throws: ``PackError/Code/cancelled``, or ``PackError/Code/cannotRead`` if the records cannot be read. Other errors are about one pack, and in the
  ///   report: ``PackError/Code/damagedStore`` and ``PackError/Code/purged`` if a file is not the one that was installed, ``PackError/Code/noSpace``,
  ///   ``PackError/Code/quotaExceeded``, ``PackError/Code/wrongKey`` if the provider has only a recipient's key, and what opening a pack throws.
  @discardableResult
  public func compact(_ ids: [String]? = nil, progress: ProgressHandler? = nil) async throws(PackError) -> CompactionReport {
    try await compact(ids, except: [], progress: progress)
  }

  /// Does the same, but passes over some packs.
  package func compact(
    _ ids: [String]? = nil, except passedOver: Set<String>, progress: ProgressHandler? = nil
  ) async throws(PackError) -> CompactionReport {
    let compaction = StoreCompaction(directory: directory, manifests: manifests, progress: progress)
    let due: [String]
    if let ids { due = ids } else { due = try await WorkerPool.settled { () throws(PackError) in try compaction.due() } }
    var rewritten: [InstalledPack] = []
    var failures: [CompactionReport.Failure] = []
    var unchanged: [String: CompactionReport.Reason] = [:]
    for id in due where !passedOver.contains(id) {
      do throws(PackError) {
        let result = try await compact(id, by: compaction)
        switch result.outcome {
        case .rewritten(let pack): rewritten.append(pack)
        case .unchanged(let reason): unchanged[id] = reason
        }
        hub.tell(result.events)
      } catch {
        guard error.code != .cancelled else { throw error }
        failures.append(CompactionReport.Failure(id: id, error: error))
      }
    }
    return CompactionReport(rewritten: rewritten, failures: failures, unchanged: unchanged)
  }

  private func compact(_ id: String, by compaction: StoreCompaction) async throws(PackError) -> StoreCompaction.Result {
    // A second call for the same pack would do the same work.
    try await compacting.lock(id)
    defer { compacting.unlock(id) }
    return try await logged("pack cannot be rewritten", id) { () async throws(PackError) in try await compaction.run(id, keys: keys) }
  }
}
