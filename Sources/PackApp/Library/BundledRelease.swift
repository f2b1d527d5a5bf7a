import Foundation
import PackFiles
import PackFormat
import PackManifest
import PackStore
import PackWork

/// A release inside the app: a manifest and packs, as `packer build` wrote them.
struct BundledRelease: Sendable {
  /// The bytes of its manifest.
  let document: [UInt8]
  private let directory: URL

  /// - Throws: ``PackError/Code/missingInput`` if the directory has no `manifest.json`.
  init(_ directory: URL) throws(PackError) {
    self.directory = directory
    let path = directory.appendingPathComponent("manifest.json").path
    document = try SignedManifest.read(path).bytes
  }

  /// Installs a pack from the app, if the app has exactly these bytes.
  ///
  /// - Returns: Whether it was installed.
  func install(_ pack: ManifestPack, in store: AssetStore) async throws(PackError) -> Bool {
    let file = directory.appendingPathComponent(pack.fileName).path
    guard (try? SystemFiles().status(of: file, in: nil, following: .followed))?.kind == .file else { return false }
    do throws(PackError) {
      try await store.install(file, as: pack.id, taking: .copying)
      return true
    } catch {
      // Another file of that name: the pack is downloaded.
      guard [.digestMismatch, .wrongPack, .truncated].contains(error.code) else { throw error }
      return false
    }
  }
}
