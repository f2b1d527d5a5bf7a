/// Rules about deltas, and what players of earlier releases download.
enum UpdateRules {
  static let all: [ReleaseRule] = [
    wrongDelta, unprovenDelta, needlessDelta, largeUpdate, unusedDelta, updateBurden,
  ]

  static let wrongDelta = ReleaseRule(
    "PK2025", "a file is not the delta that the manifest names", .error, .damaged
  ) { (files: Files, _: WholeCatalogue) -> [Finding] in
    let entries = Dictionary(files.entries.map { ($0.id, $0) }) { first, _ in first }
    return files.deltas.compactMap { sighting in
      // Other bytes than the entry names are another finding.
      guard let entry = entries[sighting.id], sighting.isPublished else { return nil }
      let differences = differences(sighting, entry)
      guard let first = differences.first else { return nil }
      return Finding(
        "\(sighting.title): \(first)", pack: sighting.id, file: sighting.path, details: Array(differences.dropFirst()), hint: "packer build"
      )
    }
  }

  static let unprovenDelta = ReleaseRule(
    "PK2026", "a delta was not checked, because its base is not on this machine", .note
  ) { (files: Files, _: WholeCatalogue, _: Payload) -> [Finding] in
    files.deltas.compactMap { sighting in
      guard let reason = sighting.unproven else { return nil }
      return Finding("\(sighting.title) was not checked: \(reason)", pack: sighting.id, file: sighting.path)
    }
  }

  static let needlessDelta = ReleaseRule(
    "PK2027", "a delta is not smaller than its pack"
  ) { (listing: Listing, catalogue: WholeCatalogue) -> [Finding] in
    let sizes = Dictionary(listing.entries.map { ($0.id, $0.size) }) { first, _ in first }
    return catalogue.deltas.compactMap { sighting in
      guard let size = sizes[sighting.id], sighting.delta.size >= size else { return nil }
      let texts = SizeText.pair(sighting.delta.size, size)
      return Finding(
        "\(sighting.title) is \(texts.0), and the pack \(texts.1)", pack: sighting.id, file: sighting.path, actual: sighting.delta.size,
        limit: size, hint: "packer build")
    }
  }

  static let largeUpdate = ReleaseRule(
    "PK3023", "an update is larger than packer.yml allows", .error, .budget
  ) { (_: Listing, _: WholeCatalogue, releases: RecordedReleases, configuration: PackerConfiguration) -> [Finding] in
    guard let limit = configuration.updates?.largest else { return [] }
    return releases.downloads.compactMap { update in
      guard update.size > limit, let largest = update.largest else { return nil }
      let sizes = SizeText.pair(limit, update.size)
      return Finding(
        "updates.largestUpdate allows \(sizes.0); players with manifest \(update.manifest) download \(sizes.1) (\(SizeText.short(update.size - limit)) too much), of it \(SizeText.short(largest.size)) for '\(largest.id)', \(way(largest))",
        pack: largest.id, file: configuration.path, actual: update.size, limit: limit,
        details: update.packs.count > 1 ? update.packs.map { "\($0.id): \(SizeText.short($0.size)), \(way($0))" } : [],
        hint: "see why: packer build --dry-run; or raise updates.largestUpdate in \(configuration.path)")
    }
  }

  static let unusedDelta = ReleaseRule(
    "PK5018", "a delta is of no use to any player", .warning
  ) { (listing: Listing, catalogue: WholeCatalogue, releases: RecordedReleases, _: PackerConfiguration) -> [Finding] in
    guard let recorded = releases.roots else { return [] }
    let known = recorded.union(listing.entries.map(\.contentRoot))
    return catalogue.deltas.compactMap { sighting in
      guard let root = sighting.delta.bases.first(where: { !known.contains($0) }) else { return nil }
      return Finding(
        "\(sighting.title) is for content \(root.prefix(8).hex), which no recorded release has", pack: sighting.id, file: sighting.path,
        hint: "packer build")
    }
  }

  static let updateBurden = ReleaseRule(
    "PK6012", "an update is large for a reason that can be mended", .note
  ) { (_: Files, _: WholeCatalogue, _: Payload, releases: RecordedReleases, _: PackerConfiguration) -> [Finding] in
    releases.burdens.map { burden in
      Finding(
        message(burden), pack: burden.id, actual: burden.download, details: burden.paths.count > 1 ? Array(burden.paths.prefix(20)) : [],
        hint: hint(burden.reason))
    }
  }

  private static func differences(_ sighting: DeltaSighting, _ entry: ManifestPack) -> [String] {
    guard let start = sighting.start else { return [] }
    guard sighting.isDelta == true else { return ["it is a full pack"] }
    var differences: [String] = []
    if sighting.isNamed == false { differences.append("its name is not '\(entry.id)'") }
    if start.packVersion != entry.version {
      differences.append("it has version \(start.packVersion), but the pack has \(entry.version)")
    }
    if start.keyID != entry.keyID { differences.append("it was made with key \(start.keyID), but the pack with \(entry.keyID)") }
    if let failure = sighting.failure, failure.code == .wrongBase { differences.append(failure.message) }
    if let root = sighting.contentRoot, root != entry.contentRoot {
      differences.append("it makes content \(root.prefix(8).hex), but the manifest says \(entry.contentRoot.prefix(8).hex)")
    }
    return differences
  }

  private static func way(_ pack: ReleaseUpdate.Pack) -> String {
    pack.isDelta ? "by a delta" : pack.isNew ? "a new pack" : "the full pack"
  }

  private static func message(_ burden: UpdateBurden) -> String {
    let update = "the update from version \(burden.version) is \(SizeText.short(burden.download))"
    let first = "'\(burden.paths.first ?? "")'"
    let files = burden.paths.count > 1 ? "\(first)\(burden.paths.andMore)" : first
    let size = SizeText.short(burden.size)
    return switch burden.reason {
    case .archive: "\(update), and the changed archive \(files) has \(size), which a delta cannot look into"
    case .encodedAgain: "\(update): \(files), \(size), has the size of before and nearly all bytes differ, as if it was encoded again"
    case .stamps: "\(update): \(burden.paths.count) files differ in a few bytes each, such as \(first): a time or a build number in each?"
    }
  }

  private static func hint(_ reason: UpdateBurden.Reason) -> String {
    switch reason {
    case .archive: "put the files of the archive into the pack"
    case .encodedAgain: "keep the encoded files of the last release, if their sources did not change"
    case .stamps: "write the time or build number into one file"
    }
  }
}
