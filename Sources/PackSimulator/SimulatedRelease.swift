/// A release on a server.
package struct SimulatedRelease: Sendable {
  /// The path of its directory or manifest, as the caller named it.
  package let path: String
  /// The bytes of the manifest, as served.
  package let document: [UInt8]
  /// The content of the manifest. Its signatures are not checked here, but by the extension and the app.
  package let manifest: Manifest
  /// The packs that the manifest and its pages list.
  package let packs: [ManifestPack]
  /// The deltas that its pages list.
  package let updates: [PackUpdates]
  /// All pages that are published, index pages included.
  let pages: [PageReference]
  /// The pages of packs that are missing, so that not all packs are known.
  private let missing: [PageReference]
  /// The pages that a device would look for and not find: those of packs, of tags and of deltas.
  let absent: [PageReference]
  private let folder: ReleaseFolder

  /// Reads the manifest of a release. Packs are read when they are downloaded.
  package init(reading path: String) throws(PackError) {
    self.path = path
    folder = ReleaseFolder(path)
    let signed = try SignedManifest.read(folder.manifestPath)
    document = signed.bytes
    manifest = try Manifest(parsingSigned: signed.bytes.byteSpan.extracting(signed.signedBytes))
    let files = folder.pages
    var further: [ManifestPack] = []
    var updates: [PackUpdates] = []
    var pages: [PageReference] = []
    var missing: [PageReference] = []
    var absent: [PageReference] = []
    for kind in PageKind.known {
      let finding = try PageSearch(manifest).all(kind, in: files.read) { (content) throws(PackError) in
        switch content {
        case .packs(let packs): further += packs
        case .updates(let listed): updates += listed
        case .tags, .index: break
        }
      }
      switch finding {
      case .found(let references): pages += references
      // A page that is missing on the server is missing for the device, too.
      case .needs(let needed):
        pages += manifest.pages.filter { $0.kind == kind }
        absent += needed
        // The entries of packs have their tags, too.
        if kind == .packs { missing = needed }
      }
    }
    self.missing = missing
    self.absent = absent
    packs = manifest.packs + further
    self.updates = updates
    self.pages = pages
  }

  /// Returns the packs that a device with these requests follows.
  func packs(asked: Set<String>, tags: Set<String>) -> [ManifestPack] {
    let known = manifest.packs.count
    return manifest.packs + packs[known...].filter { asked.contains($0.id) || !tags.isDisjoint(with: $0.tags) }
  }

  /// An iPhone that is set to the language of the first pack that has one.
  package var usualDevice: DeviceProfile {
    DeviceProfile(platform: .iOS, languages: packs.lazy.compactMap(\.language).prefix(1).map { $0 })
  }

  /// Returns the path of the file of a pack.
  func file(of pack: ManifestPack) -> String { folder.path(of: pack) }

  /// Returns the path of the file of a delta to a pack.
  func file(of delta: ManifestDelta, to id: String) -> String { folder.path(of: delta, to: id) }

  /// Returns the path of the file of a page.
  func file(of page: PageReference) -> String { folder.path(of: page) }

  /// Returns the ids of the packs that have one of the given ids or tags.
  ///
  /// - Throws: ``PackFormat/PackError/Code/unknownPack``, with the most similar id or tag as a hint, or ``PackFormat/PackError/Code/missingPages``.
  package func packs(asked: [String]) throws(PackError) -> Set<String> {
    var ids: Set<String> = []
    for word in asked {
      let found = packs.filter { $0.id == word || $0.tags.contains(word) }.map(\.id)
      guard !found.isEmpty else {
        guard missing.isEmpty else { throw .missing(missing, for: "'\(word)'") }
        let words = packs.flatMap { [$0.id] + $0.tags }
        let nearest = SpellingSuggestion.nearest(to: word, among: words).map { "did you mean '\($0)'?" }
        throw PackError(.unknownPack, "manifest version \(manifest.version) has neither a pack nor a tag '\(word)'", hint: nearest)
      }
      ids.formUnion(found)
    }
    return ids
  }

  /// Returns those of some words that are tags of packs.
  package func tags(asked: [String]) -> Set<String> { Set(packs.lazy.flatMap(\.tags)).intersection(asked) }
}
