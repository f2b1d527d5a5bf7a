import Foundation

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

  /// Returns whether the app has a file with the name of a pack.
  func contains(_ pack: ManifestPack) -> Bool {
    (try? SystemFiles().status(of: directory.appendingPathComponent(pack.fileName).path, in: nil, following: .followed))?.kind == .file
  }

  /// Returns a shard of a catalogue that the app contains, or nil. It may be another file: its reader checks it.
  func file(of shard: Shard) -> [UInt8]? {
    try? SystemFiles().contents(of: directory.appendingPathComponent(shard.fileName).path, limit: Int(shard.size))
  }

  /// Installs a pack that the app contains, if the app has exactly these bytes.
  ///
  /// - Returns: Whether it was installed.
  func install(_ pack: ManifestPack, in store: AssetStore) async throws(PackError) -> Bool {
    let file = directory.appendingPathComponent(pack.fileName).path
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
