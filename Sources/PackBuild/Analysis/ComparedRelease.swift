/// A release to be compared with another one: a built one, or the record of an earlier one.
package struct ComparedRelease: Sendable {
  /// What it is called in reports.
  package let title: String
  /// The version of its manifest.
  package let manifestVersion: UInt64
  /// Its packs, in ascending order of their ids.
  package let packs: [ReleaseLock.Pack]
  /// What only a built release has.
  package let offer: Offer?
  /// The directories in which files of packs may be, in the order in which they are looked for.
  private let directories: [String]

  /// What a manifest and its catalogue say.
  package struct Offer: Sendable {
    /// The entries of all packs.
    package let entries: [ManifestPack]
    /// The size of the manifest in bytes.
    package let manifestSize: UInt64
    /// When the manifest was signed, if it says so.
    package let issued: ManifestTime?
    /// Until when devices take it.
    package let expires: ManifestTime
  }

  /// Reads the manifest of a release and its catalogue. Signatures are not checked.
  ///
  /// - Parameter target: the directory that `packer build` made, or the manifest in it.
  /// - Throws: ``PackError/Code/damagedManifest``, or as ``ReleaseCatalogue/init(_:in:files:)``.
  package init(reading target: String) throws(PackError) {
    let folder = ReleaseFolder(target)
    let signed = try SignedManifest.read(folder.manifestPath)
    let manifest = try attributing(to: folder.manifestPath) { () throws(PackError) in
      try Manifest(parsingSigned: signed.bytes.byteSpan.extracting(signed.signedBytes))
    }
    let directory = ReleasePlaces.directory(of: target)
    let catalogue = try ReleaseCatalogue(manifest, in: directory)
    title = "\(target), manifest \(manifest.version)"
    manifestVersion = manifest.version
    packs = catalogue.packs.map { entry in
      ReleaseLock.Pack(
        id: entry.id, version: entry.version, size: entry.size, sha256: entry.sha256, contentRoot: entry.contentRoot, keyID: entry.keyID,
        settings: "", created: entry.created ?? manifest.issued ?? manifest.expires)
    }.sorted { $0.id.precedes($1.id) }
    offer = Offer(
      entries: catalogue.packs, manifestSize: UInt64(signed.bytes.count), issued: manifest.issued, expires: manifest.expires)
    directories = [directory]
  }

  /// Takes a release that was recorded.
  ///
  /// - Parameters:
  ///   - folder: Where the packs of recorded releases are.
  ///   - dist: The directory of a later release, which has the packs that did not change.
  package init(_ release: ReleaseLock.Release, in folder: ReleasedPacks, or dist: String?) {
    title = "manifest \(release.manifestVersion), as it was recorded"
    manifestVersion = release.manifestVersion
    packs = release.packs.filter { !$0.isRemoved }.sorted { $0.id.precedes($1.id) }
    offer = nil
    directories = [folder.directory] + (dist.map { [$0] } ?? [])
  }

  /// Returns the path of the file of a pack; nil if it is missing.
  package func path(of pack: ReleaseLock.Pack) -> String? { path(ManifestPack.publishedName(pack.id, pack.sha256)) }

  /// Returns the path of the file of a delta to a pack; nil if it is missing.
  func path(of delta: ManifestDelta, to id: String) -> String? { path(ManifestPack.publishedName(id, delta.sha256)) }

  private func path(_ name: String) -> String? {
    directories.lazy.map { ReleaseFolder.path(name, in: $0) }.first(where: ReleasePlaces.exists)
  }
}
