import PackCrypto
import PackFiles
import PackFormat
import PackManifest
import PackProject
import PackReading
import PackStore
import PackWork

extension ReleaseBuild {
  /// What is to become of one pack.
  struct Plan: Sendable {
    let pack: PackerConfiguration.Pack
    let job: PackJob
    let settings: String
    /// nil where nobody looks at its source.
    let census: SourceCensus?
    let edition: PackEdition?
    /// The pack of the earlier build that is taken; nil where it has to be packed.
    var made: BuildRecord.Pack?
    /// Why it has to be packed.
    var reason: String?
    /// What was made or taken.
    var result: BuildRecord.Pack?
    var remark: ReleaseBuildReport.Remark?

    var id: String { pack.id.text }
    var isKept: Bool { census == nil }
  }

  // MARK: Deciding

  /// The ids of the keys that packs are made with, by their names.
  func keyIDs(of packs: [PackerConfiguration.Pack], key: borrowing PackKey) throws(PackError) -> [String: String] {
    var ids: [String: String] = [:]
    for pack in packs {
      let id =
        configuration.perPackKeys
        ? try key.packKey(forPackID: PackID.bytes(for: pack.id, backend: backend), backend: backend).id : key.id
      ids[pack.id.text] = "\(id)"
    }
    return ids
  }

  /// Reads all sources that are wanted, and decides about each pack.
  func plan(
    _ packs: [PackerConfiguration.Pack], keyIDs: [String: String], lock: ReleaseLock, existing: ExistingRelease?,
    progress: ProgressHandler?
  ) async throws(PackError) -> [Plan] {
    let recorded = Dictionary(uniqueKeysWithValues: (lock.released?.packs ?? []).map { ($0.id, $0) })
    let made = Dictionary((existing?.record.packs ?? []).map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    let meter = SumMeter(.hashing, handler: progress)
    var plans: [Plan] = []
    var failures: [PackError] = []
    for pack in packs {
      try checkpoint()
      do throws(PackError) {
        let id = pack.id.text
        guard let keyID = keyIDs[id] else { preconditionFailure("every pack has a key") }
        if !wanted.isEmpty, !wanted.contains(id) {
          plans.append(try kept(pack, made[id], keyID: keyID, after: recorded[id]))
          continue
        }
        let job = try job(for: pack)
        let census = try await SourceCensus.run(job, progress: meter.next())
        let settings = Self.settings(of: job)
        let edition = try PackEdition(after: recorded[id], contentRoot: census.contentRoot, keyID: keyID, settings: settings)
        let objection = made[id].map {
          edition.objection(to: $0, contentRoot: census.contentRoot, keyID: keyID, settings: settings)
        }
        let absence = recorded[id] == nil ? "new" : "not in \(output)"
        plans.append(
          Plan(
            pack: pack, job: job, settings: settings, census: census, edition: edition, made: objection == .some(nil) ? made[id] : nil,
            reason: objection ?? absence))
      } catch {
        guard [.unsuitableSource, .cannotRead, .sourceChanged, .missingInput].contains(error.code) else { throw error }
        failures.append(error)
      }
    }
    try Self.check(failures)
    return plans
  }

  /// Throws all that is wrong with sources as one error.
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
  ) throws(PackError) -> Plan {
    let id = pack.id.text
    let hint = Self.wholeBuild
    guard let made else {
      throw PackError(.missingInput, of: output, "has no pack '\(id)', and it was not to be built", hint: hint)
    }
    guard made.keyID == keyID else {
      throw PackError(
        .wrongKey, "pack '\(id)' in \(output) was made with key \(made.keyID), and it would be made with \(keyID) now", hint: hint)
    }
    if let problem = PackEdition.problem(ofKept: made, after: recorded) {
      throw PackError(.releaseConflict, "pack '\(id)' in \(output) \(problem)", hint: hint)
    }
    return Plan(
      pack: pack, job: try job(for: pack), settings: made.settings, census: nil, edition: nil, made: made, reason: nil)
  }

  private func job(for pack: PackerConfiguration.Pack) throws(PackError) -> PackJob {
    guard let level = PackLevel(pack.level) else {
      throw PackError(.usage, "the level of pack '\(pack.id)' is '\(pack.level)', which is none")
    }
    var job = PackJob(source: pack.root, output: "", name: pack.id)
    job.words = .keys(file: PathParts(configuration.path)?.name ?? configuration.path)
    job.level = level
    job.frameSize = pack.frameSize.map { Int(clamping: $0) } ?? level.frameSize
    job.excludes = pack.excludes
    job.followsSymlinks = pack.followsSymlinks
    job.usesPackKey = configuration.perPackKeys
    job.allowsSecrets = pack.allowsSecrets
    job.allowsUnportablePaths = pack.allowsUnportablePaths
    job.jobs = jobs
    job.files = files
    job.backend = backend
    job.durability = .leftToDirectory
    return job
  }

