import PackCrypto
import PackFiles
import PackFormat
import PackManifest
import PackProject
import PackReading

extension ReleaseBuild {
  /// The largest number of deltas to a pack: from its newest editions.
  static let mostDeltas = 8

  /// A delta that was made or reused, and what the next build is told of one that was not worth it.
  struct UpdateOutcome: Sendable {
    let update: ReleaseBuildReport.Update
    let record: BuildRecord.Delta?

    /// What the manifest says of it; nil if it is not published.
    var delta: ManifestDelta? {
      guard let record, record.file != nil else { return nil }
      return ManifestDelta(bases: [record.base], size: record.size, sha256: record.sha256)
    }
  }

  /// Returns the editions that players may have of the packs whose content changed.
  func editions(of decisions: [PackDecision], _ history: ReleaseHistory?) throws(PackError) -> [String: [ReleaseHistory.Edition]] {
    guard let history else { return [:] }
    var current: [String: [UInt8]] = [:]
    for decision in decisions { current[decision.id] = decision.census?.contentRoot ?? decision.made?.contentRoot }
    return try history.editions(besides: current)
  }

  /// Makes the deltas to the packs of the release, one after the other and each on all cores.
  ///
  /// A base that is missing or cannot be read is no error: the update says why there is no delta.
  func makeUpdates(
    to decisions: [PackDecision], from editions: [String: [ReleaseHistory.Edition]], key: borrowing PackKey, existing: ExistingRelease?,
    into staged: StagedRelease, progress: ProgressHandler?
  ) async throws(PackError) -> [UpdateOutcome] {
    var outcomes: [UpdateOutcome] = []
    for decision in decisions {
      guard let made = decision.result else { continue }
      for (number, edition) in (editions[decision.id] ?? []).enumerated() {
        try checkpoint()
        let wanted = WantedDelta(edition: edition, made: made, settings: Self.deltaSettings(decision), mode: decision.pack.install)
        guard number < Self.mostDeltas else {
          outcomes.append(wanted.omitted("only the \(Self.mostDeltas) newest editions get a delta"))
          continue
        }
        if let known = try reuse(wanted, from: existing, into: staged) {
          outcomes.append(known)
        } else {
          outcomes.append(try await make(wanted, key: key, existing: existing, into: staged, progress: progress))
        }
      }
    }
    return outcomes
  }

  /// Returns what a build would do.
  func plannedUpdates(
    to decisions: [PackDecision], from editions: [String: [ReleaseHistory.Edition]], existing: ExistingRelease?
  ) -> [ReleaseBuildReport.Update] {
    var updates: [ReleaseBuildReport.Update] = []
    for decision in decisions {
      for (number, edition) in (editions[decision.id] ?? []).enumerated() {
        let base = basePath(of: edition.pack, existing)
        let reason =
          number >= Self.mostDeltas
          ? "only the \(Self.mostDeltas) newest editions get a delta" : base == nil ? absence(of: edition.pack) : nil
        updates.append(
          ReleaseBuildReport.Update(
            id: decision.id, version: edition.pack.version, manifest: edition.manifest, base: edition.pack.contentRoot,
            action: reason == nil ? .planned : .omitted, reason: reason, size: nil, packSize: nil))
      }
    }
    return updates
  }

  /// Returns what players of each earlier release download, newest first.
  func downloads(
    to entries: [ManifestPack], by outcomes: [UpdateOutcome], _ history: ReleaseHistory?
  ) throws(PackError) -> [ReleaseUpdate] {
    guard let history else { return [] }
    let deltas = Dictionary(Self.listed(outcomes).map { ($0.id, $0.deltas) }) { first, _ in first }
    var downloads: [ReleaseUpdate] = []
    try history.forEachRelease { release in
      let update = ReleaseUpdate(from: release, to: entries, by: deltas)
      if !update.packs.isEmpty { downloads.append(update) }
    }
    return downloads
  }

