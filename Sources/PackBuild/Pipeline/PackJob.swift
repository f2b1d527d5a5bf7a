/// Makes one encrypted pack from one directory.
///
/// With the same build of packer, the same tree, key and settings give the same bytes, regardless of the number of threads, the location of the
/// directory, its time stamps and the order in which its files were made.
package struct PackJob: Sendable {
  /// The directory to pack.
  package var source: String
  /// The path of the pack. An existing file there is replaced, but only by a finished pack.
  package var output: String
  /// The name the pack is published under.
  package var name: PackName
  /// The version the publisher gives the pack, at most 2^53 − 1. Later versions are higher.
  package var packVersion: UInt64 = 1
  /// What goes into the pack, and how it is compressed.
  package var settings = PackSettings()
  /// Whether the key is a root key, and the pack is made with a key derived from it and the pack's name (FORMAT.md §2.3).
  package var usesPackKey = false
  /// Whether the key is a root key, and the pack is made with the key of its version that is derived from it.
  package var usesVersionKey = false

  /// Whether the report lists files that no player needs, such as source maps.
  package var looksForUnneeded = false
  /// The number of threads. Nil means the number of processors that are online. Each thread needs memory for two frames and for zstd at its level.
  package var jobs: Int?
  package var files: any FileSystem = SystemFiles()
  package var backend: any CryptoBackend = CryptoBackends.standard
  /// Paths of files that are left out, and of no others in their directories. For trials: no setting names single files.
  var leftOut: Set<String> = []
  /// The names of these settings in hints.
  var words = SettingWords.options
  /// Whether the job syncs the pack to the disk, or leaves that to its directory.
  package var durability = OutputFile.Durability.synced

  /// Makes a job with default settings.
  package init(source: String, output: String, name: PackName) {
    self.source = source
    self.output = output
    self.name = name
  }

  /// Makes the pack.
  ///
  /// Nothing appears at ``output`` until the pack is complete and on the disk. On failure, and if the task is cancelled, an earlier file is unchanged
  /// and nothing is left behind.
  ///
  /// - Parameters:
  ///   - key: the application key, or with ``usesPackKey`` or ``usesVersionKey`` the root key.
  ///   - progress: called for every frame, in bytes of content.
  /// - Throws: ``PackError`` with ``PackError/details`` for every path that cannot be packed.
  package func run(
    key: borrowing PackKey, progress: ProgressHandler? = nil
  ) async throws(PackError) -> PackReport {
    guard packVersion <= Limits.packVersion else {
      throw PackError(.usage, "pack version \(packVersion) is more than \(Limits.packVersion)")
    }
    try settings.check()
    let level = settings.level
    let workers = try WorkerPool.size(for: jobs)
    let packID = try PackID.bytes(for: name, backend: backend)
    let key =
      usesVersionKey
      ? try key.editionKey(forPackID: packID, version: packVersion, backend: backend)
      : usesPackKey ? try key.packKey(forPackID: packID, backend: backend) : key.copy()
    let sourceProblems = SourceProblems(words)
    progress?(PackProgress(phase: .scanning, done: 0, total: 0))
    let (order, found) = try await scan(sourceProblems, jobs: workers)
    let header = PackHeader(
      segmentSize: settings.segmentSize(forContentOf: found.contentSize),
      flags: settings.usesRandomSalt ? 0 : PackHeader.deterministicSalt, packVersion: packVersion, packID: packID,
      salt: [UInt8](repeating: 0, count: 32))
    let reader = try SourceReader(root: source, settings, files: files, sourceProblems: sourceProblems)
    try await refuse(order.entries, reader)
    let duplicates = try await DuplicateSearch(
      order.entries, reader: reader, backend: backend, jobs: workers, progress: progress)
    try await refuse(order.entries, reader)
    var layout = try TarLayout(order, originals: duplicates.originals, frameSize: settings.largestFrame, words: words)
    // A joined frame would be read whole for any file in it.
    if settings.frameSize == nil, settings.order == nil, level.joinsFrames {
      layout = TarLayout(layout, joining: try await RepetitionSearch.run(layout, reader: reader, jobs: workers))
      try await refuse(order.entries, reader)
    }

    let draft = try PackDraft(output, header: header, key: key, durability: durability, files: files, backend: backend)
    let builder = PayloadBuilder(
      layout: layout, reader: reader, draft: draft, level: level, knownDigests: duplicates.digests, backend: backend)
    let payload = try await builder.build(jobs: workers, contentSize: found.contentSize, source: source, progress: progress)

    let seal = try PackSeal(draft, header: header, usesRandomSalt: settings.usesRandomSalt, key: key, backend: backend)
    try await seal.run(jobs: workers, progress: progress)
    return PackReport(
      output: output, packSize: seal.packSize, payloadSize: seal.payloadSize, contentSize: found.contentSize,
      files: found.files, emptyDirectories: found.emptyDirectories,
      duplicateFiles: layout.duplicateFiles, duplicateBytes: layout.duplicateBytes, frames: layout.frames.count,
      joinedFrames: layout.frames.count(where: \.isJoined), launchFiles: order.launchCount, launchSize: payload.launchSize,
      indexSize: payload.indexSize, keyID: key.id, name: name, packID: header.packID,
      packVersion: packVersion,
      contentRoot: payload.contentRoot, largestFrame: payload.largestFrame, omitted: found.omitted, unmatched: found.unmatched,
      unneeded: found.unneeded, innerPage: found.innerPage)
  }

  private static let page = "index.html"

  /// The totals of a scan, without the entries.
  private struct Found {
    var contentSize: UInt64
    var files: Int
    var emptyDirectories: Int
    var omitted: [OmittedPath]
    var unmatched: [String]
    var unneeded: [UnneededFiles]
    var innerPage: String?
  }

  /// Scans the source, and keeps its entries only in the order of the tar.
  private func scan(_ sourceProblems: SourceProblems, jobs: Int) async throws(PackError) -> (TarLayout.Order, Found) {
    let scan = try await DirectoryScan.run(source, settings, files: files, sourceProblems: sourceProblems, jobs: jobs)
    var (entries, contentSize) = (scan.entries, scan.contentSize)
    if !leftOut.isEmpty {
      entries.removeAll { leftOut.contains($0.path) }
      contentSize = entries.reduce(0) { $0.adding($1.size) }
    }
    let emptyDirectories = entries.count { $0.kind == .directory }
    return (
      TarLayout.order(entries, by: settings.order),
      Found(
        contentSize: contentSize, files: entries.count - emptyDirectories, emptyDirectories: emptyDirectories, omitted: scan.omitted,
        unmatched: scan.unmatched,
        unneeded: looksForUnneeded ? UnneededFiles.find(in: entries) : [],
        innerPage: entries.contains { $0.path == Self.page } ? nil : entries.first { $0.name == Self.page }?.path)
    )
  }

  /// Throws if problems were found in the source. Checks all files before that, so that the error lists every problem at once.
  private func refuse(_ entries: [SourceEntry], _ reader: SourceReader) async throws(PackError) {
    guard !reader.sourceProblems.isEmpty else { return }
    try await WorkerPool.run(1) { (pool, _) throws(PackError) in
      for entry in entries where entry.kind != .directory {
        try pool.checkpoint()
        reader.look(at: entry)
      }
    }
    try reader.sourceProblems.check(source)
  }

}

