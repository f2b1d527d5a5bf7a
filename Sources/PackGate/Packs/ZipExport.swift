/// Writes files of a pack as a zip, in the form in which web portals take games.
package enum ZipExport {
  /// Writes all files of a pack, in the byte order of their paths. Each is compared with its digest. Empty directories are left out.
  ///
  /// The output appears whole or not at all, and is readable by its owner only. The same content gives the same bytes with the same libarchive.
  ///
  /// - Parameter allowsUnportablePaths: whether to accept paths that some platforms cannot store or treat as equal.
  /// - Returns: the length of the output in bytes, and the number of files.
  package static func run(
    _ pack: Pack, to output: String, allowsUnportablePaths: Bool = false, progress: ProgressHandler? = nil
  ) async throws(PackError) -> (size: UInt64, files: Int) {
    if !allowsUnportablePaths { try PortabilityCheck.run(pack) }
    let file = try OutputFile(output, mode: 0o600, files: pack.source.files)
    let counter = ProgressCounter(.unpacking, total: pack.contentSize, handler: progress)
    let result = Monitor((size: 0 as UInt64, files: 0))
    try await WorkerPool.run(1) { (pool, _) throws(PackError) in
      let written = try write(pack, { _ in true }) { (piece) throws(PackError) in
        try pool.checkpoint()
        counter.add(UInt64(piece))
      } into: { (bytes, offset) throws(PackError) in
        try file.write(bytes, at: offset, of: offset + UInt64(bytes.count))
      }
      result.update { $0 = written }
    }
    try file.commit()
    return result.withLock { $0 }
  }

  /// Returns the size of a zip of some files, in bytes.
  static func size(of paths: Set<String>, in pack: Pack) throws(PackError) -> UInt64 {
    try write(pack, paths.contains, afterPiece: { _ in }, into: { _, _ in }).size
  }

  private static func write(
    _ pack: Pack, _ isWanted: (String) -> Bool, afterPiece: (Int) throws(PackError) -> Void,
    into sink: @escaping (Span<UInt8>, _ offset: UInt64) throws(PackError) -> Void
  ) throws(PackError) -> (size: UInt64, files: Int) {
    var (size, files) = (0 as UInt64, 0)
    let writer = try ZipWriter { (bytes) throws(PackError) in
      try sink(bytes, size)
      size += UInt64(bytes.count)
    }
    try pack.forEachEntry { (entry) throws(PackError) in
      guard entry.kind == .file, isWanted(entry.path) else { return }
      files += 1
      try writer.begin(entry.path, size: entry.size)
      try pack.read(entry) { (piece) throws(PackError) in
        try writer.write(piece)
        try afterPiece(piece.count)
      }
    }
    try writer.finish()
    return (size, files)
  }
}
