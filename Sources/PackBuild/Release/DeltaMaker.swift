/// The deltas to one pack.
private struct DeltaWork {
  let pack: MadePack
  let editions: [ReleaseHistory.Edition]
  /// The other pack from which there is a delta, too.
  let base: BuildRecord.Pack?

  /// All deltas that the pack could have: from its editions, and from the other pack.
  var wanted: [WantedDelta] {
    // They would show what only the key of the version is to show.
    if pack.keyed.pack.hasVersionKeys { return [] }
    let deltas = editions.enumerated().map { number, edition in
      delta(from: .edition(edition), obstacle: number < ReleaseBuild.mostDeltas ? nil : ReleaseBuild.tooOld)
    }
    return deltas + (base.map { [delta(from: .pack($0))] } ?? [])
  }

  private func delta(from base: UpdateBase, obstacle: String? = nil) -> WantedDelta {
    WantedDelta(
      identity: DeltaIdentity(base: base, made: pack.record), key: pack.keyed.key, isPacked: pack.keyed.pack.install == .packed,
      obstacle: obstacle)
  }
}

/// A delta that has to be made.
private struct DueDelta: Sendable {
  let wanted: WantedDelta
  let basePath: String
  /// The path of the pack that it makes.
  let targetPath: String
  /// The path of the draft.
  let output: String
}

/// Makes the deltas to packs of a release, or takes them from the earlier release or the cache.
struct DeltaMaker {
  let build: ReleaseBuild
  let existing: ExistingRelease?
  let staged: StagedRelease
  let cached: CachedFiles?
  let progress: ProgressHandler?
  /// The deltas of the earlier build, by the ids of their packs.
  private let known: [String: [BuildRecord.Delta]]

  init(build: ReleaseBuild, existing: ExistingRelease?, staged: StagedRelease, cached: CachedFiles?, progress: ProgressHandler?) {
    (self.build, self.existing, self.staged, self.cached, self.progress) = (build, existing, staged, cached, progress)
    known = Dictionary(grouping: existing?.record.deltas ?? [], by: \.id)
  }

  /// The sum of the sizes in bytes of the packs whose deltas are made at the same time, at most.
  private static let largestBatch: UInt64 = 1 << 30

  /// Makes the deltas to packs.
  ///
  /// A base that is missing or cannot be read is no error: the update says why there is no delta.
  func updates(to packs: [MadePack], from editions: [String: [ReleaseHistory.Edition]]) async throws(PackError) -> [UpdateOutcome] {
    let named = Set(packs.compactMap(\.keyed.pack.base))
    let bases = Dictionary(packs.filter { named.contains($0.id) }.map { ($0.id, $0.record) }) { first, _ in first }
    let works = packs.map { pack in
      DeltaWork(pack: pack, editions: editions[pack.id] ?? [], base: pack.keyed.pack.base.flatMap { bases[$0] })
    }
    let shelf = try cached.map { (files) throws(PackError) in
      // The deltas that the earlier build does not have.
      let identities = works.flatMap(\.wanted).filter { $0.obstacle == nil }.map(\.identity)
      return try DeltaShelf(files, for: identities.filter { known[$0.made.id]?.contains(where: $0.isThat) != true })
    }
    var outcomes: [UpdateOutcome] = []
    var rest = works[...]
    while !rest.isEmpty {
      try Task.checkpoint()
      // Packs of editions that a cache has are on the disk only for some packs at once.
      let batch = rest.batch(upTo: Self.largestBatch) { $0.pack.record.size }
      rest = rest.dropFirst(batch.count)
      outcomes += try await self.outcomes(batch.flatMap(\.wanted), shelf)
      shelf?.dropBases()
    }
    return outcomes
  }

  /// What is known of a delta.
  private enum Step {
    case done(UpdateOutcome)
    case due(DueDelta)
  }

  /// Takes the deltas that are there, and makes the others.
  private func outcomes(_ wanted: [WantedDelta], _ shelf: DeltaShelf?) async throws(PackError) -> [UpdateOutcome] {
    var steps: [Step] = []
    for delta in wanted {
      try Task.checkpoint()
      steps.append(try step(delta, shelf))
    }
    let due = steps.compactMap { step in if case .due(let delta) = step { delta } else { nil } }
    var made = try await make(due)[...]
    return steps.map { step in if case .done(let outcome) = step { outcome } else { made.removeFirst() } }
  }

