import PackBuild
package import PackFormat
package import PackManifest
import PackStore

/// A release as its server has it.
package struct SimulatedRelease: Sendable {
  /// Its directory or manifest, as the caller named it.
  package let path: String
  /// The manifest as it is served.
  package let document: [UInt8]
  /// What the manifest says, whoever signed it: the extension and the app ask for the signatures themselves.
  package let manifest: Manifest
  private let folder: ReleaseFolder

  /// Reads the manifest of a release. Packs are read when they are downloaded.
  package init(reading path: String) throws(PackError) {
    self.path = path
    folder = ReleaseFolder(path)
    let signed = try SignedManifest.read(folder.manifestPath)
    document = signed.bytes
    manifest = try Manifest(parsingSigned: signed.bytes.span.extracting(signed.signedBytes))
  }

  /// Where the file of a pack lies.
  func file(of pack: ManifestPack) -> String { folder.path(of: pack) }

  /// The names of the packs that tags and names stand for.
  ///
  /// - Throws: ``PackFormat/PackError/Code/unknownPack``, with the nearest of the words there are.
  package func packs(asked: [String]) throws(PackError) -> Set<String> {
    var ids: Set<String> = []
    for word in asked {
      let found = manifest.packs.filter { $0.id == word || $0.tags.contains(word) }.map(\.id)
      guard !found.isEmpty else {
        let words = manifest.packs.flatMap { [$0.id] + $0.tags }
        let nearest = SpellingSuggestion.nearest(to: word, among: words).map { "did you mean '\($0)'?" }
        throw PackError(.unknownPack, "manifest version \(manifest.version) has neither a pack nor a tag '\(word)'", hint: nearest)
      }
      ids.formUnion(found)
    }
    return ids
  }
}
