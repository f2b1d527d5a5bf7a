/// What the manifest of an earlier release said of its packs: delivery, install mode, tags, language, platforms and words for people.
struct EarlierSettings {
  private let entries: [String: ManifestPack]

  /// Reads the copy of the manifest at a place. If it was pruned, nothing is known.
  ///
  /// - Parameters:
  ///   - there: the names of the files at the place.
  ///   - scratch: gets its files.
  init(
    of release: ReleaseLock.Release, at place: any PublishingPlace, among there: some Sequence<String>, in scratch: String
  ) throws(PackError) {
    let names = there.filter { ManifestCopy.version($0) == release.manifestVersion }.sorted()
    _ = try place.bring(names.map { ($0, UInt64(Manifest.largestSize)) }, to: scratch)
    var entries: [String: ManifestPack] = [:]
    for name in names {
      guard let bytes = try? SystemFiles().contents(of: ReleaseFolder.path(name, in: scratch), limit: Manifest.largestSize),
        let signed = try? SignedManifest(bytes),
        // The record says that it is the one that was released.
        try signed.signedDigest() == release.signedDigest
      else { continue }
      let manifest = try signed.parsed()
      _ = try place.bring(manifest.catalogue.map { ($0.fileName, $0.size) }, to: scratch)
      for pack in try ReleaseCatalogue(manifest, in: scratch).packs { entries[pack.id] = pack }
    }
    self.entries = entries
  }

  /// Gives packs the settings that they had. A pack that the configuration does not have any more is added.
  ///
  /// - Returns: a line for each pack whose settings are others than in the configuration.
  func apply(to configuration: inout PackerConfiguration) throws(PackError) -> [String] {
    var changes: [String] = []
    let indices = Dictionary(configuration.packs.enumerated().map { ($1.id.text, $0) }) { first, _ in first }
    for (id, entry) in entries.sorted(by: { $0.key < $1.key }) {
      let isGone = indices[id] == nil
      if isGone { configuration.packs.append(.released(try PackName(id))) }
      let index = indices[id] ?? configuration.packs.count - 1
      let before = configuration.packs[index]
      var pack = before
      (pack.delivery, pack.install, pack.tags) = (entry.delivery, entry.install, entry.tags)
      (pack.language, pack.platforms) = (entry.language, entry.platforms)
      (pack.hasVersionKeys, pack.opens) = (entry.opener != nil, entry.opener?.opens)
      (pack.name, pack.description) = (entry.name.isEmpty ? id : entry.name, entry.description)
      configuration.packs[index] = pack
      var parts: [String] = []
      if pack.delivery != before.delivery { parts.append("delivery \(before.delivery.rawValue) → \(pack.delivery.rawValue)") }
      if pack.install != before.install { parts.append("install \(before.install.rawValue) → \(pack.install.rawValue)") }
      if pack.tags != before.tags { parts.append("tags") }
      if pack.language != before.language { parts.append("language") }
      if pack.platforms != before.platforms { parts.append("platforms") }
      if isGone { parts = ["comes back"] }
      if !parts.isEmpty { changes.append("\(id): \(parts.joined(separator: ", "))") }
    }
    return changes
  }
}
