extension ReleaseBuild {
  /// The largest number of deltas that make a pack: from its newest editions. As many older editions get a delta to one of those.
  static let mostDeltas = 8
  /// The largest number of editions of a pack that get deltas.
  package static let mostEditions = 2 * mostDeltas

  /// Returns the number of the edition in between for the edition with a number, from the newest on, if that gets no delta to the pack itself.
  static func middle(of number: Int) -> Int? { (mostDeltas..<mostEditions).contains(number) ? number - mostDeltas : nil }

  static let tooOld = "only the \(mostEditions) newest editions get deltas"

  /// Returns what a build would do.
  func plannedUpdates(
    to decisions: [PackDecision], from editions: [String: [ReleaseHistory.Edition]], existing: ExistingRelease?
  ) -> [ReleaseBuildReport.Update] {
    var updates: [ReleaseBuildReport.Update] = []
    let named = Set(decisions.compactMap(\.keyed.pack.base))
    let bases = Dictionary(decisions.filter { named.contains($0.id) }.map { ($0.id, $0.planned) }) { first, _ in first }
    for decision in decisions {
      let list = editions[decision.id] ?? []
      for (number, edition) in list.enumerated() {
        let middle = Self.middle(of: number).map { list[$0].pack }
        let isTooOld = number >= Self.mostEditions
        let missing = isTooOld ? nil : [edition.pack, middle].compactMap(\.self).first { basePath(of: $0, existing) == nil }
        let reason = isTooOld ? Self.tooOld : missing.map(absence)
        updates.append(
          ReleaseBuildReport.Update(
            id: decision.id, version: edition.pack.version, manifest: edition.manifest, basePack: nil,
            base: edition.pack.contentRoot, via: middle?.version, action: reason == nil ? .planned : .omitted, reason: reason,
            missingFile: missing.map { Self.fileName($0.id, $0.sha256) }, size: nil, restSize: nil, packSize: nil))
      }
      if let id = decision.keyed.pack.base, let base = bases[id] {
        updates.append(
          ReleaseBuildReport.Update(
            id: decision.id, version: base.version, manifest: nil, basePack: id, base: base.contentRoot, via: nil, action: .planned,
            reason: nil,
            missingFile: nil, size: nil, restSize: nil, packSize: nil))
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

  /// Returns entries with the deltas to them, and with the names of the other packs over which there are any.
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
