/// A built release, as a source of packs.
package struct ReleaseFolder: Hashable, Sendable {
  /// The path of its manifest.
  package let manifestPath: String
  private let directory: String

  /// - Parameter target: the directory that 'packer build' made, or the manifest in it.
  package init(_ target: String) {
    directory = ReleasePlaces.directory(of: target)
    manifestPath = ReleasePlaces.isDirectory(target) ? Self.path(ReleaseFile.manifest, in: target) : target
  }

  /// The pages of the release.
  package var pages: PageFolder { PageFolder(directory) }

  /// Returns the id in the published name of a pack, or nil if the file has another name.
  static func id(ofFile path: String) -> String? {
    guard let name = path.split(separator: "/").last, name.hasSuffix(".pack"), let dash = name.lastIndex(of: "-") else { return nil }
    return String(name[..<dash])
  }

  /// Returns the path of the file of a pack.
  package func path(of pack: ManifestPack) -> String { Self.path(pack.fileName, in: directory) }

  /// Returns the path of the file of a delta to a pack.
  package func path(of delta: ManifestDelta, to id: String) -> String {
    Self.path(ManifestPack.publishedName(id, delta.sha256), in: directory)
  }

  /// Reads all packs of its manifest, those in pages included.
  ///
  /// - Throws: as ``ReleaseCatalogue/init(_:in:files:)``.
  package func packs(of manifest: Manifest) throws(PackError) -> [ManifestPack] {
    try ReleaseCatalogue(manifest, in: directory, kinds: ReleaseCatalogue.ofPacks).packs
  }

  /// Returns the path of the file of a page.
  package func path(of page: PageReference) -> String { Self.path(page.fileName, in: directory) }

  /// Returns the pack in the manifest whose file has the same name as the given file.
  ///
  /// - Throws: ``PackError/Code/unknownPack`` if no pack has a file of that name.
  package static func pack(ofFile path: String, in manifest: Manifest) throws(PackError) -> ManifestPack {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    guard let pack = manifest.packs.first(where: { $0.fileName == name }) else {
      throw PackError(
        .unknownPack, "manifest version \(manifest.version) names no file '\(name)'", hint: "name the pack with --as ID")
    }
    return pack
  }

  /// Returns the path of a file in a directory, as a caller would name it.
  package static func path(_ name: String, in directory: String) -> String {
    if directory == "." { return name }
    return directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)"
  }
}
