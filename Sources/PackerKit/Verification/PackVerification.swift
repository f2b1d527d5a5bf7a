public import PackCrypto
import PackFiles
public import PackFormat
public import PackRuntime

/// Looks at a whole pack before it is released: with the code that will read it on a device, with libarchive as an outsider, and
/// against the directory it was made from.
public enum PackVerification {
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
  public static func run(
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
    let workers = try Crew.size(for: jobs)
    try pack.checkContentSize(Limits.contentSizeWithoutManifest)
    if !allowsUnportablePaths { try PortabilityCheck.run(pack) }
    pack.returnCodeIfLarge()
    try await ArchiveComparison.run(pack, jobs: workers, phase: .verifying, progress: progress)
    var findings: [Finding] = []
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
public struct VerificationReport: Sendable {
  /// The size of the pack in bytes.
  public let packSize: UInt64
  /// The sum of the sizes of all files in bytes.
  public let contentSize: UInt64
  /// The number of files and empty directories.
  public let entries: Int
  /// The number of segments whose tags were checked.
  public let segments: UInt64
  /// The key that opens the pack.
  public let keyID: KeyID
  /// The digest that names the tree, 32 bytes.
  public let contentRoot: [UInt8]
  /// How the tree differs from the pack, in the order of the paths; empty where no tree was compared.
  public let findings: [Finding]
}

/// One difference between a pack and a directory.
public struct Finding: Hashable, Sendable {
  /// In which way they differ.
  public enum Kind: String, Hashable, Sendable {
    /// The pack has an entry that the directory lacks.
    case missing
    /// The directory has an entry that the pack lacks.
    case extra
    /// Both have it, but not the same.
    case differs
  }

  /// In which way they differ.
  public let kind: Kind
  /// The path of the entry.
  public let path: String
  /// The difference, for a person.
  public let message: String
}

extension Pack {
  /// Gives the pages back that opening it touched, before all of it is read: two megabytes of the peak. A small pack is read sooner than they come
  /// back.
  func returnCodeIfLarge() {
    if contentSize > 16 << 20 { SystemMemory.returnCode() }
  }
}