  /// Takes a delta that is there, or finds out what to make it from.
  private func step(_ wanted: WantedDelta, _ shelf: DeltaShelf?) throws(PackError) -> Step {
    if let reason = wanted.obstacle { return .done(wanted.outcome(.omitted, reason: reason)) }
    if let known = try reuse(wanted) { return .done(known) }
    let identity = wanted.identity
    if let shelf, let known = try take(wanted, from: shelf) { return .done(known) }
    let basePath: String
    switch identity.base {
    case .pack(let other): basePath = staged.path(of: other.file)
    case .edition(let edition):
      guard let path = try path(of: edition.pack, shelf) else { return .done(lacking(edition.pack, for: wanted)) }
      basePath = path
    }
    return .due(
      DueDelta(
        wanted: wanted, basePath: basePath, targetPath: staged.path(of: identity.made.file), output: staged.path(of: identity.draft)))
  }

  /// Returns the file of an edition, if it is in the earlier build, in the folder of released packs or in the cache.
  private func path(of pack: ReleaseLock.Pack, _ shelf: DeltaShelf?) throws(PackError) -> String? {
    if let path = build.basePath(of: pack, existing) { return path }
    return try shelf?.path(of: pack)
  }

  private func lacking(_ pack: ReleaseLock.Pack, for wanted: WantedDelta) -> UpdateOutcome {
    wanted.outcome(.omitted, reason: build.absence(of: pack), missingFile: ReleaseBuild.fileName(pack.id, pack.sha256))
  }

  private func isWorth(_ size: UInt64, _ wanted: WantedDelta) -> Bool {
    build.isWorth(size, insteadOf: wanted.identity.made.size)
  }

  /// Whether a device would not install a pack that it makes with so many bytes.
  static func isTooLarge(_ size: UInt64, for wanted: WantedDelta) -> Bool {
    size > PackRewriter.largestSize(for: wanted.identity.made.size)
  }

  /// Takes a delta from the earlier build, or its record that the delta was not worth it. Returns nil if there is none.
  private func reuse(_ wanted: WantedDelta) throws(PackError) -> UpdateOutcome? {
    guard let existing, let known = known[wanted.identity.made.id]?.first(where: wanted.identity.isThat) else { return nil }
    if let size = known.madeSize {
      return wanted.isPacked && Self.isTooLarge(size, for: wanted) ? wanted.tooLarge(known, size) : nil
    }
    guard isWorth(known.size, wanted) else { return wanted.unworthy(known, build.worth) }
    guard let file = known.file, try staged.take(file, known.sha256, known.size, from: existing) == nil else { return nil }
    return wanted.outcome(.reused, known)
  }

  /// Takes a delta from the cache. Returns nil if there is none, or not the right one.
  private func take(_ wanted: WantedDelta, from shelf: DeltaShelf) throws(PackError) -> UpdateOutcome? {
    let (identity, cached) = (wanted.identity, shelf.files)
    guard let file = try shelf.file(of: identity) else { return nil }
    defer { cached.drop(file.name) }
    do throws(PackError) {
      try identity.check(cached.path(of: file.name), key: wanted.key.key, files: build.files, backend: build.backend)
      let directory = try build.files.open(cached.directory, .directory)
      try staged.adopt(file.name, in: directory, as: identity.draft, sourcePath: cached.directory, isCopied: true)
      return try finish(wanted, .cached, try staged.digest(of: identity.draft))
    } catch {
      guard !error.endsBuild else { throw error }
      try? staged.remove(identity.draft)
      cached.refuse(file, of: identity.title, error)
      return nil
    }
  }

  // MARK: Making

