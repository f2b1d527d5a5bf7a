extension Pack {
  /// The largest number of deltas over each other that can be read.
  package static let mostDeltas = 3

  /// Opens a delta over its bases (FORMAT.md §13). A full pack is opened as without bases.
  ///
  /// Opening reads the whole delta and what it needs of the bases: it computes the digests of all new contents, and compares the content root. With
  /// digests that were kept, it reads the head and the list only. Then the pack is used like a full one. Memory while opening: 48 bytes for each record
  /// of the bases besides the list of the first one, 64 for each new content, and one window of 4 MiB. An open delta takes about 60 bytes and the path
  /// for each record, and 24 bytes for each content and range of a base. Each concurrent operation takes a window, and what a reader of each base
  /// takes.
  ///
  /// - Parameters:
  ///   - key: that of the delta.
  ///   - bases: the packs or trees that the delta names, in that order. Each may be a delta itself; at most three deltas lie over each other.
  ///   - contentLimit: the maximum size of a delta's content in bytes, for callers that know what to expect.
  ///   - keeper: keeps the digests for the next time.
  /// - Throws: as ``Pack/open(_:key:)``, and ``PackError/Code/wrongBase`` if the bases are not those that the delta names.
  package static func open(
    _ path: String, key: borrowing PackKey, over bases: [any DeltaBase], contentLimit: UInt64 = Limits.contentSizeWithoutManifest,
    keeper: (any DigestKeeper)? = nil, files: any FileSystem = SystemFiles(), backend: any CryptoBackend = CryptoBackends.standard
  ) throws(PackError) -> Pack {
    let start = try PackStart(path, files: files)
    guard start.header.kind == .delta, !bases.isEmpty else { return try Pack(start, path: path, key: key, files: files, backend: backend) }
    let source = try PackSource(start, path: path, key: key, files: files, backend: backend)
    return try DeltaOpening.open(source, over: bases, contentLimit: contentLimit, keeper: keeper)
  }

  /// Opens a delta whose start was read, over its bases, with the key that a provider returns for it.
  ///
  /// - Parameter newFiles: Gets the new contents. Nothing else may be opened with it.
  /// - Throws: as ``open(_:key:over:contentLimit:keeper:files:backend:)``, and the errors of the provider.
  package static func open(
    _ start: PackStart, path: String, keys: some KeyProvider, over bases: [any DeltaBase],
    contentLimit: UInt64 = Limits.contentSizeWithoutManifest, keeper: (any DigestKeeper)? = nil, newFiles: NewFiles? = nil,
    files: any FileSystem, backend: any CryptoBackend
  ) async throws(PackError) -> Pack {
    let key = try await keys.checkedKey(for: KeyRequest(start, path: path))
    return try await WorkerPool.value { (pool) throws(PackError) in
      let source = try PackSource(start, path: path, key: key, files: files, backend: backend)
      return try DeltaOpening.open(
        source, over: bases, contentLimit: contentLimit, keeper: keeper, newFiles: newFiles, checkpoint: pool.checkpoint)
    }
  }

  /// Opens a pack as far as that needs no other: a full one as always; of a delta, the header, the last segment and the head.
  ///
  /// - Throws: the errors of opening a pack.
  package static func openAlone(
    _ path: String, key: borrowing PackKey, files: any FileSystem = SystemFiles()
  ) throws(PackError) -> (start: PackStart, source: PackSource) {
    let start = try PackStart(path, files: files)
    guard start.header.kind == .delta else {
      return (start, try Pack(start, path: path, key: key, files: files, backend: CryptoBackends.standard).source)
    }
    let source = try PackSource(start, path: path, key: key, files: files, backend: CryptoBackends.standard)
    _ = try DeltaOpening.head(source)
    return (start, source)
  }
}

/// What a delta says about itself.
package struct DeltaSummary: Sendable {
  /// Its head.
  package let head: DeltaHead

  /// Reads the head of a delta. Needs no base.
  ///
  /// - Throws: ``PackError/Code/usage`` for a full pack, or the error of the pack.
  package static func read(_ path: String, key: borrowing PackKey, files: any FileSystem = SystemFiles()) throws(PackError) -> DeltaSummary
  {
    let start = try PackStart(path, files: files)
    guard start.header.kind == .delta else { throw PackError(.usage, of: path, "is not a delta") }
    let source = try PackSource(start, path: path, key: key, files: files, backend: CryptoBackends.standard)
    return DeltaSummary(head: try DeltaOpening.head(source))
  }
}
