/// A part of a pack: the entries that patterns choose.
///
/// Reading a part decrypts and decompresses only the frames with its files. Each file is compared with its digest, and the whole index is checked; the
/// tar is not compared with the index, because that needs all of it. Memory: a bit for each record.
package struct PackPart {
  private let pack: Pack
  private let others: RecordSet
  private let tree: TreeCount
  /// The number of files and empty directories.
  package let entryCount: Int
  /// The sum of the sizes of all files in bytes.
  package let contentSize: UInt64

  /// Chooses the entries. Reads the index.
  ///
  /// - Throws: ``PackError/Code/noSuchEntry`` if a pattern matches nothing.
  package init(_ pack: Pack, _ selection: PathSelection) throws(PackError) {
    self.pack = pack
    var (others, tree, entryCount, contentSize) = (RecordSet(), TreeCount(), 0, 0 as UInt64)
    var used: Set<Int> = []
    try pack.forEachRecord { (block, row) throws(PackError) in
      let matches = selection.matches(block.path(of: row), isDirectory: block.kind(of: row) == .directory)
      used.formUnion(matches)
      guard !matches.isEmpty else { return others.insert(block.number(of: row)) }
      entryCount += 1
      contentSize = contentSize.adding(block.size(of: row))
      try block.withPath(of: row) { (path) throws(PackError) in
        try tree.add(path: path, kind: block.kind(of: row), size: block.size(of: row))
      }
    }
    try selection.check(used, of: pack)
    (self.others, self.tree, self.entryCount, self.contentSize) = (others, tree, entryCount, contentSize)
  }

  /// Unpacks the part to `directory`, which must be empty or not exist. The tree appears there complete or not at all.
  ///
  /// - Throws: the errors of a damaged pack, ``PackError/Code/outputExists`` or ``PackError/Code/noSpace``.
  package func unpack(
    to directory: String, allowsUnportablePaths: Bool = false, jobs: Int? = nil, progress: ProgressHandler? = nil
  ) async throws(PackError) {
    try check(allowsUnportablePaths)
    try await pack.fill(directory, progress: progress) { (output) async throws(PackError) in
      try attributing(to: pack.source.path) { () throws(PackError) in try output.checkSpace(tree.diskSize, files: tree.itemCount) }
      try await TreeWalk.run(pack, into: output, jobs: jobs, phase: .unpacking, skipped: others, progress: progress)
    }
  }

  /// Checks the tags, frames and digests of the part.
  ///
  /// - Throws: the errors of a damaged pack.
  package func verify(allowsUnportablePaths: Bool = false, jobs: Int? = nil, progress: ProgressHandler? = nil) async throws(PackError) {
    try check(allowsUnportablePaths)
    try await TreeWalk.run(pack, into: nil, jobs: jobs, phase: .verifying, skipped: others, progress: progress)
  }

  private func check(_ allowsUnportablePaths: Bool) throws(PackError) {
    if !allowsUnportablePaths { try PortabilityCheck.run(pack) }
  }
}
