package import PackFormat
package import PackManifest
import PackProject
import PackStore

/// A release that was built, as a place to take packs from.
package struct ReleaseFolder: Hashable, Sendable {
  /// The path of its manifest.
  package let manifestPath: String
  private let directory: String

  /// - Parameter target: the directory that 'packer build' made, or the manifest in it.
  package init(_ target: String) {
    directory = ReleasePlaces.directory(of: target)
    manifestPath = ReleasePlaces.isDirectory(target) ? Self.path(ReleaseFile.manifest, in: target) : target
  }

  /// Where the file of a pack lies.
  package func path(of pack: ManifestPack) -> String { Self.path(pack.fileName, in: directory) }

  /// The pack of a manifest that a file is by its name.
  ///
  /// - Throws: ``PackError/Code/unknownPack`` where no pack has a file of that name.
  package static func pack(ofFile path: String, in manifest: Manifest) throws(PackError) -> ManifestPack {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    guard let pack = manifest.packs.first(where: { $0.fileName == name }) else {
      throw PackError(
        .unknownPack, "manifest version \(manifest.version) names no file '\(name)'", hint: "say which pack it is with --as ID")
    }
    return pack
  }

  private static func path(_ name: String, in directory: String) -> String {
    if directory == "." { return name }
    return directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)"
  }
}
