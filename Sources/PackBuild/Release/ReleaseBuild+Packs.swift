extension ReleaseBuild {
  // MARK: Deciding

  /// Returns packs with their keys.
  ///
  /// - Parameter key: the application key, or with `perPackKeys` the root key.
  package func keyed(_ packs: [PackerConfiguration.Pack], with key: Shared<PackKey>) throws(PackError) -> [KeyedPack] {
    let isRoot = configuration.perPackKeys
    var keyed: [KeyedPack] = []
    for pack in packs {
      let id =
        isRoot ? try key.key.packKey(forPackID: PackID.bytes(for: pack.id, backend: backend), backend: backend).id : key.key.id
      keyed.append(KeyedPack(pack, key: key, isRoot: isRoot, keyID: "\(id)"))
    }
    return keyed
  }

  /// Returns packs with the ids of the keys that they were made with before.
  func assumingKeys(_ packs: [KeyedPack], _ lock: ReleaseLock, _ existing: ExistingRelease?) -> [KeyedPack] {
    let released = (lock.released?.packs ?? []).map { ($0.id, $0.keyID) }
    let ids = Dictionary(released + (existing?.record.packs ?? []).map { ($0.id, $0.keyID) }) { $1 }
    return packs.map { $0.assuming(keyID: ids[$0.id]) }
  }

  /// Reads the sources of the wanted packs, and decides for each pack whether it has to be packed.
  func decide(
    _ packs: [KeyedPack], lock: ReleaseLock, existing: ExistingRelease?, progress: ProgressHandler?
  ) async throws(PackError) -> [PackDecision] {
    let recorded = Dictionary(uniqueKeysWithValues: (lock.released?.packs ?? []).map { ($0.id, $0) })
    let made = existing.map { release in release.record.packs.map { ($0.id, EarlierPack(release: release, record: $0)) } } ?? []
    let earlier = Dictionary(made, uniquingKeysWith: { first, _ in first })
    let (meter, wanted) = (SumMeter(.hashing, handler: progress), Set(wanted))
    var decisions: [PackDecision] = []
    var failures: [PackError] = []
    for pack in packs {
      try Task.checkpoint()
      do throws(PackError) {
        decisions.append(
          wanted.isEmpty || wanted.contains(pack.id)
            ? try await decide(pack, earlier[pack.id], after: recorded[pack.id], meter)
            : try kept(pack, earlier[pack.id], after: recorded[pack.id]))
      } catch {
        guard [.unsuitableSource, .cannotRead, .sourceChanged, .missingInput].contains(error.code) else { throw error }
        failures.append(error)
      }
    }
    try Self.check(failures)
    return decisions
  }

  private func decide(
    _ keyed: KeyedPack, _ earlier: EarlierPack?, after last: ReleaseLock.Pack?, _ meter: SumMeter
  ) async throws(PackError) -> PackDecision {
    var job = job(for: keyed.pack)
    (job.usesPackKey, job.usesVersionKey) = (keyed.isRoot, keyed.pack.hasVersionKeys)
    let census = try await meter.measure { [job] (progress) throws(PackError) in try await SourceCensus.run(job, progress: progress) }
    let lastKeyID = try keyed.keyID(ofVersion: last?.version ?? 1)
    var identity = PackIdentity(
      id: keyed.id, contentRoot: census.contentRoot, keyID: lastKeyID, settings: try Self.settings(of: job, census.contentSize),
      install: keyed.pack.install)
    let edition = try PackEdition(after: last, identity)
    identity.keyID = try keyed.keyID(ofVersion: edition.version)
    let source = ScannedPack(keyed: keyed, job: job, census: census, identity: identity, edition: edition)
    if let earlier {
      guard let objection = edition.objection(to: earlier.record, try source.identity(ofVersion: earlier.record.version)) else {
        return .reuse(source, earlier)
      }
      return .make(DuePack(source: source, reason: objection))
    }
    let absence =
      last.map { last in
        edition.recorded != nil
          ? "not in \(output)"
          : last.isRemoved
            ? "the last release does not have it"
            : last.contentRoot != census.contentRoot
              ? "changed since the last release"
              : last.keyID != lastKeyID ? "another key than the last release" : "other settings than the last release"
      } ?? "new"
    return .make(DuePack(source: source, reason: absence))
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
    _ keyed: KeyedPack, _ earlier: EarlierPack?, after recorded: ReleaseLock.Pack?
  ) throws(PackError) -> PackDecision {
    let (id, hint) = (keyed.id, Self.wholeBuild)
    guard let earlier else {
      throw PackError(.missingInput, of: output, "has no pack '\(id)', and it is not among the packs to build", hint: hint)
    }
    let made = earlier.record
    let keyID = try keyed.keyID(ofVersion: made.version)
    guard made.keyID == keyID else {
      throw PackError(
        .wrongKey, "pack '\(id)' in \(output) was made with key \(made.keyID), but would now be made with key \(keyID)", hint: hint)
    }
    if let problem = PackEdition.problem(ofKept: made, after: recorded) {
      throw PackError(.releaseConflict, "pack '\(id)' in \(output) \(problem)", hint: hint)
    }
    return .keep(keyed, earlier)
  }

  func job(for pack: PackerConfiguration.Pack) -> PackJob {
    var job = PackJob(source: pack.root, output: "", name: pack.id)
    job.words = .keys(file: PathParts(configuration.path)?.name ?? configuration.path)
    job.settings = pack.settings
    job.jobs = jobs
    job.files = files
    job.backend = backend
    job.durability = .leftToDirectory
    return job
  }

  /// Returns the settings that the bytes of a pack depend on besides content, name and key, as one line of text.
  static func settings(of job: PackJob, _ contentSize: UInt64) throws(PackError) -> String {
    let settings = job.settings
    let level: String =
      switch settings.level {
      case .fast: "fast"
      case .balanced: "balanced"
      case .smallest: "smallest"
      case .number(let number): "\(number)"
      }
    let order = try settings.order.map { (order) throws(PackError) in
      " layout=\(try job.backend.digest(of: order.document.byteSpan).hex.prefix(16))"
    }
    let segment = settings.segmentSize(forContentOf: contentSize)
    return "format=\(PackHeader.formatVersion) level=\(level) frame=\(settings.largestFrame) segment=\(segment)\(order ?? "")"
  }

  // MARK: Made packs

  /// The hint for any problem with an earlier build. A build of one pack would fail at the next damaged one.
  static let wholeBuild = "build all packs: packer build"

  /// Returns what is wrong with the file of an earlier build, in words that depend on the error code.
  func fault(_ code: PackError.Code) -> String {
    switch code {
    case .missingInput: "its file in \(output) is missing"
    case .cannotRead: "its file in \(output) cannot be read"
    default: "its file in \(output) was changed"
    }
  }

  /// The name of a pack before its digest is known.
  static func draft(_ id: String) -> String { "\(id).pack" }

  /// Returns the name of a published file. It depends on every byte of the file, so that caches never serve an earlier version.
  package static func fileName(_ id: String, _ sha256: [UInt8]) -> String {
    ManifestPack.publishedName(id, sha256)
  }

  /// Opens a pack as a client does, and makes its manifest entry.
  func entry(for made: MadePack, in staged: StagedRelease) throws(PackError) -> ManifestPack {
    let (settings, record) = (made.keyed.pack, made.record)
    let pack = try Pack(staged.path(of: record.file), key: made.keyed.key.key, files: files, backend: backend)
    try pack.source.checkName(settings.id)
    let census = try PackCensus(pack)
    guard census.contentRoot == record.contentRoot else {
      throw PackError(.damagedPayload, "\(output)/\(record.file): the entries do not match the content root")
    }
    var entry = ManifestPack(
      id: record.id, version: record.version, url: configuration.serve.baseURL + record.file, size: record.size, sha256: record.sha256,
      contentRoot: record.contentRoot, contentSize: made.origin.census?.contentSize ?? pack.contentSize, installSize: census.installSize,
      files: census.files, maxFrame: UInt64(pack.largestFrame), keyID: record.keyID, delivery: settings.delivery,
      install: settings.install, tags: settings.tags, name: settings.name == record.id ? "" : settings.name,
      description: settings.description, platforms: settings.platforms, language: settings.language)
    try pack.check(against: entry)
    if settings.hasVersionKeys { entry.opener = try opener(of: entry, made, in: staged) }
    // An essential pack that the system manages comes whole.
    let hasLead =
      settings.install == .packed && !settings.hasVersionKeys && (settings.delivery != .essential || configuration.hosting == .unmanaged)
    if let order = settings.settings.order, hasLead {
      entry.stream = try PackLead.of(pack, by: order, files: files, backend: backend).map { (lead) throws(PackError) in
        let draft = Self.draft("\(settings.id).lead")
        let stream = try lead.write(to: staged.path(of: draft))
        try staged.rename(draft, to: ManifestPack.leadName(record.id, stream.sha256))
        return stream
      }
    }
    return entry
  }

  /// Makes what opens an edition. Its file is in the release only if its time has come. Before that, only the root key leads to it.
  private func opener(of entry: ManifestPack, _ made: MadePack, in staged: StagedRelease) throws(PackError) -> ManifestOpener {
    let opens = made.keyed.pack.opens
    let opener = try Opener(of: entry.edition(backend: backend), root: made.keyed.key.key, backend: backend)
    let said = try ManifestOpener(of: opener, opens: opens, backend: backend)
    if opens.map({ $0 <= time.now }) ?? true {
      try staged.write(opener.bytes, to: ManifestPack.openerName(entry.id, said.sha256))
    }
    return said
  }

  /// Returns what a build would do for each pack.
  func trial(_ decisions: [PackDecision]) throws(PackError) -> [ReleaseBuildReport.Item] {
    var items: [ReleaseBuildReport.Item] = []
    for decision in decisions {
      try Task.checkpoint()
      switch decision {
      case .keep(let keyed, let earlier): items.append(PackOrigin.kept.item(keyed.id, earlier.record.version))
      case .reuse(let source, let earlier):
        if let reason = try fault(of: earlier) {
          items.append(PackOrigin.packed(source.census, reason: reason).item(source.id, source.edition.version))
        } else {
          items.append(PackOrigin.reused(source.census).item(source.id, earlier.record.version))
        }
      case .make(let due):
        items.append(PackOrigin.packed(due.source.census, reason: due.reason).item(due.source.id, due.source.edition.version))
      }
    }
    return items
  }

  /// Returns why the file of an earlier build could not be reused; nil if it could.
  private func fault(of earlier: EarlierPack) throws(PackError) -> String? {
    let (made, release) = (earlier.record, earlier.release)
    do throws(PackError) {
      let (size, sha256) = try FileDigest.run(
        made.file, in: release.directory, title: "\(release.path)/\(made.file)", files: files, backend: backend)
      return size == made.size && sha256 == made.sha256 ? nil : fault(.digestMismatch)
    } catch {
      guard error.code != .cancelled else { throw error }
      return fault(error.code)
    }
  }
}
