/// The release that devices get from a place now.
package struct PlacedRelease: Sendable {
  /// The manifest there, which a trusted key signed.
  package let document: SignedManifest
  package let manifest: Manifest
  /// All its packs, those of its catalogue included.
  package let packs: [ManifestPack]

  /// Reads the manifest and the catalogue of a place.
  ///
  /// - Parameter scratch: a directory, which gets the files of the catalogue.
  /// - Throws: ``PackError/Code/missingInput`` if there is no manifest, or ``PackError/Code/releaseConflict`` if it is not one of this product.
  package init(at place: any PublishingPlace, own: OwnManifests, in scratch: String) throws(PackError) {
    (document, manifest) = try Self.manifest(at: place, own: own)
    packs = try Self.packs(of: manifest, at: place, in: scratch)
  }

  /// Reads the manifest of a place, without its catalogue.
  ///
  /// - Throws: As the initializer.
  package static func manifest(at place: any PublishingPlace, own: OwnManifests) throws(PackError) -> (SignedManifest, manifest: Manifest) {
    guard let bytes = try place.contents(of: ReleaseFile.manifest, limit: Manifest.largestSize) else {
      throw PackError(.missingInput, of: place.title, "has no manifest, so nothing was published there", hint: "packer publish")
    }
    let document = try attributing(to: "\(place.title): \(ReleaseFile.manifest)") { () throws(PackError) in try SignedManifest(bytes) }
    let manifest = try document.parsed()
    // One that was released with keys that were dropped since is this product's, too.
    if !own.isTrusted(document), try !own.isRecorded(document, version: manifest.version) {
      let signers = document.signatures.map(\.keyID).joined(separator: ", ")
      throw PackError(
        .releaseConflict, of: place.title, "has a manifest that no trusted key signed: it is signed by \(signers)",
        hint: "name the place of this product with --to, packer.yml with -c, and its signing key with --sign-key")
    }
    return (document, manifest)
  }

  /// Reads the packs of a manifest and of its catalogue.
  static func packs(of manifest: Manifest, at place: any PublishingPlace, in scratch: String) throws(PackError) -> [ManifestPack] {
    try place.fetch(manifest.catalogue.map { ($0.fileName, $0.size) }, to: scratch)
    return try ReleaseCatalogue(manifest, in: scratch).packs
  }

  /// SHA-256 of the signed part, 32 bytes.
  package func signedDigest() throws(PackError) -> [UInt8] { try document.signedDigest() }
}
