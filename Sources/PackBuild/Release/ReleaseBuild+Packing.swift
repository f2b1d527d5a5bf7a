/// Packs that are made at the same time, each with as many threads.
///
/// One pack with few frames does not keep all cores busy. At most as many threads work as the caller allows, so memory does not grow with the number
/// of packs.
struct PackingGroup: Hashable {
  /// What decides how a pack is made.
  struct Item: Hashable {
    /// The index of its decision.
    let index: Int
    /// The time that one core needs for it. Only the proportion counts.
    let cost: UInt64
    /// The number of frames, about.
    let frames: UInt64
  }

  /// The indices of the decisions, in the order in which they are started: those that take long before others.
  let packs: [Int]
  let atOnce: Int
  /// The number of threads of each.
  let jobs: Int

  /// Returns the groups in the order in which they are made.
  static func groups(_ items: [Item], threads: Int) -> [PackingGroup] {
    let total = items.reduce(0 as UInt64) { $0.adding($1.cost) }
    // The last pack adds a quarter of the whole time at most. A pack with less than one frame for each thread cannot use all of them.
    let limit = total / UInt64(4 * threads)
    let small = items.filter { $0.cost <= limit || $0.frames <= threads }
    let large = Set(items).subtracting(small)
    let atOnce = max(1, min(threads, small.count))
    let order = small.sorted { ($1.cost, $0.index) < ($0.cost, $1.index) }.map(\.index)
    return [
      PackingGroup(packs: large.map(\.index).sorted(), atOnce: 1, jobs: threads),
      PackingGroup(packs: order, atOnce: atOnce, jobs: threads / atOnce),
    ].filter { !$0.packs.isEmpty }
  }
}

extension ReleaseBuild {
  /// Makes the packs that have to be packed.
  func pack(
    _ decisions: inout [PackDecision], keys: ContentKeys, into staged: StagedRelease, cached: CachedFiles?, progress: ProgressHandler?
  ) async throws(PackError) {
    let due = decisions.indices.filter { decisions[$0].result == nil }
    let items = due.map { index in
      let (size, job) = (decisions[index].census?.contentSize ?? 0, decisions[index].job)
      return PackingGroup.Item(
        index: index, cost: job.level.cost(size), frames: 1 + size / UInt64(job.frameSize ?? job.level.frameSize))
    }
    let meter = SumMeter(
      .packing, total: due.reduce(0 as UInt64) { $0 + (decisions[$1].census?.contentSize ?? 0) }, handler: progress)
    for group in PackingGroup.groups(items, threads: try WorkerPool.size(for: jobs)) {
      let packs = group.packs.map { index in
        var decision = decisions[index]
        decision.job.jobs = group.jobs
        decision.job.output = staged.path(of: Self.draft(decision.id))
        return decision
      }
      try await ConcurrentJobs.run(packs.count, atOnce: group.atOnce) { (number) throws(PackError) in
        try await make(packs[number], key: keys.key(of: packs[number].id).key, meter)
      } take: { (number, pack) throws(PackError) in
        let index = group.packs[number]
        var made = pack
        try staged.rename(Self.draft(made.id), to: made.file)
        if let recorded = decisions[index].edition?.recorded, recorded.sha256 != made.sha256 {
          differ(&decisions[index], &made, from: recorded)
        }
        decisions[index].result = made
        guard let cached, let identity = decisions[index].identity else { return }
        try cached.keep(made.file, made.sha256, as: try cached.name(of: identity, version: made.version))
      }
    }
    try cached?.flush()
  }

  /// Makes one pack, and if it has the content of a released pack but other bytes, makes it with a new version.
  private func make(_ decision: PackDecision, key: borrowing PackKey, _ meter: SumMeter) async throws(PackError) -> BuildRecord.Pack {
    guard let edition = decision.edition else { preconditionFailure("kept packs are not packed") }
    let version = edition.version
    let created = edition.recorded?.created ?? time.now
    let made = try await meter.measure { (progress) throws(PackError) in
      try await make(decision, version: version, created: created, key: key, progress: progress)
    }
    guard let recorded = edition.recorded, recorded.sha256 != made.sha256 else { return made }
    return try await make(decision, version: PackEdition.version(after: recorded), created: time.now, key: key, progress: nil)
  }

  private func make(
    _ decision: PackDecision, version: UInt64, created: ManifestTime, key: borrowing PackKey, progress: ProgressHandler?
  ) async throws(PackError) -> BuildRecord.Pack {
    guard let census = decision.census else { preconditionFailure("kept packs are not packed") }
    var job = decision.job
    job.packVersion = version
    // The census has searched the same bytes, as the content root shows.
    job.allowsSecrets = true
    let report = try await job.run(key: key, progress: progress)
    guard report.contentRoot == census.contentRoot else {
      throw PackError(
        .sourceChanged, of: decision.pack.root, "changed while it was being packed", hint: "build again when nothing writes to it")
    }
    let (size, sha256) = try FileDigest.run(job.output, in: nil, title: job.output, files: files, backend: backend)
    return BuildRecord.Pack(
      id: decision.id, version: version, file: Self.fileName(decision.id, sha256), size: size, sha256: sha256,
      contentRoot: census.contentRoot, keyID: "\(report.keyID)", settings: decision.settings, created: created)
  }
}
