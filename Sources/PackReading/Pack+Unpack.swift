package import PackFiles

extension Pack {
  /// Reads all of the pack and writes nothing: every tag, every frame, every file's digest, and all rules that a client can check.
  ///
  /// - Parameters:
  ///   - jobs: the number of threads; the processors that are online where it is nil.
  ///   - contentLimit: the bytes of content that are accepted, for callers that know what to expect.
  ///   - progress: hears of every frame, in bytes of content.
  public func verify(
    jobs: Int? = nil, contentLimit: UInt64 = Limits.contentSizeWithoutManifest, progress: ProgressHandler? = nil
  ) async throws(PackError) {
    try checkContentSize(contentLimit)
    try await TreeWalk.run(self, into: nil, jobs: jobs, phase: .verifying, progress: progress)
  }

  /// Unpacks the tree. `directory` appears whole or not at all: an error, a cancelled task or a crash leave what was there before.
  ///
  /// The tree is written beside its place, readable by nobody else, brought to the disk, and moved into its place by one rename. Files get the
  /// permissions 0644 or 0755, whatever the process's mask.
  ///
  /// - Parameters:
  ///   - directory: where the tree goes. It must not exist, or be an empty directory.
  ///   - jobs: the number of threads; the processors that are online where it is nil. Each takes one frame and 0.5 MiB:
  ///     2.5 MiB where frames have the default size.
  ///   - contentLimit: the bytes of content that are accepted, for callers that know what to expect.
  ///   - progress: hears of every frame, in bytes of content.
  /// - Throws: ``PackError/Code/outputExists``, ``PackError/Code/noSpace`` with the bytes that are missing, ``PackError/Code/limitExceeded``, or the error of a damaged pack.
  public func unpack(
    to directory: String, jobs: Int? = nil, contentLimit: UInt64 = Limits.contentSizeWithoutManifest,
    progress: ProgressHandler? = nil
  ) async throws(PackError) {
    try checkContentSize(contentLimit)
    try await fill(directory, progress: progress) { (output) async throws(PackError) in
      try await TreeWalk.run(self, into: output, jobs: jobs, phase: .unpacking, progress: progress)
    }
  }

  /// Makes `directory` appear with what `walk` writes, whole or not at all.
  package func fill(
    _ directory: String, progress: ProgressHandler?, walk: (OutputDirectory) async throws(PackError) -> Void
  ) async throws(PackError) {
    let output = try OutputDirectory(directory, files: source.files)
    try output.checkSpace(contentSize)
    try await walk(output)
    progress?(PackProgress(phase: .syncing, done: contentSize, total: contentSize))
    try output.commit()
  }

  package func checkContentSize(_ limit: UInt64) throws(PackError) {
    guard contentSize <= limit else {
      throw PackError(
        .limitExceeded, "pack holds \(contentSize) bytes of content, more than the \(limit) that are accepted"
      ).about(source)
    }
  }
}
