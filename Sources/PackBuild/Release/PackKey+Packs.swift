extension PackKey {
  /// Returns whether the key of a pack is derived from this key.
  package func isRoot(of entry: ManifestPack) -> Bool {
    guard "\(id)" != entry.keyID, let name = try? PackName(entry.id), let own = try? packKey(for: name) else { return false }
    return "\(own.id)" == entry.keyID
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
