extension Pack {
  /// Verifies the whole pack without writing anything: every tag, every frame, every file's digest, and all rules that a client can check.
  ///
  /// - Parameters:
  ///   - jobs: the number of threads; the number of online processors if nil.
  ///   - contentLimit: the maximum size of the content in bytes, for callers that know what to expect.
  ///   - progress: called for every frame with the bytes of content done so far.
  public func verify(
    jobs: Int? = nil, contentLimit: UInt64 = Limits.contentSize, progress: ProgressHandler? = nil
  ) async throws(PackError) {
    try checkContentSize(contentLimit)
    try await TreeWalk.run(self, into: nil, jobs: jobs, phase: .verifying, progress: progress)
  }

  /// Unpacks the pack to a directory, all or nothing: after an error, a cancellation or a crash, `directory` is as it was before.
  ///
  /// The files are written to a temporary directory next to `directory` that only the current user can read, flushed to disk, and moved into place by
  /// a single rename. Files get the permissions 0644 or 0755, regardless of the process's umask.
  ///
  /// - Parameters:
  ///   - directory: the directory to create. It must not exist, or must be empty.
  ///   - jobs: the number of threads; the number of online processors if nil. Each thread takes the memory of one frame plus 0.5 MiB: 2.5 MiB for
  ///     frames of the default size.
  ///   - contentLimit: the maximum size of the content in bytes, for callers that know what to expect.
  ///   - progress: called for every frame with the bytes of content done so far.
  /// - Throws: ``PackError/Code/outputExists``, ``PackError/Code/noSpace`` with the number of missing bytes, ``PackError/Code/limitExceeded``, or the
  ///   error of a damaged pack.
  public func unpack(
    to directory: String, jobs: Int? = nil, contentLimit: UInt64 = Limits.contentSize,
    progress: ProgressHandler? = nil
  ) async throws(PackError) {
    try checkContentSize(contentLimit)
    try await fill(directory, progress: progress) { (output) async throws(PackError) in
      try await TreeWalk.run(self, into: output, jobs: jobs, phase: .unpacking, progress: progress)
    }
  }

  /// Creates `directory` with what `walk` writes, all or nothing.
  package func fill(
    _ directory: String, progress: ProgressHandler?, walk: (OutputDirectory) async throws(PackError) -> Void
  ) async throws(PackError) {
    let output = try OutputDirectory(directory, files: source.files)
    try await walk(output)
    progress?(PackProgress(phase: .syncing, done: contentSize, total: contentSize))
    try output.commit(mode: 0o755)
  }

  /// Counts what the tree makes on a disk. Reads the whole index, but no content.
  ///
  /// - Throws: ``PackError/Code/limitExceeded`` if the tree is more than a pack may hold.
  package func measureTree() throws(PackError) -> TreeCount {
    var count = TreeCount()
    try attributing(to: source.path) { () throws(PackError) in
      try forEachRecord { (block, row) throws(PackError) in
        try block.withPath(of: row) { (path) throws(PackError) in
          try count.add(path: path, kind: block.kind(of: row), size: block.size(of: row))
        }
      }
    }
    return count
  }

  package func checkContentSize(_ limit: UInt64) throws(PackError) {
    guard contentSize <= limit else {
      throw PackError(
        .limitExceeded, "pack holds \(contentSize) bytes of content, more than the limit of \(limit)"
      ).about(source)
    }
  }
}