/// The result of a ``PackJob``.
package struct PackReport: Sendable {
  /// The path of the pack.
  package let output: String
  /// The size of the pack in bytes, as served.
  package let packSize: UInt64
  /// The size of the payload in bytes, before encryption.
  package let payloadSize: UInt64
  /// The sum of the sizes of all files in bytes.
  package let contentSize: UInt64
  /// The number of files.
  package let files: Int
  /// The number of empty directories.
  package let emptyDirectories: Int
  /// The number of files that share the stored content of an earlier file.
  package let duplicateFiles: Int
  /// The bytes that this saved, before compression.
  package let duplicateBytes: UInt64
  /// The number of data frames.
  package let frames: Int
  /// The number of frames that are larger than the frame size, because content in them repeats at a distance.
  package let joinedFrames: Int
  /// The number of entries that a game loads at its launch, and the bytes of their frames in the payload. 0 without an order.
  package let launchFiles: Int
  package let launchSize: UInt64
  /// The size of index and seek table in the payload, in bytes.
  package let indexSize: UInt64
  /// The id of the key that opens the pack.
  package let keyID: KeyID
  /// The name it is published under.
  package let name: PackName
  /// The digest of the pack's name, 32 bytes.
  package let packID: [UInt8]
  /// The version the publisher gave the pack.
  package let packVersion: UInt64
  /// The digest that names the tree, 32 bytes.
  package let contentRoot: [UInt8]
  /// The largest decompressed frame in bytes.
  package let largestFrame: UInt32
  /// The paths in the source that are not in the pack, in order.
  package let omitted: [OmittedPath]
  /// The patterns that exclude nothing.
  package let unmatched: [String]
  /// Files in the pack that no player needs, such as source maps. Empty unless ``PackJob/looksForUnneeded`` is set.
  package let unneeded: [UnneededFiles]
  /// The path of an index.html in the pack, if there is none at its root, where a game has it.
  package let innerPage: String?
}

extension PackReport {
  /// Sizes in bytes that add up to that of the pack: `content - identical + compression + encryption`.
  package var sizes: (content: Int64, identical: Int64, compression: Int64, encryption: Int64) {
    // A pack has at most 2^40 bytes, and its content was read from files of at most 2^63.
    let (pack, content) = (Int64(clamping: packSize), Int64(clamping: contentSize))
    let (identical, encryption) = (Int64(clamping: duplicateBytes), pack - Int64(clamping: payloadSize))
    return (content, identical, pack - encryption - (content - identical), encryption)
  }

  package func json(segments: UInt64) -> JSON {
    let sizes = sizes
    return [
      "type": "pack", "id": .text(name.text), "output": .text(output), "size": .number(packSize), "contentSize": .number(sizes.content),
      "identicalSize": .number(sizes.identical), "compression": .number(sizes.compression), "encryption": .number(sizes.encryption),
      "files": .number(files), "emptyDirectories": .number(emptyDirectories), "identicalFiles": .number(duplicateFiles),
      "frames": .number(frames), "launchFiles": launchFiles > 0 ? .number(launchFiles) : nil,
      "launchSize": launchFiles > 0 ? .number(launchSize) : nil,
      "largestFrame": .number(largestFrame), "segments": .number(segments), "keyID": .text("\(keyID)"), "packID": .text(packID.hex),
      "version": .number(packVersion), "contentRoot": .text(contentRoot.hex),
    ]
  }
}