  /// What the bytes of a pack depend on besides content, name and key, as one line of text.
  static func settings(of job: PackJob) -> String {
    let level: String =
      switch job.level {
      case .fast: "fast"
      case .balanced: "balanced"
      case .smallest: "smallest"
      case .number(let number): "\(number)"
      }
    return "format=\(PackHeader.formatVersion) level=\(level) frame=\(job.frameSize ?? job.level.frameSize) segment=\(job.segmentSize)"
  }

  // MARK: Making

  /// What makes good again whatever is wrong with an earlier build. That of one pack would refuse the next one that is damaged.
  private static let wholeBuild = "build all of it: packer build"

  /// Takes the file of the earlier build.
  ///
  /// - Returns: why it cannot be taken, and has to be packed; nil where it is still what it was.
  func reuse(_ plan: inout Plan, from existing: ExistingRelease?, into staged: StagedRelease) throws(PackError) -> String? {
    guard let made = plan.made, let existing else { return nil }
    try checkpoint()
    var problem: PackError?
    do throws(PackError) {
      try staged.adopt(made.file, in: existing.directory, as: made.file, sourcePath: existing.path)
      let (size, sha256) = try staged.digest(of: made.file)
      if size == made.size, sha256 == made.sha256 {
        var result = made
        result.created = created(plan, made)
        if plan.edition?.recorded?.sha256 == made.sha256 { result.differsFrom = nil }
        plan.result = result
        return nil
      }
      try staged.remove(made.file)
      problem = PackError(.digestMismatch, of: "\(existing.path)/\(made.file)", "is not the file that was built")
    } catch {
      guard error.code == .missingInput || error.code == .cannotRead else { throw error }
      // Something that is no file may have been taken over.
      try? staged.remove(made.file)
      problem = error
    }
    if plan.isKept, let problem { throw problem.advising(.developer(Self.wholeBuild)) }
    plan.made = nil
    return fault(problem?.code)
  }

  /// What became of the file of an earlier build, by the error that it gave.
  private func fault(_ code: PackError.Code?) -> String {
    switch code {
    case .missingInput: "its file in \(output) is missing"
    case .cannotRead: "its file in \(output) cannot be read"
    default: "its file in \(output) was changed"
    }
  }

  /// When the bytes of a pack that is taken were first made.
  private func created(_ plan: Plan, _ made: BuildRecord.Pack) -> ManifestTime {
    if let recorded = plan.edition?.recorded, recorded.sha256 == made.sha256 { return recorded.created }
    return time.isFixed && !plan.isKept ? time.now : made.created
  }

  /// Packs what has to be packed.
  func pack(
    _ plans: inout [Plan], key: borrowing PackKey, into staged: StagedRelease, progress: ProgressHandler?
  ) async throws(PackError) {
    let due = plans.indices.filter { plans[$0].result == nil }
    let total = due.reduce(0 as UInt64) { $0 + (plans[$1].census?.contentSize ?? 0) }
    let meter = SumMeter(.packing, total: total, handler: progress)
    for index in due {
      try checkpoint()
      guard let census = plans[index].census, let edition = plans[index].edition else { preconditionFailure("kept packs are not packed") }
      var made = try await pack(
        plans[index], census, version: edition.version, created: edition.recorded?.created ?? time.now, key: key, into: staged,
        progress: meter.next(adding: census.contentSize))
      if let recorded = edition.recorded, recorded.sha256 != made.sha256 {
        try staged.remove(made.file)
        let version = try PackEdition.version(after: recorded)
        made = try await pack(plans[index], census, version: version, created: time.now, key: key, into: staged, progress: nil)
        made.differsFrom = recorded.sha256
        plans[index].reason = "becomes version \(version)"
        plans[index].remark = .note(
          "pack '\(recorded.id)' has the content of version \(recorded.version), but this packer's zstd makes other bytes of it: it becomes version \(version)",
          hint:
            "to spare players the download, build with the zstd that made version \(recorded.version), or start from a \(output) that holds it"
        )
      }
      plans[index].result = made
    }
  }

