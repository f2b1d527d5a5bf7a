public import PackFormat
public import PackManifest
import PackRuntime

/// A release that was built, as a place to take packs from.
public struct ReleaseFolder: Hashable, Sendable {
  /// The path of its manifest.
  public let manifestPath: String
  private let directory: String

  /// - Parameter target: the directory that 'packer build' made, or the manifest in it.
  public init(_ target: String) {
    directory = ReleaseVerification.directory(of: target)
    manifestPath = ReleaseVerification.isDirectory(target) ? Self.path(ReleaseFile.manifest, in: target) : target
  }

  /// Where the file of a pack lies.
  public func path(of pack: ManifestPack) -> String { Self.path(pack.fileName, in: directory) }

  /// The pack of a manifest that a file is by its name.
  ///
  /// - Throws: ``PackError/Code/unknownPack`` where no pack has a file of that name.
  public static func pack(ofFile path: String, in manifest: Manifest) throws(PackError) -> ManifestPack {
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
