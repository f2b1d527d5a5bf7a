/// Unpacks a pack with the same strict checks as verification. For packs from unknown sources, and for inspecting packs by hand.
///
/// An app unpacks with ``Pack/unpack(to:jobs:contentLimit:progress:)``, which needs no libarchive and does not read the tar.
package enum PackUnpacking {
  /// Unpacks `pack` to `directory`, which must be empty or not exist. The tree appears there complete or not at all.
  ///
  /// - Parameters:
  ///   - allowsUnportablePaths: whether to accept paths that some platforms cannot store or treat as equal.
  ///   - jobs: the number of threads. If nil, the number of processors that are online.
  ///   - progress: called after every frame, with bytes of content.
  /// - Throws: the errors of ``PackVerification``, ``PackError/Code/outputExists`` or ``PackError/Code/noSpace``.
  package static func run(
    _ pack: Pack, to directory: String, allowsUnportablePaths: Bool = false, jobs: Int? = nil,
    progress: ProgressHandler? = nil
  ) async throws(PackError) {
    let workers = try WorkerPool.size(for: jobs)
    try pack.checkContentSize(Limits.contentSizeWithoutManifest)
    if !allowsUnportablePaths { try PortabilityCheck.run(pack) }
    try await pack.fill(directory, progress: progress) { (output) async throws(PackError) in
      try await ArchiveComparison.runStrictly(pack, into: output, jobs: workers, phase: .unpacking, progress: progress)
    }
  }
}