  /// Returns the deltas as pages list them.
  static func listed(_ outcomes: [UpdateOutcome]) -> [PackUpdates] {
    var deltas: [String: [ManifestDelta]] = [:]
    for outcome in outcomes {
      if let delta = outcome.delta { deltas[outcome.update.id, default: []].append(delta) }
    }
    return deltas.map { id, deltas in PackUpdates(id: id, deltas: deltas.sorted { $0.sha256.lexicographicallyPrecedes($1.sha256) }) }
      .sorted { $0.id.precedes($1.id) }
  }

  // MARK: One delta

  /// A delta to be made, or reused.
  private struct WantedDelta {
    let edition: ReleaseHistory.Edition
    let made: BuildRecord.Pack
    let settings: String
    let mode: InstallMode

    /// Whether a delta of an earlier build is this one.
    func isThat(_ delta: BuildRecord.Delta) -> Bool {
      delta.id == made.id && delta.base == edition.pack.contentRoot && delta.target == made.contentRoot && delta.version == made.version
        && delta.keyID == made.keyID && delta.settings == settings
    }

    func record(_ file: String?, _ size: UInt64, _ sha256: [UInt8]) -> BuildRecord.Delta {
      BuildRecord.Delta(
        id: made.id, version: made.version, file: file, size: size, sha256: sha256, base: edition.pack.contentRoot,
        target: made.contentRoot, keyID: made.keyID, settings: settings)
    }

    func outcome(
      _ action: ReleaseBuildReport.Update.Action, _ record: BuildRecord.Delta? = nil, reason: String? = nil
    ) -> UpdateOutcome {
      UpdateOutcome(
        update: ReleaseBuildReport.Update(
          id: made.id, version: edition.pack.version, manifest: edition.manifest, base: edition.pack.contentRoot, action: action,
          reason: reason, size: record?.size, packSize: made.size),
        record: record)
    }

    func omitted(_ reason: String) -> UpdateOutcome { outcome(.omitted, reason: reason) }

    /// Returns the outcome for a delta that does not save enough. The next build need not make it again.
    func unworthy(_ record: BuildRecord.Delta, _ worth: UInt64) -> UpdateOutcome {
      var record = record
      record.file = nil
      let saved = made.size > record.size ? made.size - record.size : 0
      return outcome(
        .omitted, record,
        reason: saved < ReleaseBuild.leastSaving
          ? "it would save only \(saved) bytes" : "it would save \(saved * 100 / made.size) %, less than \(Self.percent(worth)) %")
    }

    private static func percent(_ basisPoints: UInt64) -> String {
      let decimals = basisPoints % 100
      return decimals == 0 ? "\(basisPoints / 100)" : "\(basisPoints / 100).\(decimals < 10 ? "0" : "")\(decimals)"
    }
  }

  /// The settings that the bytes of a delta depend on besides both contents, name, version and key, as one line of text.
  private static func deltaSettings(_ decision: PackDecision) -> String {
    "format=\(PackHeader.formatVersion) segment=\(decision.job.segmentSize) install=\(decision.pack.install.rawValue)"
  }

  /// The share of the full pack that a delta must save, in hundredths of a percent.
  private var worth: UInt64 { configuration.updates?.worth ?? 0 }

  /// The fewest bytes that a delta must save: its entry in a page takes 250, and devices read the entries of many.
  static let leastSaving: UInt64 = 4096

  /// Whether a delta saves enough.
  private func isWorth(_ size: UInt64, of packSize: UInt64) -> Bool {
    // A pack has at most 2^40 bytes.
    size + Self.leastSaving <= packSize && size * 10_000 <= packSize * (10_000 - min(worth, 10_000))
  }

