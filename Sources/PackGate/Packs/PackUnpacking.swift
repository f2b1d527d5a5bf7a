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
    if !allowsUnportablePaths { try PortabilityCheck.run(pack) }
    try await pack.fill(directory, progress: progress) { (output) async throws(PackError) in
      try await ArchiveComparison.run(pack, into: output, jobs: workers, phase: .unpacking, progress: progress)
    }
  }

  /// Applies a delta to the packs or trees that it was made for, and makes `directory` with what it leads to. The tree appears there complete or not at all.
  ///
  /// - Parameter bases: what the delta names, in that order.
  /// - Throws: the errors of ``PackStore/DeltaUnpacking``, ``PackError/Code/outputExists`` or ``PackError/Code/noSpace``.
  package static func run(
    _ delta: DeltaPack, over bases: [any DeltaBase], to directory: String, allowsUnportablePaths: Bool = false, jobs: Int? = nil,
    progress: ProgressHandler? = nil
  ) async throws(PackError) -> UnpackedDelta {
    let unpacking = DeltaUnpacking(delta, over: bases, jobs: jobs, progress: progress)
    let made = try await unpacking.run(contentLimit: Limits.contentSize) { (target, tree) throws(PackError) in
      if !allowsUnportablePaths { try PortabilityCheck.run(target, delta.source.path) }
      let output = try OutputDirectory(directory, files: delta.source.files)
      try output.checkSpace(tree.diskSize, files: tree.itemCount)
      return output
    }
    try made.output.commit(mode: 0o755)
    return made
  }
}
