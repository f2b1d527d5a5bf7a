/// Makes the packs of a release, or takes them from the earlier release or the cache.
struct PackMaker {
  let build: ReleaseBuild
  let staged: StagedRelease
  let cached: CachedFiles?
  let progress: ProgressHandler?

  /// Returns the packs, in ascending order of their ids.
  func packs(_ decisions: [PackDecision]) async throws(PackError) -> [MadePack] {
    var (made, due): ([MadePack], [DuePack]) = ([], [])
    for decision in decisions {
      switch decision {
      case .keep(let keyed, let earlier):
        if let problem = try adopt(earlier) { throw problem.advising(.developer(ReleaseBuild.wholeBuild)) }
        made.append(MadePack(keyed: keyed, record: earlier.record, origin: .kept))
      case .reuse(let source, let earlier):
        if let problem = try adopt(earlier) {
          due.append(DuePack(source: source, reason: build.fault(problem.code)))
        } else {
          made.append(MadePack(keyed: source.keyed, record: reused(earlier.record, source), origin: .reused(source.census)))
        }
      case .make(let pack): due.append(pack)
      }
    }
    return try await (made + make(due)).sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
  }

  /// Makes packs, or takes them from the cache.
  func make(_ due: [DuePack]) async throws(PackError) -> [MadePack] {
    guard let cached else { return try await pack(due) }
    let taken = try await take(due, from: cached)
    return try await (taken + pack(lacking(taken, in: due))).sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
  }

  private func lacking(_ made: [MadePack], in due: [DuePack]) -> [DuePack] {
    let ids = Set(made.map(\.id))
    return due.filter { !ids.contains($0.source.id) }
  }

  /// Returns a pack that was made of a source, and notes if it has other bytes than the released one with its content.
  private func made(_ source: ScannedPack, _ record: BuildRecord.Pack, _ origin: PackOrigin) -> MadePack {
    guard let recorded = source.edition.recorded, recorded.sha256 != record.sha256 else {
      return MadePack(keyed: source.keyed, record: record, origin: origin)
    }
    var (record, origin) = (record, origin)
    record.differsFrom = recorded.sha256
    if case .packed(let census, _) = origin { origin = .packed(census, reason: "becomes version \(record.version)") }
    let remark = ReleaseBuildReport.Remark.note(
      "pack '\(recorded.id)' has the content of version \(recorded.version), but this packer's zstd compresses it to other bytes: it becomes version \(record.version)",
      hint:
        "to save players the download, build with the zstd that made version \(recorded.version), or start from a \(build.output) that has it"
    )
    return MadePack(keyed: source.keyed, record: record, origin: origin, remarks: [remark])
  }

  // MARK: The earlier release

  /// Takes the file of the earlier release. Returns why it cannot be taken; nil if it is unchanged.
  private func adopt(_ earlier: EarlierPack) throws(PackError) -> PackError? {
    try Task.checkpoint()
    return try staged.take(earlier.record.file, earlier.record.sha256, earlier.record.size, from: earlier.release)
  }

  /// Returns the record of a reused pack, with the time at which its bytes were first made.
  private func reused(_ made: BuildRecord.Pack, _ source: ScannedPack) -> BuildRecord.Pack {
    var record = made
    if let recorded = source.edition.recorded, recorded.sha256 == made.sha256 {
      (record.created, record.differsFrom) = (recorded.created, nil)
    } else if build.time.isFixed {
      record.created = build.time.now
    }
    return record
  }

  // MARK: The cache

  /// Takes packs from the cache, as far as it has them.
  private func take(_ due: [DuePack], from cached: CachedFiles) async throws(PackError) -> [MadePack] {
    // The bytes that were released, wherever they were made.
    let released = due.compactMap { pack in pack.source.edition.recorded.map { (pack.source, CachedFile(sha256: $0.sha256)) } }
    var made = try await take(released, from: cached)
    var named: [(source: ScannedPack, name: String)] = []
    for source in lacking(made, in: due).map(\.source) {
      // This packer makes other bytes than the released ones, as it did when it made these.
      let edition = source.edition
      let version = try edition.recorded.map { (pack) throws(PackError) in try PackEdition.version(after: pack) } ?? edition.version
      named.append((source, try cached.name(of: source.identity(ofVersion: version), version: version)))
    }
    let references = try cached.references(named.map(\.name))
    made += try await take(named.compactMap { item in references[item.name].map { (item.source, $0) } }, from: cached)
    return made
  }

  private func take(_ wanted: [(source: ScannedPack, file: CachedFile)], from cached: CachedFiles) async throws(PackError) -> [MadePack] {
    let found = try cached.bring(wanted.map { ($0.file, $0.source.largestSize, "pack '\($0.source.id)'") })
    var made: [MadePack] = []
    for (source, file) in wanted where found.contains(file) {
      try Task.checkpoint()
      do throws(PackError) {
        made.append(try await take(file, from: cached, for: source))
      } catch {
        guard !error.endsBuild else { throw error }
        try? staged.remove(ReleaseBuild.draft(source.id))
        cached.refuse(file, of: "pack '\(source.id)'", error)
      }
      cached.drop(file.name)
    }
    return made
  }

