package import PackCrypto
import PackFiles
package import PackFormat
package import PackProject
package import PackReading
import PackWork

/// Looks at a whole pack before it is released: with the code that will read it on a device, with libarchive as an outsider, and
/// against the directory it was made from.
package enum PackVerification {
  /// Verifies the pack at `path`.
  ///
  /// Every tag, every frame and every digest is checked; the tar is read by libarchive as well, and must hold exactly the entries of the index.
  ///
  /// - Parameters:
  ///   - key: the key that the pack names, or the root key from which that was made.
  ///   - name: the name that the pack must have been made under, if that is to be checked.
  ///   - tree: the directory that the pack should hold, if that is to be compared.
  ///   - excludes: the patterns that were excluded when the pack was made.
  ///   - followsSymlinks: whether links were followed when the pack was made.
  ///   - allowsUnportablePaths: whether paths are accepted that some platforms cannot hold, or take for one another.
  ///   - jobs: the number of threads; the processors that are online where it is nil.
  ///   - progress: hears of every frame, in bytes of content.
  /// - Returns: what was seen, and how tree and pack differ.
  /// - Throws: ``PackError`` where the pack is not fit to be released.
  package static func run(
    _ path: String, key: borrowing PackKey, name: PackName? = nil, against tree: String? = nil, excludes: [String] = [],
    followsSymlinks: Bool = false, allowsUnportablePaths: Bool = false, jobs: Int? = nil, progress: ProgressHandler? = nil
  ) async throws(PackError) -> VerificationReport {
    let pack = try Pack.open(path, key: key)
    if let name { try pack.checkName(name) }
    return try await run(
      pack, against: tree, excludes: excludes, followsSymlinks: followsSymlinks,
      allowsUnportablePaths: allowsUnportablePaths, jobs: jobs, progress: progress)
  }

  package static func run(
    _ pack: Pack, against tree: String? = nil, excludes: [String] = [], followsSymlinks: Bool = false,
    allowsUnportablePaths: Bool = false, jobs: Int? = nil, progress: ProgressHandler? = nil
  ) async throws(PackError) -> VerificationReport {
    let workers = try WorkerPool.size(for: jobs)
    try pack.checkContentSize(Limits.contentSizeWithoutManifest)
    if !allowsUnportablePaths { try PortabilityCheck.run(pack) }
    try await ArchiveComparison.run(pack, jobs: workers, phase: .verifying, progress: progress)
    var findings: [TreeDifference] = []
    if let tree {
      findings = try await TreeComparison.run(
        pack, tree, excludes: excludes, followsSymlinks: followsSymlinks, jobs: workers)
    }
    return VerificationReport(
      packSize: pack.layout.packSize, contentSize: pack.contentSize, entries: pack.entryCount,
      segments: pack.layout.segmentCount, keyID: pack.keyID, contentRoot: pack.contentRoot, findings: findings)
  }
}

/// What ``PackVerification`` saw.
package struct VerificationReport: Sendable {
  /// The size of the pack in bytes.
  package let packSize: UInt64
  /// The sum of the sizes of all files in bytes.
  package let contentSize: UInt64
  /// The number of files and empty directories.
  package let entries: Int
  /// The number of segments whose tags were checked.
  package let segments: UInt64
  /// The key that opens the pack.
  package let keyID: KeyID
  /// The digest that names the tree, 32 bytes.
  package let contentRoot: [UInt8]
  /// How the tree differs from the pack, in the order of the paths; empty where no tree was compared.
  package let findings: [TreeDifference]
}
