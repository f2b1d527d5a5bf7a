/// A pack file in `staging` that the store made.
struct RewrittenFile: Sendable {
  let name: String
  let sha256: [UInt8]
  let size: UInt64
}

/// Writes the content of a pack that is read over others as one pack file, and reads it back.
struct PackRewriting: Sendable {
  let directory: StoreDirectory
  let id: String
  /// The largest size of the file in bytes. A larger one is not made.
  let limit: UInt64
  let progress: ProgressHandler?

  /// Returns the number of bytes that there must be room for, of a pack with this size: half as many again, because the lowest level compresses less
  /// than that of most packs, and a block. A larger file is not made.
  static func room(for size: UInt64) -> UInt64 { size.adding(size / 2).adding(4096) }

  /// Writes the file with the pack's own key. A file that was begun remains after an error.
  ///
  /// - Parameters:
  ///   - start: The start of the pack, or of the last delta.
  ///   - open: Opens the pack, after its key is there.
  /// - Throws: ``PackError/Code/wrongKey`` if the provider has only a key for which the pack is wrapped.
  func run(
    to name: String, as start: PackStart, path: String, keys: any KeyProvider, open: () async throws(PackError) -> Pack
  ) async throws(PackError) -> RewrittenFile {
    let given = try await keys.checkedKey(for: KeyRequest(start, path: path))
    guard let key = try given.key(start.stanzas.keyID, ofPack: start.header.packID, backend: directory.backend) else {
      throw PackError(
        .wrongKey, of: "pack '\(id)'",
        "was made with key \(start.stanzas.keyID), and cannot be rewritten with key \(given.id), for which it is wrapped",
        advice: .giveKey(start.stanzas.keyID))
    }
    let pack = try await open()
    let written = directory.path(name)
    let (file, made) = try await WorkerPool.value { (pool) throws(PackError) in
      let file = try write(pack, to: name, key: key, pool: pool)
      // Read as any other pack, so that only what can be read replaces something that can.
      return (file, try Pack(written, key: key, files: directory.files, backend: directory.backend))
    }
    guard made.contentRoot == pack.contentRoot, made.layout.packSize == file.size else {
      throw PackError(.internalError, of: written, "was written with another content")
    }
    try await TreeWalk.run(made, into: nil, jobs: 1, phase: .verifying, progress: progress)
    return file
  }

  private func write(_ pack: Pack, to name: String, key: borrowing PackKey, pool: WorkerPool) throws(PackError) -> RewrittenFile {
    let (files, backend, path) = (directory.files, directory.backend, directory.path(name))
    let output = try writing(path, files.open(name, .create(mode: 0o644), in: directory.handle))
    let header = try PackRewriter.header(of: pack, key: key, backend: backend)
    let stream = try SealedStream(output, path: path, limit: limit, header: header, key: key, files: files, backend: backend)
    try PackRewriter(pack, to: stream, backend: backend, pool: pool, progress: progress).run()
    let sha256 = try stream.finish()
    return RewrittenFile(name: name, sha256: sha256, size: stream.size)
  }
}
