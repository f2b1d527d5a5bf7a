extension FileSystem {
  /// Whether nothing is at a path. Returns false if that cannot be determined.
  func isMissing(_ path: String, following links: LinkPolicy) -> Bool {
    do throws(FileFailure) { return try ifPresent(status(of: path, in: nil, following: links)) == nil } catch { return false }
  }
}

/// Copies files.
package enum FileCopy {
  /// Copies a file. The copy appears whole or not at all, over an earlier file.
  ///
  /// - Parameter isSearched: as for an ``OutputFile``.
  package static func run(_ source: String, to place: String, isSearched: Bool = false, files: any FileSystem) throws(PackError) {
    let (file, status) = try files.openFile(source)
    let output = try OutputFile(place, isSearched: isSearched, files: files)
    try output.reserve(status.size)
    try read(file, size: status.size, name: source, files: files) { (piece, offset) throws(PackError) in
      try output.write(piece, at: offset, of: status.size)
    }
    try output.commit()
  }

  /// Reads a file that is to be copied. Ends if the task is cancelled.
  static func read(
    _ file: OpenFile, size: UInt64, name: String, files: any FileSystem, _ body: (Span<UInt8>, UInt64) throws(PackError) -> Void
  ) throws(PackError) {
    do throws(PackError) {
      try files.forEachPiece(of: file, 0..<size, name: name, checkpoint: Task.checkpoint, body)
    } catch {
      throw error.code == .truncated ? PackError(.sourceChanged, of: name, "became shorter while it was read") : error
    }
  }
}
