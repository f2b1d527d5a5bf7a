/// Verifies all bytes of a pack before it is released: with the client library, with libarchive as an independent reader, and against the directory
/// it was made from.
package enum PackVerification {
  /// Verifies the pack at `path`.
  ///
  /// Checks every tag, every frame and every digest. libarchive also reads the tar, which must contain exactly the entries of the index.
  ///
  /// - Parameters:
  ///   - key: the key that the pack names, or the root key from which that key is derived.
  ///   - name: the name that the pack must have been made with; nil to skip this check.
  ///   - tree: the directory to compare the pack with; nil to skip the comparison.
  ///   - excludes: the patterns that were excluded when the pack was made.
  ///   - followsSymlinks: whether links were followed when the pack was made.
  ///   - allowsUnportablePaths: whether to accept paths that some platforms cannot store or treat as equal.
  ///   - jobs: the number of threads. If nil, the number of processors that are online.
  ///   - progress: called after every frame, with bytes of content.
  /// - Returns: the properties of the pack, and its differences from the tree.
  /// - Throws: ``PackError`` if the pack must not be released.
  package static func run(
    _ path: String, key: borrowing PackKey, name: PackName? = nil, against tree: String? = nil, excludes: [String] = [],
    followsSymlinks: Bool = false, allowsUnportablePaths: Bool = false, jobs: Int? = nil, progress: ProgressHandler? = nil
  ) async throws(PackError) -> VerificationReport {
    let pack = try Pack.open(path, key: key)
    if let name { try pack.source.checkName(name) }
    return try await run(
      pack, against: tree, excludes: excludes, followsSymlinks: followsSymlinks,
      allowsUnportablePaths: allowsUnportablePaths, jobs: jobs, progress: progress)
  }

  package static func run(
    _ pack: Pack, against tree: String? = nil, excludes: [String] = [], followsSymlinks: Bool = false,
    allowsUnportablePaths: Bool = false, jobs: Int? = nil, progress: ProgressHandler? = nil
  ) async throws(PackError) -> VerificationReport {
    let workers = try WorkerPool.size(for: jobs)
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

/// The result of ``PackVerification``.
package struct VerificationReport: Sendable {
  /// The size of the pack in bytes.
  package let packSize: UInt64
  /// The sum of the sizes of all files in bytes.
  package let contentSize: UInt64
  /// The number of files and empty directories.
  package let entries: Int
  /// The number of segments whose tags were checked.
  package let segments: UInt64
  /// The id of the key that opens the pack.
  package let keyID: KeyID
  /// The content root of the tree, 32 bytes.
  package let contentRoot: [UInt8]
  /// The differences between tree and pack, in the order of the paths; empty if no tree was compared.
  package let findings: [TreeDifference]
}

extension VerificationReport {
  /// - Parameter file: the pack.
  package func json(of file: String) -> JSON {
    [
      "type": "file", "file": .text(file), "ok": .flag(findings.isEmpty), "findings": .number(findings.count),
      "entries": .number(entries), "packSize": .number(packSize), "contentSize": .number(contentSize), "segments": .number(segments),
      "contentRoot": .text(contentRoot.hex),
    ]
  }
}
