extension PackKey {
  /// Returns whether the key of a pack, or of its version, is derived from this key.
  package func isRoot(of entry: ManifestPack) -> Bool {
    guard "\(id)" != entry.keyID, let wanted = KeyID(entry.keyID), let name = try? PackName(entry.id),
      let packID = try? PackID.bytes(for: name)
    else { return false }
    do throws(PackError) {
      guard let found = try key(wanted, ofPack: packID, version: entry.version) else { return false }
      return found.id == wanted
    } catch {
      return false
    }
  }

  /// Opens a pack.
  package func open(_ path: String, files: any FileSystem) throws(PackError) -> Pack {
    try Pack(path, key: self, files: files, backend: CryptoBackends.standard)
  }

  /// Opens a delta.
  package func openDelta(_ path: String, files: any FileSystem) throws(PackError) -> DeltaPack {
    try DeltaPack.open(path, key: self, files: files)
  }
}