  private func take(_ file: CachedFile, from cached: CachedFiles, for source: ScannedPack) async throws(PackError) -> MadePack {
    let (id, draft) = (source.id, ReleaseBuild.draft(source.id))
    // Others may still write to the file.
    try staged.adopt(
      file.name, in: try build.files.open(cached.directory, .directory), as: draft, sourcePath: cached.directory, isCopied: true)
    let (size, sha256) = try staged.digest(of: draft)
    // Other machines have the key of the pack, so only its content shows that it is made from these sources.
    let pack = try Pack(staged.path(of: draft), key: source.keyed.key.key, files: build.files, backend: build.backend)
    try pack.source.checkName(source.keyed.pack.id)
    let identity = try source.identity(ofVersion: pack.header.packVersion)
    guard "\(pack.keyID)" == identity.keyID, try PackCensus(pack).contentRoot == identity.contentRoot else {
      throw PackError(.wrongPack, of: "pack '\(id)'", "has a pack with another content or key")
    }
    let recorded = source.edition.recorded
    let record = BuildRecord.Pack(
      identity, version: pack.header.packVersion, size: size, sha256: sha256,
      created: recorded.flatMap { $0.sha256 == sha256 ? $0.created : nil } ?? build.time.now)
    let made = made(source, record, .cached(source.census))
    guard source.edition.objection(to: made.record, identity) == nil else {
      throw PackError(.wrongPack, of: "pack '\(id)'", "has version \(record.version), but must have version \(source.edition.version)")
    }
    try await pack.verify(jobs: build.jobs, contentLimit: source.census.contentSize)
    try staged.rename(draft, to: record.file)
    return made
  }

  // MARK: Packing

  /// Makes packs, small ones at the same time.
  private func pack(_ due: [DuePack]) async throws(PackError) -> [MadePack] {
    let items = due.enumerated().map { index, pack in
      let (size, job) = (pack.source.census.contentSize, pack.source.job)
      return PackingGroup.Item(
        index: index, cost: job.settings.level.cost(size),
        frames: 1 + size / UInt64(job.settings.level.frameSize))
    }
    let meter = SumMeter(.packing, total: due.reduce(0 as UInt64) { $0 + $1.source.census.contentSize }, handler: progress)
    var made: [MadePack] = []
    for group in PackingGroup.groups(items, threads: try WorkerPool.size(for: build.jobs)) {
      let packs = group.packs.map { (pack: due[$0], output: staged.path(of: ReleaseBuild.draft(due[$0].source.id))) }
      try await ConcurrentJobs.run(packs.count, atOnce: group.atOnce) { [time = build.time] (number) throws(PackError) in
        try await packs[number].pack.source.pack(to: packs[number].output, at: time, jobs: group.jobs, meter)
      } take: { (number, record) throws(PackError) in
        let (source, reason) = (packs[number].pack.source, packs[number].pack.reason)
        try staged.rename(ReleaseBuild.draft(source.id), to: record.file)
        made.append(self.made(source, record, .packed(source.census, reason: reason)))
        guard let cached else { return }
        try cached.keep(
          record.file, record.sha256, as: try cached.name(of: source.identity(ofVersion: record.version), version: record.version))
      }
    }
    try cached?.flush()
    return made
  }
}

extension ScannedPack {
  /// Makes the pack, and if it has the content of a released pack but other bytes, makes it with a new version.
  fileprivate func pack(to output: String, at time: BuildTime, jobs: Int, _ meter: SumMeter) async throws(PackError) -> BuildRecord.Pack {
    let made = try await meter.measure { (progress) throws(PackError) in
      try await pack(
        to: output, version: edition.version, created: edition.recorded?.created ?? time.now, jobs: jobs, progress: progress)
    }
    guard let recorded = edition.recorded, recorded.sha256 != made.sha256 else { return made }
    return try await pack(to: output, version: PackEdition.version(after: recorded), created: time.now, jobs: jobs, progress: nil)
  }

  private func pack(
    to output: String, version: UInt64, created: ManifestTime, jobs: Int, progress: ProgressHandler?
  ) async throws(PackError) -> BuildRecord.Pack {
    var job = job
    (job.output, job.packVersion, job.jobs) = (output, version, jobs)
    // The census has searched the same bytes, as the content root shows.
    job.settings.allowsSecrets = true
    let report = try await job.run(key: keyed.key.key, progress: progress)
    guard report.contentRoot == identity.contentRoot else {
      throw PackError(
        .sourceChanged, of: keyed.pack.root, "changed while it was being packed", hint: "build again when nothing writes to it")
    }
    let (size, sha256) = try FileDigest.run(output, in: nil, title: output, files: job.files, backend: job.backend)
    return BuildRecord.Pack(
      try identity(ofVersion: version), version: version, size: size, sha256: sha256, created: created)
  }
}

extension BuildRecord.Pack {
  fileprivate init(_ identity: PackIdentity, version: UInt64, size: UInt64, sha256: [UInt8], created: ManifestTime) {
    self.init(
      id: identity.id, version: version, file: ReleaseBuild.fileName(identity.id, sha256), size: size, sha256: sha256,
      contentRoot: identity.contentRoot, keyID: identity.keyID, settings: identity.settings, created: created)
  }
}
