/// A release on a server.
package struct SimulatedRelease: Sendable {
  /// The path of its directory or manifest, as the caller named it.
  package let path: String
  /// The bytes of the manifest, as served.
  package let document: [UInt8]
  /// The content of the manifest. Its signatures are not checked here, but by the extension and the app.
  package let manifest: Manifest
  /// The packs that the manifest and its catalogue list.
  package let packs: [ManifestPack]
  /// The numbers of the shards of the catalogue that a device would look for and not find.
  let absent: [Int]
  private let folder: ReleaseFolder

  /// Reads the manifest of a release. Packs are read when they are downloaded.
  package init(reading path: String) throws(PackError) {
    self.path = path
    folder = ReleaseFolder(path)
    let signed = try SignedManifest.read(folder.manifestPath)
    document = signed.bytes
    manifest = try Manifest(parsingSigned: signed.bytes.byteSpan.extracting(signed.signedBytes))
    var packs = manifest.packs
    var absent: [Int] = []
    for (number, shard) in manifest.catalogue.enumerated() {
      if let bytes = try ReleaseCatalogue.read(shard, in: folder.directory, files: SystemFiles()) {
        packs += try ShardFile.packs(bytes.byteSpan, number, of: manifest)
      } else {
        // What is missing on the server is missing for the device, too.
        absent.append(number)
      }
    }
    (self.packs, self.absent) = (packs, absent)
  }

  /// Returns the packs that a device with these requests follows.
  func packs(asked: Set<String>, tags: Set<String>) -> [ManifestPack] {
    let known = manifest.packs.count
    return manifest.packs + packs[known...].filter { asked.contains($0.id) || !tags.isDisjoint(with: $0.tags) }
  }

  /// The largest number of on-demand packs that a report lists whether they were requested or not.
  private static let mostListed = 64

  /// Returns the packs that a report lists: those that a device with these requests follows, and if there are few, all others.
  func listed(asked: Set<String>, tags: Set<String>) -> [ManifestPack] {
    packs.count - manifest.packs.count <= Self.mostListed ? packs : packs(asked: asked, tags: tags)
  }

  /// An iPhone that is set to the language of the first pack that has one.
  package var usualDevice: DeviceProfile {
    DeviceProfile(platform: .iOS, languages: packs.lazy.compactMap(\.language).prefix(1).map { $0 })
  }

  /// Returns the path of the file of a pack.
  func file(of pack: ManifestPack) -> String { folder.path(of: pack) }

  /// Returns the path of the file of a delta to a pack.
  func file(of delta: ManifestDelta, to id: String) -> String { folder.path(of: delta, to: id) }

  /// Returns the path of the file of a lead.
  func file(of stream: ManifestStream, of id: String) -> String {
    ReleaseFolder.path(ManifestPack.leadName(id, stream.sha256), in: folder.directory)
  }

  /// Returns the path of the opener of a pack; nil if the release does not have it, because its time is to come.
  func opener(of id: String) -> String? {
    guard let file = packs.first(where: { $0.id == id })?.openerFile else { return nil }
    let path = ReleaseFolder.path(file.name, in: folder.directory)
    return ReleasePlaces.exists(path) ? path : nil
  }

  /// Returns the path of the file of a shard.
  func file(of shard: Shard) -> String { ReleaseCatalogue.path(of: shard, in: folder.directory) }

  /// Returns the ids of the packs that have one of the given ids or tags.
  ///
  /// - Throws: ``PackFormat/PackError/Code/unknownPack``, with the most similar id or tag as a hint, or ``PackFormat/PackError/Code/catalogueNotAvailable``.
  package func packs(asked: [String]) throws(PackError) -> Set<String> {
    var ids: Set<String> = []
    for word in asked {
      let found = packs.filter { $0.id == word || $0.tags.contains(word) }.map(\.id)
      guard !found.isEmpty else {
        guard absent.isEmpty else { throw .missing(absent, of: manifest, for: "'\(word)'") }
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
