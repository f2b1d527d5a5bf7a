/// Rewrites a version that is read over deltas as one pack file with the same content.
///
/// The file is made and read back in `staging`, without the store's lock, while the version can be used. Then the record names it instead of the deltas.
/// If the process ends before that, everything is as it was.
struct StoreCompaction: Sendable {
  let directory: StoreDirectory
  let manifests: StoreManifests
  let progress: ProgressHandler?

  /// The share of a pack above which its deltas are rewritten, in percent: they are decompressed each time the pack is opened.
  private static let mostPercent: UInt64 = 30

  /// A version that is to be rewritten.
  private struct Target: Sendable {
    let record: PackRecord
    let content: PackRecord.Content
    let stored: StoredPack
    /// The sum of the sizes of all files that it is read from, in bytes.
    let size: UInt64

    /// The number of bytes that there must be room for.
    var room: UInt64 { PackRewriting.room(for: size) }
  }

  /// What a compaction did.
  struct Result: Sendable {
    let outcome: Outcome
    var events: [StoreEvent] = []
  }

  enum Outcome: Sendable {
    case rewritten(InstalledPack)
    case unchanged(CompactionReport.Reason)
  }

  /// Returns the packs whose current version should be rewritten, and those whose records cannot be read, sorted by name.
  func due() throws(PackError) -> [String] {
    let ids = try directory.records().filter { record in
      guard let content = Self.candidate(of: record) else { return false }
      let sizes = record.sizes(content)
      return record.depth(content) >= Pack.mostDeltas || sizes.deltas.times(100) > sizes.packs.times(Self.mostPercent)
    }.map(\.id)
    return try (ids + directory.damagedRecords()).sorted()
  }

  /// The current version if it is read over deltas and none is on trial.
  private static func candidate(of record: PackRecord) -> PackRecord.Content? {
    guard record.trial == nil, let content = record.current.flatMap(record.content), !content.layers.isEmpty else { return nil }
    return content
  }

  /// Rewrites the current version of a pack.
  ///
  /// - Throws: ``PackError/Code/damagedStore`` or ``PackError/Code/purged`` if a file that it is read from is not the one that was installed,
  ///   ``PackError/Code/noSpace`` or ``PackError/Code/quotaExceeded`` if there is no room: nothing is removed to make some.
  func run(_ id: String, keys: any KeyProvider) async throws(PackError) -> Result {
    let name = directory.freshName(in: .staging, ending: ".pack")
    do throws(PackError) {
      guard let (target, draft) = try await make(name, id, keys) else {
        let isOnTrial = try await WorkerPool.settled { () throws(PackError) in try directory.record(id)?.trial != nil }
        return Result(outcome: .unchanged(isOnTrial ? .onTrial : .noDeltas))
      }
      return try await WorkerPool.settled { () throws(PackError) in try self.replace(target, id, by: draft) }
    } catch {
      await WorkerPool.settled { directory.empty([name]) }
      throw error
    }
  }

  /// Returns what is to be rewritten, and a mark that keeps its files on the device.
  private func target(_ id: String) throws(PackError) -> (Target, UseMark)? {
    try directory.withLockIfWritable { () throws(PackError) in
      guard let record = try directory.record(id), let content = Self.candidate(of: record) else { return nil }
      let sizes = record.sizes(content)
      let target = Target(
        record: record, content: content, stored: directory.stored(content, of: record), size: sizes.deltas.adding(sizes.packs))
      return (target, directory.uses.open(record.allItems(content)))
    }
  }

  // MARK: The file

  /// Makes the file. The old ones are not in use any more when this returns, so that they can be removed.
  private func make(_ name: String, _ id: String, _ keys: any KeyProvider) async throws(PackError) -> (Target, RewrittenFile)? {
    guard let (target, mark) = try await WorkerPool.settled({ () throws(PackError) in try self.target(id) }) else { return nil }
    defer { withExtendedLifetime(mark) {} }
    return (target, try await make(name, of: target, id, keys))
  }

  private func make(_ name: String, of target: Target, _ id: String, _ keys: any KeyProvider) async throws(PackError) -> RewrittenFile {
    try await WorkerPool.settled { () throws(PackError) in try checkRoom(for: target, of: id) }
    try await WorkerPool.value { (pool) throws(PackError) in try check(target, pool) }
    let stored = target.stored.path
    let start = try await WorkerPool.value { (_) throws(PackError) in try PackStart(stored, files: directory.files) }
    let rewriting = PackRewriting(directory: directory, id: id, limit: target.room, progress: progress)
    return try await rewriting.run(to: name, as: start, path: stored, keys: keys) { () async throws(PackError) in
      let pack = try await target.stored.open(keys: keys, in: directory)
      guard pack.contentRoot == target.content.contentRoot else {
        throw PackError(.damagedStore, of: stored, "makes another content than was installed", advice: .reconcileStore)
      }
      return pack
    }
  }

  /// Checks the bytes of all files, so that an error is about the store and not about a pack.
  private func check(_ target: Target, _ pool: WorkerPool) throws(PackError) {
    let contents = ContentCheck(directory: directory, pool: pool)
    guard let found = try contents.faultOfAll(target.content, in: target.record, .thorough) else { return }
    throw PackError(
      found.fault == .missing ? .purged : .damagedStore, of: "version \(found.version) of pack '\(target.record.id)'", found.fault.text,
      advice: .reconcileStore)
  }

  private func checkRoom(for target: Target, of id: String) throws(PackError) {
    let needed = target.room
    let missing = try StoreSpace(directory, manifests).shortage(StoreSpace.Needs(volume: needed, store: needed))
    guard missing.largest > 0 else { return }
    throw PackError(
      missing.volume > 0 ? .noSpace : .quotaExceeded, of: "pack '\(id)'",
      "needs \(needed) bytes to be rewritten; \(missing.largest) bytes are missing",
      advice: missing.volume > 0 ? .freeSpace(bytes: missing.largest) : .makeRoom(bytes: missing.largest))
  }

  // MARK: The record

  /// Records the file in place of the deltas. What no version is read over any more is removed as usual.
  private func replace(_ target: Target, _ id: String, by draft: RewrittenFile) throws(PackError) -> Result {
    let trials = StoreTrials(directory)
    var item: String?
    let size = try directory.sizeOnDevice(draft.name)
    let result = try directory.change(id) { (record) throws(PackError) -> Result in
      guard Self.candidate(of: record) == target.content, let index = record.contents.firstIndex(of: target.content) else {
        // What became superfluous while the old files were held is still there.
        return Result(outcome: .unchanged(.changed), events: try trials.dropSurplus(of: &record))
      }
      try StoreSpace(directory, manifests).checkQuota(for: StoreSpace.Needs(volume: 0, store: size), of: id)
      var content = target.content
      (content.layers, content.bases, content.rewritten) = ([], [], draft.sha256)
      (content.size, content.sizeOnDevice) = (draft.size, size)
      let name = record.itemName(content)
      _ = try directory.bringIn(draft.name, isOutside: false, as: name) { item = name }
      record.contents[index] = content
      let events = try trials.dropSurplus(of: &record)
      let installed = directory.installed(content, of: record)
      return Result(outcome: .rewritten(installed), events: [.rewritten(installed, InstallCost(written: draft.size))] + events)
    } undo: {
      if let item, let name = directory.discard(directory.place(item)) { directory.empty([name]) }
    }
    if case .unchanged = result.outcome { directory.empty([draft.name]) }
    return result
  }
}