  private func pack(
    _ plan: Plan, _ census: SourceCensus, version: UInt64, created: ManifestTime, key: borrowing PackKey, into staged: StagedRelease,
    progress: ProgressHandler?
  ) async throws(PackError) -> BuildRecord.Pack {
    let name = "\(plan.id).pack"
    var job = plan.job
    job.output = staged.path(of: name)
    job.packVersion = version
    let report = try await job.run(key: key, progress: progress)
    guard report.contentRoot == census.contentRoot else {
      throw PackError(
        .sourceChanged, of: plan.pack.root, "changed while it was being packed", hint: "build again when nothing writes to it any more")
    }
    let (size, sha256) = try staged.digest(of: name)
    let file = Self.fileName(plan.id, sha256)
    try staged.rename(name, to: file)
    return BuildRecord.Pack(
      id: plan.id, version: version, file: file, size: size, sha256: sha256, contentRoot: census.contentRoot,
      keyID: "\(report.keyID)", settings: plan.settings, created: created)
  }

  /// The name of a published file: it changes with every byte, so that no cache on the way serves an earlier one.
  package static func fileName(_ id: String, _ sha256: [UInt8]) -> String {
    "\(id)-\(sha256.prefix(8).hex).pack"
  }

  /// Opens a pack as a client does, and says what the manifest says of it.
  func item(for plan: Plan, key: borrowing PackKey, in staged: StagedRelease) throws(PackError) -> ReleaseBuildReport.Item {
    guard let made = plan.result else { preconditionFailure("every pack was made or taken") }
    let pack = try Pack(staged.path(of: made.file), key: key, files: files, backend: backend)
    try pack.checkName(plan.pack.id)
    let census = try PackCensus(pack)
    guard census.contentRoot == made.contentRoot else {
      throw PackError(.damagedPayload, "\(output)/\(made.file): the entries are not those that the content root names")
    }
    let entry = ManifestPack(
      id: made.id, version: made.version, url: configuration.serve.baseURL + made.file, size: made.size, sha256: made.sha256,
      contentRoot: made.contentRoot, contentSize: plan.census?.contentSize ?? pack.contentSize, installSize: census.installSize,
      files: census.files, maxFrame: UInt64(pack.largestFrame), keyID: made.keyID, delivery: plan.pack.delivery,
      install: plan.pack.install, tags: plan.pack.tags, name: plan.pack.name, description: plan.pack.description, created: made.created,
      platforms: plan.pack.platforms, language: plan.pack.language)
    try pack.check(against: entry)
    let action: ReleaseBuildReport.Item.Action = plan.isKept ? .kept : plan.made == nil ? .packed : .reused
    return ReleaseBuildReport.Item(
      id: made.id, version: made.version, action: action, reason: action == .packed ? plan.reason : nil, contentSize: entry.contentSize,
      entry: entry, omitted: plan.census?.omitted ?? [])
  }

  /// What would be done.
  func trial(_ plans: [Plan], _ existing: ExistingRelease?) throws(PackError) -> ReleaseBuildReport {
    var items: [ReleaseBuildReport.Item] = []
    for plan in plans {
      try checkpoint()
      var made = plan.made
      var reason = plan.reason
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
      let action: ReleaseBuildReport.Item.Action = plan.isKept ? .kept : made == nil ? .packed : .reused
      items.append(
        ReleaseBuildReport.Item(
          id: plan.id, version: made?.version ?? plan.edition?.version ?? 0, action: action, reason: action == .packed ? reason : nil,
          contentSize: plan.census?.contentSize ?? 0, entry: nil, omitted: plan.census?.omitted ?? []))
    }
    return ReleaseBuildReport(output: output, items: items, release: nil, remarks: [])
  }
}

/// Adds up the progress of one operation after the other, of which each counts from nothing.
final class SumMeter: Sendable {
  private let phase: PackProgress.Phase
  private let total: UInt64
  private let handler: ProgressHandler?
  private let finished = Monitor<UInt64>(0)

  /// - Parameter total: all bytes of content; 0 where that is not known.
  init(_ phase: PackProgress.Phase, total: UInt64 = 0, handler: ProgressHandler?) {
    self.phase = phase
    self.total = total
    self.handler = handler
  }

  /// What the next operation calls.
  ///
  /// - Parameter size: the bytes of content that it will have done; nil where it says so itself by its total.
  func next(adding size: UInt64? = nil) -> ProgressHandler? {
    guard let handler else { return nil }
    let before = finished.withLock { finished in
      defer { finished += size ?? 0 }
      return finished
    }
    let counted = Monitor(size != nil)
    return { [phase, total, finished] progress in
      guard progress.phase == phase else { return }
      let isNews = counted.withLock { counted in
        defer { counted = true }
        return !counted
      }
      if isNews { finished.withLock { $0 += progress.total } }
      handler(PackProgress(phase: phase, done: before + progress.done, total: total))
    }
  }
}
