extension ReleaseBuild {
  /// The largest number of editions of a pack, the newest ones, from which there are deltas.
  package static let mostDeltas = 8

  static let tooOld = "only the \(mostDeltas) newest editions get deltas"

  /// Returns what a build would do.
  func plannedUpdates(
    to decisions: [PackDecision], from editions: [String: [ReleaseHistory.Edition]], existing: ExistingRelease?
  ) -> [ReleaseBuildReport.Update] {
    var updates: [ReleaseBuildReport.Update] = []
    let named = Set(decisions.compactMap(\.keyed.pack.base))
    let bases = Dictionary(decisions.filter { named.contains($0.id) }.map { ($0.id, $0.planned) }) { first, _ in first }
    for decision in decisions where !decision.keyed.pack.hasVersionKeys {
      for (number, edition) in (editions[decision.id] ?? []).enumerated() {
        let isTooOld = number >= Self.mostDeltas
        let missing = isTooOld || basePath(of: edition.pack, existing) != nil ? nil : edition.pack
        let reason = isTooOld ? Self.tooOld : missing.map(absence)
        updates.append(
          ReleaseBuildReport.Update(
            id: decision.id, version: edition.pack.version, manifest: edition.manifest, basePack: nil,
            base: edition.pack.contentRoot, action: reason == nil ? .planned : .omitted, reason: reason,
            missingFile: missing.map { Self.fileName($0.id, $0.sha256) }, size: nil, packSize: nil))
      }
      if let id = decision.keyed.pack.base, let base = bases[id] {
        updates.append(
          ReleaseBuildReport.Update(
            id: decision.id, version: base.version, manifest: nil, basePack: id, base: base.contentRoot, action: .planned,
            reason: nil, missingFile: nil, size: nil, packSize: nil))
      }
    }
    return updates
  }

  /// Returns a warning if deltas were not made because files of earlier packs are missing.
  func lackingFiles(_ updates: [ReleaseBuildReport.Update]) -> ReleaseBuildReport.Remark? {
    let missing = Set(updates.compactMap(\.missingFile)).sorted()
    guard let folder = configuration.updates?.packs, let first = missing.first else { return nil }
    let more = missing.count > 1 ? " and \(missing.count - 1) more" : ""
    return .warning(
      "\(folder) lacks \(first)\(more): players who have these versions download the full pack",
      hint: "bring the files back, for example from where they were uploaded")
  }

  /// Returns entries with the deltas to them, and with the names of the other packs from which there are any.
  static func listing(_ outcomes: [UpdateOutcome], in entries: [ManifestPack]) -> [ManifestPack] {
    var deltas: [String: [ManifestDelta]] = [:]
    for outcome in outcomes {
      if let delta = outcome.delta { deltas[outcome.update.id, default: []].append(delta) }
    }
    let published = outcomes.filter { $0.delta != nil && $0.update.basePack != nil }
    let bases = Dictionary(published.map { ($0.update.id, $0.update.basePack) }) { first, _ in first }
    return entries.map { entry in
      var entry = entry
      entry.basePack = bases[entry.id] ?? nil
      entry.deltas = (deltas[entry.id] ?? []).sorted { $0.sha256.lexicographicallyPrecedes($1.sha256) }
      return entry
    }
  }

  /// The share of the full pack that a delta must save, in hundredths of a percent.
  var worth: UInt64 { configuration.updates?.worth ?? 0 }

  /// The fewest bytes that a delta must save: its entry takes 250, and devices read the entries of many.
  static let leastSaving: UInt64 = 4096

  /// Whether deltas of `size` bytes save enough of a pack to be made.
  package func isWorth(_ size: UInt64, insteadOf packSize: UInt64) -> Bool {
    // A pack has at most 2^40 bytes.
    size + Self.leastSaving <= packSize && size * 10_000 <= packSize * (10_000 - min(worth, 10_000))
  }

  // MARK: Bases

  /// Returns the file of an edition, in the earlier build or in the folder of released packs; nil if it is in neither.
  func basePath(of pack: ReleaseLock.Pack, _ existing: ExistingRelease?) -> String? {
    var places = existing.map { ["\($0.path)/\(Self.fileName(pack.id, pack.sha256))"] } ?? []
    if let settings = configuration.updates { places.append(ReleasedPacks(settings.packs, files: files).path(of: pack)) }
    return places.first { (try? files.status(of: $0, in: nil, following: .followed))?.kind == .file }
  }

  func absence(of pack: ReleaseLock.Pack) -> String {
    let folder = configuration.updates.map { " nor in \($0.packs)" } ?? ""
    return "\(Self.fileName(pack.id, pack.sha256)) is neither in \(output)\(folder)"
  }
}
