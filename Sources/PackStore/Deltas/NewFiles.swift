/// Writes the new contents of a delta to files while the delta is opened, so that nothing is decompressed twice to install it.
///
/// Opening decompresses all windows to compute the digests of their contents. What is written is authenticated, but that it is what was published is
/// shown only when the content root is compared, at the end: if opening fails, the directory must be removed. A content that several files have is
/// written for the first of them.
package final class NewFiles: Sendable {
  /// What was written.
  package struct Result: Sendable {
    /// The whole tree, the files that were not written included.
    package let tree: TreeCount
    package let output: OutputDirectory
    package fileprivate(set) var made = RecordSet()
  }

  private let prepare: @Sendable (TreeCount) throws(PackError) -> OutputDirectory
  private let state = Monitor<Result?>(nil)

  /// - Parameter prepare: Returns the new directory, before anything is written. Throws if there is no room for the tree.
  package init(prepare: @escaping @Sendable (TreeCount) throws(PackError) -> OutputDirectory) {
    self.prepare = prepare
  }

  /// Nil if no delta was opened with it.
  package var result: Result? { state.withLock { $0 } }

  func begin(_ tree: TreeCount, files: any FileSystem) throws(PackError) -> Writer {
    let output = try prepare(tree)
    state.withLock { $0 = Result(tree: tree, output: output) }
    return Writer(StagingWriter(output, files: files))
  }

  func end(_ writer: Writer) {
    state.withLock { $0?.made = writer.made }
  }

  /// Writes contents one after another. Used by one worker only.
  final class Writer {
    private let writer: StagingWriter
    private var file: OpenFile?
    fileprivate var made = RecordSet()

    fileprivate init(_ writer: StagingWriter) {
      self.writer = writer
    }

    /// Writes the next bytes of the file of a record, which begin at `offset` of its `size` bytes.
    func add(
      _ piece: Span<UInt8>, at offset: UInt64, of size: UInt64, to path: Span<UInt8>, _ kind: IndexRecord.Kind, record: Int
    ) throws(PackError) {
      let isLast = offset + UInt64(piece.count) == size
      if offset == 0, isLast {
        try writer.make(path, kind, content: piece)
      } else {
        let open = if let file { file } else { try writer.create(path, kind) }
        try writer.write(piece, to: open, at: offset, path)
        if isLast { try writer.finish(open, path) }
        file = isLast ? nil : open
      }
      if isLast { made.insert(record) }
    }
  }
}
