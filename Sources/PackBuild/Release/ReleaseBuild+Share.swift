extension ReleaseBuild {
  /// Returns the packs to build, in the byte order of their ids.
  ///
  /// - Parameter share: which of them; nil for all.
  package func packs(in share: BuildShare?) throws(PackError) -> [PackerConfiguration.Pack] {
    try checkWanted(configuration.packs)
    let packs = sortedPacks.filter { wanted.isEmpty || wanted.contains($0.id.text) }
    return share?.items(of: packs) ?? packs
  }

  /// Makes packs, and deltas to them, into the cache, where a build of the same sources and settings finds them.
  ///
  /// Writes no release, and needs no signing key. What ``output`` or the cache has already is not made again. Deltas are made as far as the packs that
  /// they are made from are here or in the cache; the build makes the others.
  ///
  /// - Parameters:
  ///   - packs: the packs. The directories of others need not exist.
  ///   - keys: with own keys, one for each of `packs`.
  ///   - progress: called with the progress of reading and packing, in bytes of content.
  /// - Returns: a report without a release, whose output is the cache.
  /// - Throws: ``PackError``, also if the cache cannot be read or written and is required.
  package func fillCache(
    with packs: [PackerConfiguration.Pack], keys: ContentKeys, progress: ProgressHandler? = nil
  ) async throws(PackError) -> ReleaseBuildReport {
    guard let cache else { preconditionFailure("the build has a cache") }
    try checkPlace(packs)
    var lock = try ReleaseLock.readIfPresent(lockPath, requiredBy: configuration, files: files)
    let existing = try ExistingRelease.look(at: output, files: files)
    var remarks = raise(&lock, to: existing)

    var build = self
    build.wanted = []
    var decisions: [PackDecision]
    switch keys {
    case .one(let held):
      let ids = try keyIDs(of: packs, key: held.key, lock, existing)
      decisions = try await build.decide(packs, keyIDs: ids, lock: lock, existing: existing, progress: progress)
    case .each(let own):
      let ids = own.mapValues { "\($0.key.id)" }
      decisions = try await build.decide(packs, keyIDs: ids, lock: lock, existing: existing, progress: progress)
      for index in decisions.indices { decisions[index].job.usesPackKey = false }
    }

    let history = ReleaseHistory(lock, configuration, files: files)
    var updates: [ReleaseBuildReport.Update] = []
    var rest = decisions.indices.filter { decisions[$0].made == nil }[...]
    while !rest.isEmpty {
      let indices = batch(of: rest, decisions)
      rest = rest.dropFirst(indices.count)
      var part = indices.map { decisions[$0] }
      updates += try await fill(&part, keys: keys, history, existing: existing, progress: progress)
      for (index, decision) in zip(indices, part) { decisions[index] = decision }
    }
    remarks += decisions.compactMap(\.remark) + cache.takeRemarks()
    let items = decisions.map { decision in
      let made = decision.result ?? decision.made
      let action: ReleaseBuildReport.Item.Action = decision.made != nil ? .reused : decision.isCached ? .cached : .packed
      return ReleaseBuildReport.Item(
        id: decision.id, version: made?.version ?? 0, action: action, reason: action == .packed ? decision.reason : nil,
        contentSize: decision.census?.contentSize ?? 0, entry: nil, omitted: decision.census?.omitted ?? [])
    }
    return ReleaseBuildReport(
      output: cache.title, items: items, updates: updates, downloads: [], change: nil, room: [], release: nil, remarks: remarks)
  }

  /// The sum of the sizes in bytes of the contents that are on the disk as packs at once, at most, if that is more than one pack.
  private static let largestBatch: UInt64 = 1 << 30

  private func batch(of indices: ArraySlice<Int>, _ decisions: [PackDecision]) -> ArraySlice<Int> {
    var size: UInt64 = 0
    return indices.prefix { index in
      size = size.adding(decisions[index].census?.contentSize ?? 0)
      return size <= Self.largestBatch || index == indices.first
    }
  }

  /// Makes some packs and the deltas to them, in a temporary directory beside the release.
  private func fill(
    _ decisions: inout [PackDecision], keys: ContentKeys, _ history: ReleaseHistory?, existing: ExistingRelease?, progress: ProgressHandler?
  ) async throws(PackError) -> [ReleaseBuildReport.Update] {
    // The name is that of the first pack, because another machine that shares the storage removes what has its own and is not locked for it.
    let staged = try StagedRelease("\(output)-\(decisions[0].id)", files: files, backend: backend)
    do throws(PackError) {
      let cached = try CachedFiles(self, staged)
      try await takeCached(&decisions, keys: keys, from: cached, into: staged)
      try await pack(&decisions, keys: keys, into: staged, cached: cached, progress: progress)
      let updates = try await makeUpdates(
        to: decisions, from: try editions(of: decisions, history), keys: keys, existing: existing, cached: cached, into: staged,
        progress: progress)
      try cached?.finish()
      return updates.map(\.update).filter { $0.missingFile == nil }
    } catch {
      throw staged.naming(error)
    }
  }
}
