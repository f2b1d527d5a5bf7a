import PackArchive
package import PackCrypto
package import PackFiles
package import PackFormat
package import PackProject
package import PackReading
import PackWork

/// Turns one directory into one encrypted pack.
///
/// The same tree, key and settings give the same bytes from the same build, whatever the number of threads, the place of the directory,
/// its time stamps or the order in which its files were made.
package struct PackJob: Sendable {
  /// The directory to pack.
  package var source: String
  /// Where the pack goes. What stands there is replaced, but only by a finished pack.
  package var output: String
  /// The name the pack is published under.
  package var name: PackName
  /// The version the publisher gives the pack, at most 2^53 − 1; later ones are higher.
  package var packVersion: UInt64 = 1
  /// How hard to compress.
  package var level = PackLevel.balanced
  /// The most bytes of tar in one frame, 64 KiB to 8 MiB: larger compresses better, smaller reads single files faster and in less memory.
  /// What suits the level where it is nil.
  package var frameSize: Int?
  /// The size of one ciphertext segment in bytes: a power of two from 4 KiB to 1 MiB.
  package var segmentSize = Limits.defaultSegment
  /// Patterns of paths to leave out, as in ignore files.
  package var excludes: [String] = []
  /// Whether a symbolic link stands for what it points to, which must lie inside the directory. Otherwise links are refused.
  package var followsSymlinks = false
  /// Whether equal packs get unlike bytes, for publishers who must hide that two packs are equal.
  package var usesRandomSalt = false
  /// Whether the key is a root key, and the pack is made with the one that follows from it and the pack's name (FORMAT.md §2.3).
  package var usesPackKey = false
  /// Whether files that look like private keys or credentials are packed. Otherwise they are refused.
  package var allowsSecrets = false
  /// Whether names are packed that some platforms cannot hold. Otherwise they are refused.
  package var allowsUnportablePaths = false
  /// The number of threads; the processors that are online where it is nil. Each takes two frames and what zstd needs for its level.
  package var jobs: Int?

  package var files: any FileSystem = SystemFiles()
  package var backend: any CryptoBackend = CryptoBackends.standard
  /// How advice names these settings.
  var words = SettingWords.options
  /// Who sees to it that the pack is on the disk.
  package var durability = OutputFile.Durability.synced

  /// A job with the settings that suit most.
  package init(source: String, output: String, name: PackName) {
    self.source = source
    self.output = output
    self.name = name
  }

  /// Makes the pack.
  ///
  /// Nothing appears at ``output`` until the pack is whole and on the disk. On failure, and when the task is cancelled, what was there before
  /// is untouched and nothing is left behind.
  ///
  /// - Parameters:
  ///   - key: the application key, or with ``usesPackKey`` the root key.
  ///   - progress: hears of every frame, in bytes of content.
  /// - Throws: ``PackError`` with ``PackError/details`` for every path that cannot be packed.
  package func run(
    key: borrowing PackKey, progress: ProgressHandler? = nil
  ) async throws(PackError) -> PackReport {
    let frameSize = frameSize ?? level.frameSize
    try checkSettings(frameSize: frameSize)
    let workers = try WorkerPool.size(for: jobs)
    let packID = try PackID.bytes(for: name, backend: backend)
    let key = usesPackKey ? try key.packKey(forPackID: packID, backend: backend) : key.copy()
    let sourceProblems = SourceProblems(words)
    let header = PackHeader(
      segmentSize: segmentSize, flags: usesRandomSalt ? 0 : PackHeader.deterministicSalt, packVersion: packVersion,
      packID: packID, salt: [UInt8](repeating: 0, count: 32))

    progress?(PackProgress(phase: .scanning, done: 0, total: 0))
    let options = DirectoryScan.Options(
      excludes: excludes, followsSymlinks: followsSymlinks, allowsSecrets: allowsSecrets,
      allowsUnportablePaths: allowsUnportablePaths)
    let (order, found) = try await scan(options, sourceProblems, jobs: workers)
    let reader = try SourceReader(root: source, followsSymlinks: followsSymlinks, files: files, sourceProblems: sourceProblems)
    try await refuse(order.entries, reader)
    let duplicates = try await DuplicateSearch(
      order.entries, reader: reader, backend: backend, jobs: workers, progress: progress)
    try await refuse(order.entries, reader)
    let plan = try PackPlan(order, originals: duplicates.originals, frameSize: frameSize, words: words)

    let draft = try PackDraft(output, header: header, key: key, durability: durability, files: files, backend: backend)
    let builder = PayloadBuilder(
      plan: plan, reader: reader, draft: draft, strength: level.strength, textStrength: level.textStrength, frameSize: frameSize,
      knownDigests: duplicates.digests, allowsSecrets: allowsSecrets, backend: backend)
    let payload = try await builder.build(jobs: workers, contentSize: found.contentSize, source: source, progress: progress)

    let seal = try PackSeal(draft, header: header, usesRandomSalt: usesRandomSalt, key: key, backend: backend)
    try await seal.run(jobs: workers, progress: progress)
    return PackReport(
      output: output, packSize: seal.packSize, payloadSize: seal.payloadSize, contentSize: found.contentSize,
      files: found.files, directories: found.directories,
      duplicateFiles: plan.duplicateFiles, duplicateBytes: plan.duplicateBytes, frames: plan.frames.count,
      indexSize: payload.indexSize, keyID: key.id, packID: header.packID, packVersion: packVersion,
      contentRoot: payload.contentRoot, largestFrame: payload.largestFrame, omitted: found.omitted)
  }

  /// What a scan found, without the entries.
  private struct Found {
    var contentSize: UInt64
    var files: Int
    var directories: Int
    var omitted: [OmittedPath]
  }

  /// Looks through the source, and keeps its entries in the order of the tar alone.
  private func scan(
    _ options: DirectoryScan.Options, _ sourceProblems: SourceProblems, jobs: Int
  ) async throws(PackError) -> (PackPlan.Order, Found) {
    let scan = try await DirectoryScan.run(source, options: options, files: files, sourceProblems: sourceProblems, jobs: jobs)
    let directories = scan.entries.count { $0.kind == .directory }
    return (
      PackPlan.order(scan.entries),
      Found(
        contentSize: scan.contentSize, files: scan.entries.count - directories, directories: directories, omitted: scan.omitted)
    )
  }

  /// Throws where anything was found that cannot be packed, after a look for all else that cannot: who has to mend a tree wants to hear
  /// of everything at once.
  private func refuse(_ entries: [SourceEntry], _ reader: SourceReader) async throws(PackError) {
    guard !reader.sourceProblems.isEmpty else { return }
    try await WorkerPool.run(1) { [allowsSecrets] (pool, _) throws(PackError) in
      for entry in entries where entry.kind != .directory {
        try pool.checkpoint()
        reader.look(at: entry, allowsSecrets: allowsSecrets)
      }
    }
    try reader.sourceProblems.check(source)
  }

  private func checkSettings(frameSize: Int) throws(PackError) {
    guard packVersion <= Limits.packVersion else {
      throw PackError(.usage, "pack version \(packVersion) is more than \(Limits.packVersion)")
    }
    guard PackSettings.levels.contains(level.zstdLevel) else {
      throw PackError(.usage, "level \(level.zstdLevel) is not one of 1 to 19")
    }
    guard PackSettings.frameSizes.contains(frameSize) else {
      throw PackError(
        .usage, "frame size \(frameSize) is not one of \(Limits.smallestFrameSize) to \(Limits.frameSize) bytes")
    }
    guard PackHeader.isLegal(segmentSize: segmentSize) else {
      throw PackError(
        .usage,
        "segment size \(segmentSize) is not a power of two from \(Limits.smallestSegment) to \(Limits.largestSegment) bytes")
    }
  }
}

/// What came out of a ``PackJob``.
package struct PackReport: Sendable {
  /// Where the pack is.
  package let output: String
  /// The size of the pack in bytes, as served.
  package let packSize: UInt64
  /// The size of the payload in bytes: what is encrypted.
  package let payloadSize: UInt64
  /// The sum of the sizes of all files in bytes.
  package let contentSize: UInt64
  /// The number of files.
  package let files: Int
  /// The number of empty directories.
  package let directories: Int
  /// The number of files that were stored once with others of the same content.
  package let duplicateFiles: Int
  /// The bytes that this saved before compression.
  package let duplicateBytes: UInt64
  /// The number of data frames.
  package let frames: Int
  /// The bytes of payload that index and seek table take.
  package let indexSize: UInt64
  /// The key that opens the pack.
  package let keyID: KeyID
  /// The digest of the pack's name, 32 bytes.
  package let packID: [UInt8]
  /// The version the publisher gave the pack.
  package let packVersion: UInt64
  /// The digest that names the tree, 32 bytes.
  package let contentRoot: [UInt8]
  /// The largest decompressed frame in bytes.
  package let largestFrame: UInt32
  /// What is in the source and not in the pack, in the order of the paths.
  package let omitted: [OmittedPath]
}
