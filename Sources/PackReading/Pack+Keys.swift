package import PackFiles
import PackWork

extension Pack {
  /// Opens the pack at `path` with the key that a provider has for it.
  ///
  /// Reads which key the pack names, asks for that one, and opens off the cooperative pool. Nothing is kept of the key but what reads the pack.
  ///
  /// - Throws: what ``open(_:key:)`` throws, what the provider throws, ``PackError/Code/wrongKey`` where it returns another key than was asked for, and
  ///   ``PackError/Code/cancelled``.
  public static func open(_ path: String, keys: some KeyProvider) async throws(PackError) -> Pack {
    try await open(path, keys: keys, files: SystemFiles(), backend: CryptoBackends.standard)
  }

  package static func open(
    _ path: String, keys: some KeyProvider, files: any FileSystem, backend: any CryptoBackend
  ) async throws(PackError) -> Pack {
    let start = try await WorkerPool.value { (_) throws(PackError) in try PackStart(path, files: files) }
    let request = KeyRequest(keyID: start.stanzas.keyID, packID: start.header.packID, path: path)
    let key = try await keys.checkedKey(for: request)
    return try await WorkerPool.value { (_) throws(PackError) in
      try Pack(start, path: path, key: key, files: files, backend: backend)
    }
  }
}
