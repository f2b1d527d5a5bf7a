/// A built release, as a source of packs.
package struct ReleaseFolder: Hashable, Sendable {
  /// The path of its manifest.
  package let manifestPath: String
  /// The path of the directory.
  package let directory: String

  /// - Parameter target: the directory that 'packer build' made, or the manifest in it.
  package init(_ target: String) {
    directory = ReleasePlaces.directory(of: target)
    manifestPath = ReleasePlaces.isDirectory(target) ? Self.path(ReleaseFile.manifest, in: target) : target
  }

  /// Returns the path of the file of a pack.
  package func path(of pack: ManifestPack) -> String { Self.path(pack.fileName, in: directory) }

  /// Returns the path of the file of a delta to a pack.
  package func path(of delta: ManifestDelta, to id: String) -> String {
    Self.path(ManifestPack.publishedName(id, delta.sha256), in: directory)
  }

  /// Reads all packs of its manifest, those in its catalogue included.
  ///
  /// - Throws: as ``ReleaseCatalogue/init(_:in:files:)``.
  package func packs(of manifest: Manifest) throws(PackError) -> [ManifestPack] {
    try ReleaseCatalogue(manifest, in: directory).packs
  }

  /// Returns the path of a file in a directory, as a caller would name it.
  package static func path(_ name: String, in directory: String) -> String {
    if directory == "." { return name }
    return directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)"
  }
}