  /// Takes a delta from the earlier build, or that it was not worth it. Returns nil if there is none.
  private func reuse(_ wanted: WantedDelta, from existing: ExistingRelease?, into staged: StagedRelease) throws(PackError) -> UpdateOutcome?
  {
    guard let existing, let known = existing.record.deltas.first(where: wanted.isThat) else { return nil }
    guard isWorth(known.size, of: wanted.made.size) else { return wanted.unworthy(known, worth) }
    guard let file = known.file else { return nil }
    do throws(PackError) {
      try staged.adopt(file, in: existing.directory, as: file, sourcePath: existing.path)
    } catch {
      guard error.code == .missingInput || error.code == .cannotRead else { throw error }
      return nil
    }
    guard let found = try? staged.digest(of: file), found.size == known.size, found.sha256 == known.sha256 else {
      try staged.remove(file)
      return nil
    }
    return wanted.outcome(.reused, known)
  }

  private func make(
    _ wanted: WantedDelta, key: borrowing PackKey, existing: ExistingRelease?, into staged: StagedRelease, progress: ProgressHandler?
  ) async throws(PackError) -> UpdateOutcome {
    guard let path = basePath(of: wanted.edition.pack, existing) else { return wanted.omitted(absence(of: wanted.edition.pack)) }
    let base: Pack
    do throws(PackError) {
      base = try open(path, as: wanted.edition.pack, key: key)
    } catch {
      return wanted.omitted("\(path) cannot be the base: \(error.message)")
    }
    let name = "\(wanted.made.id)-\(wanted.edition.pack.version).delta"
    var job = DeltaJob(
      from: base, to: try Pack(staged.path(of: wanted.made.file), key: key, files: files, backend: backend), output: staged.path(of: name))
    (job.jobs, job.files, job.backend, job.durability) = (jobs, files, backend, .leftToDirectory)
    job.mode = wanted.mode
    do throws(PackError) {
      _ = try await job.run(key: key, progress: progress)
    } catch {
      guard Self.faultsOfBases.contains(error.code) else { throw error }
      return wanted.omitted(staged.naming(error).message)
    }
    let (size, sha256) = try staged.digest(of: name)
    guard isWorth(size, of: wanted.made.size) else {
      try staged.remove(name)
      return wanted.unworthy(wanted.record(nil, size, sha256), worth)
    }
    let file = Self.fileName(wanted.made.id, sha256)
    try staged.rename(name, to: file)
    return wanted.outcome(.made, wanted.record(file, size, sha256))
  }

  /// The errors of a base, or of a pair of trees that has no delta. The full pack remains.
  private static let faultsOfBases: Set<PackError.Code> = [
    .unsuitableSource, .authenticationFailed, .damagedHeader, .damagedPayload, .damagedArchive, .digestMismatch, .truncated, .limitExceeded,
    .cannotRead, .missingInput,
  ]

  // MARK: Bases

  /// Opens the pack of an edition. Its content root proves that it has what players have.
  private func open(_ path: String, as edition: ReleaseLock.Pack, key: borrowing PackKey) throws(PackError) -> Pack {
    let pack = try Pack(path, key: key, files: files, backend: backend)
    guard pack.contentRoot == edition.contentRoot else {
      throw PackError(.wrongPack, "pack has another content than version \(edition.version), which was released")
    }
    return pack
  }

  /// Returns the file of an edition, in the earlier build or in the folder of released packs; nil if it is in neither.
  private func basePath(of pack: ReleaseLock.Pack, _ existing: ExistingRelease?) -> String? {
    var places = existing.map { ["\($0.path)/\(Self.fileName(pack.id, pack.sha256))"] } ?? []
    if let settings = configuration.updates { places.append(ReleasedPacks(settings.packs, files: files).path(of: pack)) }
    return places.first { (try? files.status(of: $0, in: nil, following: .followed))?.kind == .file }
  }

  private func absence(of pack: ReleaseLock.Pack) -> String {
    let folder = configuration.updates.map { " nor in \($0.packs)" } ?? ""
    return "\(Self.fileName(pack.id, pack.sha256)) is neither in \(output)\(folder)"
  }
}
