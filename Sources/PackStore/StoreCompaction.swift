import PackCrypto
import PackFiles
import PackFormat
import PackReading
import PackWork

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

    /// The number of bytes that there must be room for: half as many again, because the lowest level compresses less than that of most packs, and a
    /// block. A larger file is not made.
    var room: UInt64 { size.adding(size / 2).adding(4096) }
  }

  /// A pack file in `staging`.
  private struct Draft: Sendable {
    let name: String
    let sha256: [UInt8]
    let size: UInt64
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
  private func make(_ name: String, _ id: String, _ keys: any KeyProvider) async throws(PackError) -> (Target, Draft)? {
    guard let (target, mark) = try await WorkerPool.settled({ () throws(PackError) in try self.target(id) }) else { return nil }
    defer { withExtendedLifetime(mark) {} }
    return (target, try await make(name, of: target, id, keys))
  }

  private func make(_ name: String, of target: Target, _ id: String, _ keys: any KeyProvider) async throws(PackError) -> Draft {
    try await WorkerPool.settled { () throws(PackError) in try checkRoom(for: target, of: id) }
    try await WorkerPool.value { (pool) throws(PackError) in try check(target, pool) }
    let stored = target.stored.path
    let start = try await WorkerPool.value { (_) throws(PackError) in try PackStart(stored, files: directory.files) }
    // Before the deltas are read, which takes longer.
    let given = try await keys.checkedKey(for: KeyRequest(start, path: stored))
    guard let key = try given.key(start.stanzas.keyID, ofPack: start.header.packID, backend: directory.backend) else {
      throw PackError(
        .wrongKey, of: "pack '\(id)'",
        "was made with key \(start.stanzas.keyID), and cannot be rewritten with key \(given.id), for which it is wrapped",
        advice: .giveKey(start.stanzas.keyID))
    }
    let pack = try await target.stored.open(keys: keys, in: directory)
    guard pack.contentRoot == target.content.contentRoot else {
      throw PackError(.damagedStore, of: stored, "makes another content than was installed", advice: .reconcileStore)
    }
    let path = directory.path(name)
    let (draft, made) = try await WorkerPool.value { (pool) throws(PackError) in
      let draft = try write(pack, to: name, limit: target.room, key: key, pool: pool)
      // Read as any other pack, so that only what can be read replaces something that can.
      return (draft, try Pack(path, key: key, files: directory.files, backend: directory.backend))
    }
    guard made.contentRoot == target.content.contentRoot, made.layout.packSize == draft.size else {
      throw PackError(.internalError, of: path, "was written with another content")
    }
    try await TreeWalk.run(made, into: nil, jobs: 1, phase: .verifying, progress: progress)
    return draft
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

  private func write(_ pack: Pack, to name: String, limit: UInt64, key: borrowing PackKey, pool: WorkerPool) throws(PackError) -> Draft {
    let (files, backend, path) = (directory.files, directory.backend, directory.path(name))
    let output: OpenFile
    do {
      output = try files.open(name, .create(mode: 0o644), in: directory.handle)
    } catch {
      throw error.writing(path)
    }
    let header = try PackRewriter.header(of: pack, key: key, backend: backend)
    let stream = try SealedStream(output, path: path, limit: limit, header: header, key: key, files: files, backend: backend)
    try PackRewriter(pack, to: stream, backend: backend, pool: pool, progress: progress).run()
    let sha256 = try stream.finish()
    return Draft(name: name, sha256: sha256, size: stream.size)
  }

  // MARK: The record

  /// Records the file in place of the deltas. What no version is read over any more is removed as usual.
  private func replace(_ target: Target, _ id: String, by draft: Draft) throws(PackError) -> Result {
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
