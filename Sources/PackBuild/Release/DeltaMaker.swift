/// The deltas to one pack.
private struct DeltaWork {
  let pack: MadePack
  let editions: [ReleaseHistory.Edition]
  /// The other pack over which it is published.
  let base: BuildRecord.Pack?

  private func identity(_ base: UpdateBase, middle: ReleaseLock.Pack? = nil) -> DeltaIdentity {
    // A device rewrites a pack that stays packed, because the other pack may be removed. So such a delta need not be fast to read.
    let mode = base.packName == nil ? pack.keyed.pack.install : .unpacked
    return DeltaIdentity(base: base, made: pack.record, middle: middle, mode: mode)
  }

  private func wanted(_ identity: DeltaIdentity, restSize: UInt64? = nil, obstacle: String? = nil) -> WantedDelta {
    WantedDelta(identity: identity, key: pack.keyed.key, restSize: restSize, obstacle: obstacle)
  }

  /// All deltas that may be made: from the editions, and from the other pack.
  var identities: [DeltaIdentity] {
    let deltas = editions.prefix(ReleaseBuild.mostEditions).enumerated().map { number, edition in
      identity(.edition(edition), middle: ReleaseBuild.middle(of: number).map { editions[$0].pack })
    }
    return deltas + (base.map { [identity(.pack($0))] } ?? [])
  }

  /// Those that lead to the pack itself.
  var direct: [WantedDelta] { identities.filter { $0.middle == nil }.map { wanted($0) } }

  /// Returns the deltas from older editions to newer ones, from which one of `direct` leads on.
  ///
  /// The edition in between is eight editions newer: the delta to it was made when it was released, and is reused.
  func later(_ direct: [UpdateOutcome]) -> [WantedDelta] {
    editions.enumerated().dropFirst(ReleaseBuild.mostDeltas).map { number, edition in
      let own = identity(.edition(edition))
      guard let middle = ReleaseBuild.middle(of: number) else { return wanted(own, obstacle: ReleaseBuild.tooOld) }
      guard let rest = direct[middle].delta else {
        return wanted(own, obstacle: "the edition that would lead on to the pack has no delta")
      }
      let pack = editions[middle].pack
      // A device may have only the newer key.
      return wanted(
        identity(.edition(edition), middle: pack), restSize: rest.size,
        obstacle: pack.keyID == self.pack.record.keyID ? nil : "the edition that would lead on to the pack has another key")
    }
  }
}

