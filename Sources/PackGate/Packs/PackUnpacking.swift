package import PackFormat
package import PackReading
import PackWork

/// Unpacks a pack as strictly as it is verified: for people who look at a pack, or do not know who made it.
///
/// An app unpacks with ``Pack/unpack(to:jobs:contentLimit:progress:)``, which needs no libarchive and never looks at the tar.
package enum PackUnpacking {
  /// Unpacks `pack` to `directory`, which must not exist or be empty and appears whole or not at all.
  ///
  /// - Parameters:
  ///   - allowsUnportablePaths: whether paths are accepted that some platforms cannot hold, or take for one another.
  ///   - jobs: the number of threads; the processors that are online where it is nil.
  ///   - progress: hears of every frame, in bytes of content.
  /// - Throws: what ``PackVerification`` throws, ``PackError/Code/outputExists`` or ``PackError/Code/noSpace``.
  package static func run(
    _ pack: Pack, to directory: String, allowsUnportablePaths: Bool = false, jobs: Int? = nil,
    progress: ProgressHandler? = nil
  ) async throws(PackError) {
    let workers = try WorkerPool.size(for: jobs)
    try pack.checkContentSize(Limits.contentSizeWithoutManifest)
    if !allowsUnportablePaths { try PortabilityCheck.run(pack) }
    try await pack.fill(directory, progress: progress) { (output) async throws(PackError) in
      try await ArchiveComparison.run(pack, into: output, jobs: workers, phase: .unpacking, progress: progress)
    }
  }
}
