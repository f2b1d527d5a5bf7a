/// The files that a tree has from bases, and those that it had before.
package struct ClonedFiles: Sendable {
  package fileprivate(set) var made: RecordSet
  /// The number of files that share their space on the volume with a file of a base, and their sizes together.
  package fileprivate(set) var sharedFiles = 0
  package fileprivate(set) var sharedBytes: UInt64 = 0
  /// The number of files that were copied from a base.
  package fileprivate(set) var copiedFiles = 0
  /// The space, in bytes, of files that are second names of files of a base, by the path of the base.
  package fileprivate(set) var linkedSpace: [String: UInt64] = [:]
}

/// Makes those files of a delta's tree whose content an unpacked base has whole, without decoding anything.
///
/// A file is cloned if the volume can. Otherwise it gets a second name, if that is wanted and it has only one and the same permissions, or is copied. If
/// it is not exactly the file that was read when the base was opened, it is copied and its digest compared. Memory: 256 KiB, and a bit for each record.
package struct TreeCloning {
  private let pack: Pack
  private let output: OutputDirectory
  private let files: any FileSystem
  private let pool: WorkerPool
  private let writer: StagingWriter
  private let digest: any DigestContext
  private let linked: Set<String>
  private var canClone = true
  private var recent: TreeFiles?
  private var cloned: ClonedFiles

  /// - Parameters:
  ///   - output: A new directory, which gets the files.
  ///   - made: The files that it has already.
  ///   - linked: The paths of the bases whose files may get second names.
  package init(
    _ pack: Pack, into output: OutputDirectory, besides made: RecordSet = RecordSet(), linking linked: Set<String>, pool: WorkerPool
  ) throws(PackError) {
    cloned = ClonedFiles(made: made)
    self.linked = linked
    self.pack = pack
    self.output = output
    files = pack.source.files
    self.pool = pool
    writer = StagingWriter(output, files: files)
    digest = try pack.source.backend.makeDigest()
  }

  /// Makes the files.
  ///
  /// - Throws: ``PackError/Code/sourceChanged`` if a file of the base does not have the bytes any more that it had when it was opened.
  package mutating func run() throws(PackError) -> ClonedFiles {
    let pack = pack
    try pack.forEachRecord { (block, row) throws(PackError) in try make(block, row) }
    return cloned
  }

  private mutating func make(_ block: IndexBlock, _ row: Int) throws(PackError) {
    guard block.size(of: row) > 0, let (tree, number) = pack.origin(at: block.offset(of: row)) else { return }
    try pool.checkpoint()
    let expected = tree.digest(of: number)
    guard block.withDigest(of: row, { equal($0, expected.byteSpan) }) else { return }
    let kind = block.kind(of: row)
    try block.withPath(of: row) { (path) throws(PackError) in
      let source = opener(of: tree)
      if try share(source, number, as: path, kind) {
        cloned.sharedFiles += 1
        cloned.sharedBytes = cloned.sharedBytes.adding(block.size(of: row))
      } else {
        try copy(try source.open(number).file, tree, number, to: path, kind, expected)
        cloned.copiedFiles += 1
      }
    }
    cloned.made.insert(block.number(of: row))
  }

  private mutating func opener(of tree: BaseTree) -> TreeFiles {
    if let recent, recent.tree === tree { return recent }
    let made = TreeFiles(tree)
    recent = made
    return made
  }

  /// Makes a file that shares its bytes with a file of the base. Returns false if that is not possible, or if the file changed since it was read.
  private mutating func share(
    _ source: TreeFiles, _ number: Int, as path: Span<UInt8>, _ kind: IndexRecord.Kind
  ) throws(PackError) -> Bool {
    let tree = source.tree
    if canClone {
      let (file, status, isSame) = try source.open(number)
      guard isSame else { return false }
      if try writer.clone(file, as: path, kind) {
        try tree.accept(number, status, now: now(file, tree, number))
        return true
      }
      canClone = false
    }
    guard linked.contains(tree.basePath) else { return false }
    let (status, isSame) = try source.status(of: number)
    guard isSame, status.linkCount == 1, status.mode == StagingWriter.mode(of: kind) else { return false }
    guard let now = try writer.link(source.place(of: number), status, as: path) else { return false }
    try tree.accept(number, status, now: now)
    cloned.linkedSpace[tree.basePath, default: 0] += status.allocatedSize
    return true
  }

  private func now(_ file: OpenFile, _ tree: BaseTree, _ number: Int) throws(PackError) -> FileStatus {
    try reading(tree.title(of: number), files.status(of: file))
  }

  /// Copies a file of the base, and compares the digest of the bytes that were written.
  private func copy(
    _ file: OpenFile, _ tree: BaseTree, _ number: Int, to path: Span<UInt8>, _ kind: IndexRecord.Kind, _ expected: [UInt8]
  ) throws(PackError) {
    let size = UInt64(tree.range(of: number).count)
    let copy = try writer.create(path, kind)
    _ = try digest.finish()
    try files.forEachPiece(of: file, 0..<size, atOnce: 256 << 10, name: tree.title(of: number), checkpoint: pool.checkpoint) {
      (piece, offset) throws(PackError) in
      try digest.update(piece)
      try writer.write(piece, to: copy, at: offset, path)
    }
    guard try digest.finish() == expected else { throw tree.changed(number) }
    try writer.finish(copy, path)
  }
}

extension Pack {
  /// Returns the file of an unpacked base that has the content which starts at an offset of the row. Nil if it is new, or lies in a pack.
  func origin(at offset: UInt64) -> (tree: BaseTree, number: Int)? {
    guard let layer = layer as? DeltaLayer else { return nil }
    let number = table.frame(holding: offset)
    guard number >= layer.windows.count else { return nil }
    let parts = layer.parts[layer.pieces[number - layer.windows.count]]
    let target = Int(offset - table[number].tarRange.lowerBound)
    let place = parts.partitioningIndex { $0.target >= target }
    guard place < parts.endIndex, parts[place].target == target else { return nil }
    let base = layer.bases[Int(parts[place].base)]
    if let tree = base as? BaseTree { return (tree, tree.file(holding: parts[place].offset)) }
    return (base as? Pack)?.origin(at: parts[place].offset)
  }
}
