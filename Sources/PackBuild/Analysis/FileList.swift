/// The files and empty directories of a pack or a directory, with the digests of their contents.
///
/// Memory: about 250 bytes and the path for each.
package struct FileList: Sendable {
  /// One file or empty directory.
  package struct Item: Hashable, Sendable {
    package let path: String
    package let kind: IndexRecord.Kind
    /// The length of the content in bytes.
    package let size: UInt64
    /// SHA-256 of the content, 32 bytes. Empty for a directory.
    package let sha256: [UInt8]
    /// What it takes in the pack in bytes. Nil outside a pack, and if that was not asked for.
    package let packedSize: UInt64?
  }

  /// In the byte order of their paths.
  package let items: [Item]
  /// What belongs to no file: index, tags, header, in bytes. Nil outside a pack, and if that was not asked for.
  package let restSize: UInt64?

  /// The items that are no directories.
  package var files: [Item] { items.filter { $0.kind != .directory } }

  /// The digest that names the tree (FORMAT.md §4.8), 32 bytes.
  package func contentRoot() throws(PackError) -> [UInt8] {
    let root = try ContentRoot(backend: CryptoBackends.standard)
    let none = [UInt8](repeating: 0, count: 32)
    for item in items {
      let digest = item.kind == .directory ? none : item.sha256
      try root.add(path: Array(item.path.utf8).byteSpan, kind: item.kind, size: item.size, digest: digest.byteSpan)
    }
    return try root.finish()
  }

  private init(items: [Item], restSize: UInt64?) { (self.items, self.restSize) = (items, restSize) }

  /// No files.
  package static var empty: FileList { FileList(items: [], restSize: nil) }

  /// Reads the index of a pack.
  ///
  /// - Parameter packed: what its files take in it; nil if that is not needed.
  package init(_ pack: Pack, _ packed: PackedSizes?) throws(PackError) {
    var items: [Item] = []
    items.reserveCapacity(pack.entryCount)
    try pack.forEachEntry { entry in
      let kind = entry.recordKind
      items.append(
        Item(
          path: entry.path, kind: kind, size: entry.size, sha256: kind == .directory ? [] : entry.sha256,
          packedSize: packed?.sizes[items.count]))
    }
    self.items = items
    restSize = packed?.rest
  }

  /// Reads all files of a directory that `packer pack` would pack, on several threads.
  ///
  /// - Throws: all paths that cannot be packed, as one error. Secrets and names that some platforms do not support are no error.
  package init(
    of directory: String, excludes: [String], followsSymlinks: Bool, jobs: Int, files: any FileSystem, progress: ProgressHandler?
  ) async throws(PackError) {
    let problems = SourceProblems()
    let settings = PackSettings(reading: excludes, followsSymlinks: followsSymlinks)
    let entries = try await DirectoryScan.run(directory, settings, files: files, sourceProblems: problems, jobs: jobs).entries
    try problems.check(directory)
    let reader = try SourceReader(root: directory, settings, files: files, sourceProblems: problems)
    let contents = entries.indices.filter { entries[$0].kind != .directory }.map(Int32.init)
    let digests = try await SourceDigests.run(
      contents, entries, limit: .max, reader: reader, backend: CryptoBackends.standard, jobs: jobs, progress: progress)
    try problems.check(directory)
    items = entries.enumerated().map { number, entry in
      Item(path: entry.path, kind: entry.kind, size: entry.size, sha256: digests[Int32(number)] ?? [], packedSize: nil)
    }
    restSize = nil
  }
}
