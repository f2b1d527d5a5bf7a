extension Pack {
  /// Opens the pack at `path` with the key that a provider returns for it.
  ///
  /// Reads the ids of the keys that open the pack, asks the provider for one of them, and opens the pack off the cooperative thread pool. Only what is needed to read
  /// the pack is kept in memory; the key itself is not.
  ///
  /// - Throws: the errors of ``open(_:key:)``, the errors of the provider, ``PackError/Code/wrongKey`` if the provider returns a key with another id,
  ///   or ``PackError/Code/cancelled``.
  public static func open(_ path: String, keys: some KeyProvider) async throws(PackError) -> Pack {
    try await open(path, keys: keys, files: SystemFiles(), backend: CryptoBackends.standard)
  }

  /// - Parameter arrival: what says which bytes of the file are here. Its header, last segment, seek table and head of the index are.
  package static func open(
    _ path: String, keys: some KeyProvider, files: any FileSystem, backend: any CryptoBackend, arrival: (any PackArrival)? = nil
  ) async throws(PackError) -> Pack {
    let start = try await WorkerPool.value { (_) throws(PackError) in try PackStart(path, files: files) }
    let key = try await keys.checkedKey(for: KeyRequest(start, path: path))
    return try await WorkerPool.value { (_) throws(PackError) in
      try Pack(start, path: path, key: key, files: files, backend: backend, arrival: arrival)
    }
  }
}

extension KeyRequest {
  /// Creates the request for the key of a pack whose start was read.
  package init(_ start: PackStart, path: String) {
    self.init(
      keyID: start.stanzas.keyID, packID: start.header.packID, packVersion: start.header.packVersion,
      recipientIDs: start.stanzas.recipientIDs, path: path)
  }
}