/// A delta that has to be made.
private struct DueDelta: Sendable {
  let wanted: WantedDelta
  let basePath: String
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
      // The deltas that the earlier build does not have, if their names are known before any is made.
      try DeltaShelf(files, for: works.flatMap(\.identities).filter { existing?.record.deltas.contains(where: $0.isThat) != true })
    }
    var outcomes: [UpdateOutcome] = []
    var rest = works[...]
    while !rest.isEmpty {
      try Task.checkpoint()
      // Packs of editions that a cache has are on the disk only for some packs at once.
      let batch = rest.batch(upTo: Self.largestBatch) { $0.pack.record.size }
      rest = rest.dropFirst(batch.count)
      outcomes += try await updates(Array(batch), shelf)
      shelf?.dropBases()
    }
    return outcomes
  }

  private func updates(_ works: [DeltaWork], _ shelf: DeltaShelf?) async throws(PackError) -> [UpdateOutcome] {
    let direct = try await outcomes(works.map(\.direct), shelf)
    // Older editions get a delta to a newer one if that has one to the pack.
    let later = try await outcomes(zip(works, direct).map { $0.later($1) }, shelf)
    return zip(direct, later).flatMap { direct, later in
      // The delta from another pack comes last.
      later.isEmpty ? direct : direct.prefix(ReleaseBuild.mostDeltas) + later + direct.dropFirst(ReleaseBuild.mostDeltas)
    }
  }

  /// What is known of a delta.
  private enum Step {
    case done(UpdateOutcome)
    case due(DueDelta)
  }

  /// Takes the deltas that are there, and makes the others.
  private func outcomes(_ wanted: [[WantedDelta]], _ shelf: DeltaShelf?) async throws(PackError) -> [[UpdateOutcome]] {
    var steps: [[Step]] = []
    for list in wanted {
      var own: [Step] = []
      for delta in list {
        try Task.checkpoint()
        own.append(try step(delta, shelf))
      }
      steps.append(own)
    }
    let due = steps.joined().compactMap { step in if case .due(let delta) = step { delta } else { nil } }
    var made = try await make(due)[...]
    return steps.map { own in
      own.map { step in if case .done(let outcome) = step { outcome } else { made.removeFirst() } }
    }
  }

  /// Takes a delta that is there, or finds out what to make it from.
  private func step(_ wanted: WantedDelta, _ shelf: DeltaShelf?) throws(PackError) -> Step {
    if let reason = wanted.obstacle { return .done(wanted.outcome(.omitted, reason: reason)) }
    if let known = try reuse(wanted) { return .done(known) }
    let identity = wanted.identity
    if let shelf, let known = try take(wanted, from: shelf) { return .done(known) }
    let (made, output) = (staged.path(of: identity.made.file), staged.path(of: identity.draft))
    switch identity.base {
    case .pack(let other):
      return .due(DueDelta(wanted: wanted, basePath: staged.path(of: other.file), targetPath: made, output: output))
    case .edition(let edition):
      guard let base = try path(of: edition.pack, shelf) else { return lacking(edition.pack, for: wanted) }
      guard let middle = identity.middle else { return .due(DueDelta(wanted: wanted, basePath: base, targetPath: made, output: output)) }
      guard let target = try path(of: middle, shelf) else { return lacking(middle, for: wanted) }
      return .due(DueDelta(wanted: wanted, basePath: base, targetPath: target, output: output))
    }
  }

  /// Returns the file of an edition, if it is in the earlier build, in the folder of released packs or in the cache.
  private func path(of pack: ReleaseLock.Pack, _ shelf: DeltaShelf?) throws(PackError) -> String? {
    if let path = build.basePath(of: pack, existing) { return path }
    return try shelf?.path(of: pack)
  }

  private func lacking(_ pack: ReleaseLock.Pack, for wanted: WantedDelta) -> Step {
    .done(wanted.outcome(.omitted, reason: build.absence(of: pack), missingFile: ReleaseBuild.fileName(pack.id, pack.sha256)))
  }

  private func isWorth(_ size: UInt64, _ wanted: WantedDelta) -> Bool {
    build.isWorth(wanted.total(size), insteadOf: wanted.identity.made.size)
  }

  /// Takes a delta from the earlier build, or its record that the delta was not worth it. Returns nil if there is none.
  private func reuse(_ wanted: WantedDelta) throws(PackError) -> UpdateOutcome? {
    guard let existing, let known = existing.record.deltas.first(where: wanted.identity.isThat) else { return nil }
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
        [build, progress] (number) async throws(PackError) -> PackError? in
        let delta = due[group.packs[number]]
        guard group.atOnce > 1 else { return try await delta.make(build, jobs: group.jobs, progress: progress) }
        return try await meter.measure { (progress) async throws(PackError) in
          try await delta.make(build, jobs: group.jobs, progress: progress)
        }
      } take: { (number, obstacle) throws(PackError) in
        let wanted = due[group.packs[number]].wanted
        if let obstacle {
          outcomes[group.packs[number]] = wanted.outcome(.omitted, reason: staged.naming(obstacle).message)
          return
        }
        let digest = try staged.digest(of: wanted.identity.draft)
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
  /// Makes the delta. Returns why there is none if it cannot be made, or nil.
  fileprivate func make(_ build: ReleaseBuild, jobs: Int, progress: ProgressHandler?) async throws(PackError) -> PackError? {
    let identity = wanted.identity
    let base: Pack
    switch identity.base {
    case .pack: base = try open(basePath, build)
    case .edition(let edition):
      do throws(PackError) {
        base = try open(basePath, as: edition.pack, build)
      } catch {
        return PackError(error.code, "\(basePath) cannot be the base: \(error.message)")
      }
    }
    let target: Pack
    do throws(PackError) {
      target = try open(targetPath, as: identity.middle, build)
    } catch {
      guard identity.middle != nil else { throw error }
      return PackError(error.code, "\(targetPath) cannot be the edition that leads on: \(error.message)")
    }
    var job = DeltaJob(from: base, to: target, output: output)
    (job.jobs, job.files, job.backend, job.durability) = (jobs, build.files, build.backend, .leftToDirectory)
    job.mode = identity.mode
    do throws(PackError) {
      _ = try await job.run(key: wanted.key.key, progress: progress)
    } catch {
      guard Self.faultsOfBases.contains(error.code) else { throw error }
      return error
    }
    return nil
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
