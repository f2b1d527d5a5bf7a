extension ReleaseBuild {
  /// What to do for one pack: reuse it, or make it anew.
  struct PackDecision: Sendable {
    let pack: PackerConfiguration.Pack
    var job: PackJob
    let settings: String
    /// The id of the key that it is made with.
    let keyID: String
    /// The census of its source. Nil if the source is not read.
    let census: SourceCensus?
    let edition: PackEdition?
    /// The pack of the earlier build that is reused. Nil if it has to be packed.
    var made: BuildRecord.Pack?
    /// Why it has to be packed.
    var reason: String?
    /// The pack that was made or reused.
    var result: BuildRecord.Pack?
    var remark: ReleaseBuildReport.Remark?
    /// Whether it was taken from the cache.
    var isCached = false

    var id: String { pack.id.text }
    var isKept: Bool { census == nil }
  }

  // MARK: Deciding

  /// Returns the ids of the keys that packs are made with, by pack id.
  func keyIDs(
    of packs: [PackerConfiguration.Pack], key: borrowing PackKey, _ lock: ReleaseLock, _ existing: ExistingRelease?
  ) throws(PackError) -> [String: String] {
    var ids: [String: String] = [:]
    if assumesKeys {
      for pack in lock.released?.packs ?? [] { ids[pack.id] = pack.keyID }
      for pack in existing?.record.packs ?? [] { ids[pack.id] = pack.keyID }
    }
    for pack in packs where ids[pack.id.text] == nil {
      let id =
        configuration.perPackKeys
        ? try key.packKey(forPackID: PackID.bytes(for: pack.id, backend: backend), backend: backend).id : key.id
      ids[pack.id.text] = "\(id)"
    }
    return ids
  }

  /// Reads the sources of the wanted packs, and decides for each pack whether it has to be packed.
  func decide(
    _ packs: [PackerConfiguration.Pack], keyIDs: [String: String], lock: ReleaseLock, existing: ExistingRelease?,
    progress: ProgressHandler?
  ) async throws(PackError) -> [PackDecision] {
    let recorded = Dictionary(uniqueKeysWithValues: (lock.released?.packs ?? []).map { ($0.id, $0) })
    let made = Dictionary((existing?.record.packs ?? []).map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    let meter = SumMeter(.hashing, handler: progress)
    var decisions: [PackDecision] = []
    var failures: [PackError] = []
    for pack in packs {
      try checkpoint()
      do throws(PackError) {
        let id = pack.id.text
        guard let keyID = keyIDs[id] else { preconditionFailure("every pack has a key") }
        if !wanted.isEmpty, !wanted.contains(id) {
          decisions.append(try kept(pack, made[id], keyID: keyID, after: recorded[id]))
          continue
        }
        let job = try job(for: pack)
        let census = try await meter.measure { (progress) throws(PackError) in
          try await SourceCensus.run(job, progress: progress)
        }
        let settings = Self.settings(of: job)
        let edition = try PackEdition(after: recorded[id], contentRoot: census.contentRoot, keyID: keyID, settings: settings)
        let objection = made[id].map {
          edition.objection(to: $0, contentRoot: census.contentRoot, keyID: keyID, settings: settings)
        }
        let absence =
          recorded[id].map { last in
            edition.recorded != nil
              ? "not in \(output)"
              : last.contentRoot != census.contentRoot
                ? "changed since the last release"
                : last.keyID != keyID ? "another key than the last release" : "other settings than the last release"
          } ?? "new"
        decisions.append(
          PackDecision(
            pack: pack, job: job, settings: settings, keyID: keyID, census: census, edition: edition,
            made: objection == .some(nil) ? made[id] : nil,
            reason: objection ?? absence))
      } catch {
        guard [.unsuitableSource, .cannotRead, .sourceChanged, .missingInput].contains(error.code) else { throw error }
        failures.append(error)
      }
    }
    try Self.check(failures)
    return decisions
  }

  /// Throws the problems of all sources as one error.
  private static func check(_ failures: [PackError]) throws(PackError) {
    guard let first = failures.first else { return }
    guard failures.count > 1 else { throw first }
    let codes = Set(failures.map(\.code))
    throw PackError(
      codes.count == 1 ? first.code : .unsuitableSource, "the sources of \(failures.count) packs cannot be packed",
      details: failures.flatMap { $0.details.isEmpty ? [$0.message] : $0.details }, advice: .all(of: failures))
  }

  private func kept(
    _ pack: PackerConfiguration.Pack, _ made: BuildRecord.Pack?, keyID: String, after recorded: ReleaseLock.Pack?
  ) throws(PackError) -> PackDecision {
    let id = pack.id.text
    let hint = Self.wholeBuild
    guard let made else {
      throw PackError(.missingInput, of: output, "has no pack '\(id)', and it is not among the packs to build", hint: hint)
    }
    guard made.keyID == keyID else {
      throw PackError(
        .wrongKey, "pack '\(id)' in \(output) was made with key \(made.keyID), but would now be made with key \(keyID)", hint: hint)
    }
    if let problem = PackEdition.problem(ofKept: made, after: recorded) {
      throw PackError(.releaseConflict, "pack '\(id)' in \(output) \(problem)", hint: hint)
    }
    return PackDecision(
      pack: pack, job: try job(for: pack), settings: made.settings, keyID: keyID, census: nil, edition: nil, made: made, reason: nil)
  }

  func job(for pack: PackerConfiguration.Pack) throws(PackError) -> PackJob {
    guard let level = PackLevel(pack.level) else {
      throw PackError(.usage, "the level of pack '\(pack.id)' is '\(pack.level)', which is not a level")
    }
    var job = PackJob(source: pack.root, output: "", name: pack.id)
    job.words = .keys(file: PathParts(configuration.path)?.name ?? configuration.path)
    job.level = level
    job.frameSize = pack.frameSize.map { Int(clamping: $0) }
    job.excludes = pack.excludes
    job.followsSymlinks = pack.followsSymlinks
    job.usesPackKey = configuration.perPackKeys
    job.allowsSecrets = pack.allowsSecrets
    job.allowedSecrets = pack.allowedSecrets
    job.allowsUnportablePaths = pack.allowsUnportablePaths
    job.jobs = jobs
    job.files = files
    job.backend = backend
    job.durability = .leftToDirectory
    return job
  }

  /// Returns the settings that the bytes of a pack depend on besides content, name and key, as one line of text.
  static func settings(of job: PackJob) -> String {
    let level: String =
      switch job.level {
      case .fast: "fast"
      case .balanced: "balanced"
      case .smallest: "smallest"
      case .number(let number): "\(number)"
      }
    // Without a frame size in the configuration, frames are joined. The text is then the same as before that, and unchanged packs stay as they are.
    let isFixed = job.frameSize == job.level.frameSize && job.level.joinsFrames
    let frame = "\(isFixed ? "fixed-frame" : "frame")=\(job.frameSize ?? job.level.frameSize)"
    return "format=\(PackHeader.formatVersion) level=\(level) \(frame) segment=\(job.segmentSize)"
  }

  // MARK: Making

  /// The hint for any problem with an earlier build. A build of one pack would fail at the next damaged one.
  private static let wholeBuild = "build all packs: packer build"

  /// Reuses the file of the earlier build.
  ///
  /// - Returns: why the file cannot be reused and the pack has to be packed. Nil if the file is unchanged.
  func reuse(_ decision: inout PackDecision, from existing: ExistingRelease?, into staged: StagedRelease) throws(PackError) -> String? {
    guard let made = decision.made, let existing else { return nil }
    try checkpoint()
    var problem: PackError?
    do throws(PackError) {
      try staged.adopt(made.file, in: existing.directory, as: made.file, sourcePath: existing.path)
      let (size, sha256) = try staged.digest(of: made.file)
      if size == made.size, sha256 == made.sha256 {
        var result = made
        result.created = created(decision, made)
        if decision.edition?.recorded?.sha256 == made.sha256 { result.differsFrom = nil }
        decision.result = result
        return nil
      }
      try staged.remove(made.file)
      problem = PackError(.digestMismatch, of: "\(existing.path)/\(made.file)", "is not the file that was built")
    } catch {
      guard error.code == .missingInput || error.code == .cannotRead else { throw error }
      // Something other than a regular file may have been added.
      try? staged.remove(made.file)
      problem = error
    }
    if decision.isKept, let problem { throw problem.advising(.developer(Self.wholeBuild)) }
    decision.made = nil
    return fault(problem?.code)
  }

  /// Returns what is wrong with the file of an earlier build, in words that depend on the error code.
  private func fault(_ code: PackError.Code?) -> String {
    switch code {
    case .missingInput: "its file in \(output) is missing"
    case .cannotRead: "its file in \(output) cannot be read"
    default: "its file in \(output) was changed"
    }
  }

  /// Returns the time at which the bytes of a reused pack were first made.
  private func created(_ decision: PackDecision, _ made: BuildRecord.Pack) -> ManifestTime {
    if let recorded = decision.edition?.recorded, recorded.sha256 == made.sha256 { return recorded.created }
    return time.isFixed && !decision.isKept ? time.now : made.created
  }

  /// Notes that a pack has other bytes than the released one with its content.
  func differ(_ decision: inout PackDecision, _ made: inout BuildRecord.Pack, from recorded: ReleaseLock.Pack) {
    made.differsFrom = recorded.sha256
    decision.reason = "becomes version \(made.version)"
    decision.remark = .note(
      "pack '\(recorded.id)' has the content of version \(recorded.version), but this packer's zstd compresses it to other bytes: it becomes version \(made.version)",
      hint: "to save players the download, build with the zstd that made version \(recorded.version), or start from a \(output) that has it"
    )
  }

  /// Returns the name of a published file. It depends on every byte of the file, so that caches never serve an earlier version.
  package static func fileName(_ id: String, _ sha256: [UInt8]) -> String {
    ManifestPack.publishedName(id, sha256)
  }

  /// Opens a pack as a client does, and makes its manifest entry.
  func item(for decision: PackDecision, key: borrowing PackKey, in staged: StagedRelease) throws(PackError) -> ReleaseBuildReport.Item {
    guard let made = decision.result else { preconditionFailure("every pack was made or taken") }
    let pack = try Pack(staged.path(of: made.file), key: key, files: files, backend: backend)
    try pack.checkName(decision.pack.id)
    let census = try PackCensus(pack)
    guard census.contentRoot == made.contentRoot else {
      throw PackError(.damagedPayload, "\(output)/\(made.file): the entries do not match the content root")
    }
    let entry = ManifestPack(
      id: made.id, version: made.version, url: configuration.serve.baseURL + made.file, size: made.size, sha256: made.sha256,
      contentRoot: made.contentRoot, contentSize: decision.census?.contentSize ?? pack.contentSize, installSize: census.installSize,
      files: census.files, maxFrame: UInt64(pack.largestFrame), keyID: made.keyID, delivery: decision.pack.delivery,
      install: decision.pack.install, tags: decision.pack.tags, name: decision.pack.name == made.id ? "" : decision.pack.name,
      description: decision.pack.description,
      platforms: decision.pack.platforms, language: decision.pack.language)
    try pack.check(against: entry)
    let action: ReleaseBuildReport.Item.Action =
      decision.isKept ? .kept : decision.made != nil ? .reused : decision.isCached ? .cached : .packed
    return ReleaseBuildReport.Item(
      id: made.id, version: made.version, action: action, reason: action == .packed ? decision.reason : nil, contentSize: entry.contentSize,
      entry: entry, omitted: decision.census?.omitted ?? [])
  }

  /// Returns the report of a trial run, which lists what a build would do.
  func trial(
    _ decisions: [PackDecision], _ updates: [ReleaseBuildReport.Update], _ existing: ExistingRelease?,
    _ remarks: [ReleaseBuildReport.Remark]
  ) throws(PackError) -> ReleaseBuildReport {
    var items: [ReleaseBuildReport.Item] = []
    for decision in decisions {
      try checkpoint()
      var made = decision.made
      var reason = decision.reason
      if let found = made, let existing {
        do throws(PackError) {
          let (size, sha256) = try FileDigest.run(
            found.file, in: existing.directory, title: "\(existing.path)/\(found.file)", files: files, backend: backend)
          if size != found.size || sha256 != found.sha256 {
            made = nil
            reason = fault(nil)
          }
        } catch {
          made = nil
          reason = fault(error.code)
        }
      }
      let action: ReleaseBuildReport.Item.Action = decision.isKept ? .kept : made == nil ? .packed : .reused
      items.append(
        ReleaseBuildReport.Item(
          id: decision.id, version: made?.version ?? decision.edition?.version ?? 0, action: action,
          reason: action == .packed ? reason : nil,
          contentSize: decision.census?.contentSize ?? 0, entry: nil, omitted: decision.census?.omitted ?? []))
    }
    return ReleaseBuildReport(
      output: output, items: items, updates: updates, downloads: [], change: nil, room: [], release: nil, remarks: remarks)
  }
}