  /// Makes deltas, small ones at the same time. Returns their outcomes in the same order.
  private func make(_ due: [DueDelta]) async throws(PackError) -> [UpdateOutcome] {
    let items = due.enumerated().map { number, delta in
      let size = delta.wanted.identity.made.size
      return PackingGroup.Item(index: number, cost: size, frames: 1 + size / UInt64(Limits.frameSize))
    }
    let meter = SumMeter(.packing, handler: progress)
    var outcomes: [Int: UpdateOutcome] = [:]
    for group in PackingGroup.groups(items, threads: try WorkerPool.size(for: build.jobs)) {
      try await ConcurrentJobs.run(group.packs.count, atOnce: group.atOnce) {
        [build, progress] (number) async throws(PackError) -> DueDelta.Obstacle? in
        let delta = due[group.packs[number]]
        guard group.atOnce > 1 else { return try await delta.make(build, jobs: group.jobs, progress: progress) }
        return try await meter.measure { (progress) async throws(PackError) in
          try await delta.make(build, jobs: group.jobs, progress: progress)
        }
      } take: { (number, obstacle) throws(PackError) in
        let wanted = due[group.packs[number]].wanted
        if case .fault(let error) = obstacle {
          outcomes[group.packs[number]] = wanted.outcome(.omitted, reason: staged.naming(error).message)
          return
        }
        let digest = try staged.digest(of: wanted.identity.draft)
        if case .size(let size) = obstacle {
          try staged.remove(wanted.identity.draft)
          outcomes[group.packs[number]] = wanted.tooLarge(wanted.identity.record(nil, digest.size, digest.sha256), size)
          return
        }
        if let cached { try cached.keep(wanted.identity.draft, digest.sha256, as: try cached.name(wanted.identity.members)) }
        outcomes[group.packs[number]] = try finish(wanted, .made, digest)
      }
    }
    return due.indices.compactMap { outcomes[$0] }
  }

  /// Publishes a delta that is worth it, and removes another one.
  private func finish(
    _ wanted: WantedDelta, _ action: ReleaseBuildReport.Update.Action, _ digest: (size: UInt64, sha256: [UInt8])
  ) throws(PackError) -> UpdateOutcome {
    let identity = wanted.identity
    guard isWorth(digest.size, wanted) else {
      try staged.remove(identity.draft)
      return wanted.unworthy(identity.record(nil, digest.size, digest.sha256), build.worth)
    }
    let file = ReleaseBuild.fileName(identity.made.id, digest.sha256)
    try staged.rename(identity.draft, to: file)
    return wanted.outcome(action, identity.record(file, digest.size, digest.sha256))
  }
}

extension DueDelta {
  /// Why there is no delta.
  fileprivate enum Obstacle {
    /// It cannot be made.
    case fault(PackError)
    /// The file that a device would make has this many bytes.
    case size(UInt64)
  }

  /// Makes the delta.
  fileprivate func make(_ build: ReleaseBuild, jobs: Int, progress: ProgressHandler?) async throws(PackError) -> Obstacle? {
    let base: Pack
    switch wanted.identity.base {
    case .pack: base = try open(basePath, build)
    case .edition(let edition):
      do throws(PackError) {
        base = try open(basePath, as: edition.pack, build)
      } catch {
        return .fault(PackError(error.code, "\(basePath) cannot be the base: \(error.message)"))
      }
    }
    var job = DeltaJob(from: base, to: try open(targetPath, build), output: output)
    (job.jobs, job.files, job.backend, job.durability) = (jobs, build.files, build.backend, .leftToDirectory)
    do throws(PackError) {
      _ = try await job.run(key: wanted.key.key, progress: progress)
      return wanted.isPacked ? try await size(over: base, build, jobs: jobs).map(Obstacle.size) : nil
    } catch {
      try? build.files.remove(output, .file, in: nil)
      guard Self.faultsOfBases.contains(error.code) else { throw error }
      return .fault(error)
    }
  }

  /// Returns the size of the pack that a device would make, if it is too large, so that a device would not install it.
  private func size(over base: Pack, _ build: ReleaseBuild, jobs: Int) async throws(PackError) -> UInt64? {
    let delta = try DeltaPack.open(output, key: wanted.key.key, files: build.files, backend: build.backend)
    let application = try DeltaApplication(delta, over: [base])
    let size = try await PackRewriter(application).packSize(application, jobs: jobs)
    return DeltaMaker.isTooLarge(size, for: wanted) ? size : nil
  }

  /// The errors of a base, or of a pair of trees that has no delta. The full pack remains.
  private static let faultsOfBases: Set<PackError.Code> = [
    .unsuitableSource, .authenticationFailed, .damagedHeader, .damagedPayload, .damagedArchive, .digestMismatch, .truncated, .limitExceeded,
    .cannotRead, .missingInput,
  ]

  /// Opens a pack of the release, or the pack of an edition. The content root of the latter proves that it has what players have.
  private func open(_ path: String, as edition: ReleaseLock.Pack? = nil, _ build: ReleaseBuild) throws(PackError) -> Pack {
    let pack = try Pack(path, key: wanted.key.key, files: build.files, backend: build.backend)
    if let edition, pack.contentRoot != edition.contentRoot {
      throw PackError(.wrongPack, "pack has another content than version \(edition.version), which was released")
    }
    return pack
  }
}
