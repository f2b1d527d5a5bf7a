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
  ///   - packs: the packs, in the byte order of their ids. The directories of others need not exist.
  ///   - progress: called with the progress of reading and packing, in bytes of content.
  /// - Returns: a report without a release, whose output is the cache.
  /// - Throws: ``PackError``, also if the cache cannot be read or written and is required.
  package func fill(
    _ cache: PackCache, with packs: [KeyedPack], progress: ProgressHandler? = nil
  ) async throws(PackError) -> ReleaseBuildReport {
    try checkPlace(packs.map(\.pack))
    var lock = try ReleaseLock.readIfPresent(lockPath, requiredBy: configuration, files: files)
    let existing = try ExistingRelease.look(at: output, files: files)
    var remarks = try raise(&lock, to: existing)

    var build = self
    (build.wanted, build.cache) = ([], cache)
    let decisions = try await build.decide(packs, lock: lock, existing: existing, progress: progress)
    let history = ReleaseHistory(lock, configuration, files: files)
    var (due, made, updates): ([DuePack], [MadePack], [ReleaseBuildReport.Update]) = ([], [], [])
    for decision in decisions {
      switch decision {
      case .keep(let pack, let earlier): made.append(MadePack(keyed: pack, record: earlier.record, origin: .kept))
      case .reuse(let source, let earlier):
        made.append(MadePack(keyed: source.keyed, record: earlier.record, origin: .reused(source.census)))
      case .make(let pack): due.append(pack)
      }
    }
    while !due.isEmpty {
      let batch = due.batch(upTo: Self.largestBatch) { $0.source.census.contentSize }
      due.removeFirst(batch.count)
      let (packs, deltas) = try await build.fill(with: Array(batch), history, existing: existing, progress: progress)
      made += packs
      updates += deltas
    }
    made.sort { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
    remarks += made.flatMap(\.remarks) + cache.takeRemarks()
    return ReleaseBuildReport(
      output: cache.title, items: made.map { $0.origin.item($0.id, $0.record.version) }, updates: updates, downloads: [], change: nil,
      room: [], release: nil, remarks: remarks)
  }

  /// The sum of the sizes in bytes of the contents that are on the disk as packs at once, at most, if that is more than one pack.
  private static let largestBatch: UInt64 = 1 << 30

  /// Makes some packs and the deltas to them, in a temporary directory beside the release.
  private func fill(
    with due: [DuePack], _ history: ReleaseHistory?, existing: ExistingRelease?, progress: ProgressHandler?
  ) async throws(PackError) -> ([MadePack], [ReleaseBuildReport.Update]) {
    // The name is that of the first pack, because another machine that shares the storage removes what has its own and is not locked for it.
    let staged = try StagedRelease("\(output)-\(due[0].source.id)", files: files, backend: backend)
    do throws(PackError) {
      let cached = try CachedFiles(self, staged)
      let made = try await PackMaker(build: self, staged: staged, cached: cached, progress: progress).make(due)
      let editions = try history?.editions(besides: made.map { ($0.id, $0.record.sha256) }) ?? [:]
      let deltas = DeltaMaker(build: self, existing: existing, staged: staged, cached: cached, progress: progress)
      let updates = try await deltas.updates(to: made, from: editions)
      try cached?.finish()
      return (made, updates.map(\.update).filter { $0.missingFile == nil })
    } catch {
      throw staged.naming(error)
    }
  }
}
