/// The index of one payload. Its head and directory stay in memory. Its blocks are read on demand.
package struct IndexReader: Sendable {
  package let head: IndexHead
  private let directory: IndexDirectory
  private let blocksOffset: UInt64
  private let allowsAdditions: Bool

  /// Reads head and directory, and compares them with the seek table.
  ///
  /// - Parameter minor: the pack's minor version. Above 0, the places that the format reserves for additions may contain some.
  package init(source: any ByteSource, table: SeekTable, minor: UInt8) throws(PackError) {
    allowsAdditions = minor > 0
    let skip = SeekTable.skippableHeaderSize
    try Self.checkSkippable(table.indexHead, source: source)
    blocksOffset = table.indexBlocks.offset + UInt64(skip)

    let mostSize = IndexHead.size + Limits.compressBound(Limits.indexDirectorySize)
    guard table.indexHead.compressedSize <= UInt32(skip + mostSize) else {
      throw PackError(.limitExceeded, "index head is \(table.indexHead.compressedSize - UInt32(skip)) bytes, more than any directory needs")
    }
    let size = Int(table.indexHead.compressedSize) - skip
    guard size >= IndexHead.size else {
      throw PackError(.damagedPayload, "index head is \(size) bytes, shorter than \(IndexHead.size)")
    }
    var bytes = [UInt8](repeating: 0, count: size)
    var target = bytes.mutableByteSpan
    try source.read(at: table.indexHead.offset + UInt64(skip), into: &target)
    let head = try IndexHead.parse(bytes.byteSpan, table: table)
    self.head = head
    try Self.checkSkippable(table.indexBlocks, source: source)
    directory = try IndexDirectory(
      parsing: try Self.directoryBytes(in: bytes.byteSpan.extracting(IndexHead.size...), head: head, exactly: minor == 0),
      head: head, blocksSize: UInt64(table.indexBlocks.compressedSize) - UInt64(skip))
  }

  /// Returns the block that may hold a path, or nil if none can.
  package func block(holding path: Span<UInt8>) -> Int? {
    directory.block(holding: path)
  }

  /// Reads one block and checks each record.
  ///
  /// - Parameter order: the state after the earlier records. A caller that passes the same value for all blocks, in order, checks the order of all
  ///   records.
  package func block(
    _ index: Int, source: any ByteSource, decoder: borrowing DecompressionContext, order: inout EntryPath.TreeOrder
  ) throws(PackError) -> IndexBlock {
    let name = "index block \(index)"
    let count = head.recordCount(inBlock: index)
    let range = directory.range(ofBlock: index)
    var stored = [UInt8](repeating: 0, count: Int(range.upperBound - range.lowerBound))
    var target = stored.mutableByteSpan
    try source.read(at: blocksOffset + range.lowerBound, into: &target)
    let header = try FrameHeader.parse(stored.byteSpan, name: name)
    try header.checkWindow(name: name)
    guard header.contentSize <= Limits.indexBlockSize else {
      throw PackError(.limitExceeded, "\(name) expands to \(header.contentSize) bytes, more than \(Limits.indexBlockSize)")
    }
    let frame = DecompressionContext.size(ofFirstFrameIn: stored.byteSpan)
    var content = [UInt8](repeating: 0, count: Int(header.contentSize))
    do {
      var whole = content.mutableByteSpan
      try decoder.decompress(stored.byteSpan.extracting(first: frame), into: &whole, name: name)
    }
    let columns = try RecordColumns(parsing: content, count: count, exactly: !allowsAdditions, name: name)
    for row in 0..<count {
      try columns.check(row, tarSize: head.tarSize)
      let path = columns.bytes.byteSpan.extracting(columns.path(row))
      if let problem = order.problem(withNext: path) {
        throw PackError(.damagedPayload, "entry '\(printable([UInt8](copying: path)))' \(problem)")
      }
      guard row > 0 || directory.block(index, startsWith: path) else {
        throw PackError(.damagedPayload, "\(name) does not start with the path that the directory names")
      }
    }
    return IndexBlock(number: index, columns, try Self.digests(columns, in: stored.byteSpan.extracting(frame...), name: name))
  }

  /// Returns the digests of all records: those that are stored, those of earlier records with the same content, and those of empty records.
  private static func digests(_ columns: RecordColumns, in stored: Span<UInt8>, name: String) throws(PackError) -> [UInt8] {
    var digests: [UInt8] = []
    digests.reserveCapacity(32 * columns.count)
    var next = 0
    for row in 0..<columns.count {
      let original = columns.original(of: row)
      if columns.size(row) == 0 {
        digests += columns.type(row) == IndexRecord.Kind.directory.rawValue ? IndexRecord.noDigest : IndexRecord.emptyDigest
      } else if original < row {
        digests += digests[32 * original..<32 * original + 32]
      } else {
        guard next + 32 <= stored.count else { throw PackError(.damagedPayload, "\(name) ends inside its digests") }
        digests.append(copying: stored.extracting(next..<next + 32))
        next += 32
      }
    }
    guard next == stored.count else { throw PackError(.damagedPayload, "\(name) is longer than its digests need") }
    return digests
  }

  private static func checkSkippable(_ frame: SeekTable.Frame, source: any ByteSource) throws(PackError) {
    var bytes = [UInt8](repeating: 0, count: SeekTable.skippableHeaderSize)
    var target = bytes.mutableByteSpan
    try source.read(at: frame.offset, into: &target)
    var cursor = FieldCursor(failure: .damagedPayload)
    let magic = try cursor.uint32("index", in: bytes.byteSpan)
    let length = try cursor.uint32("index", in: bytes.byteSpan)
    guard magic == IndexHead.frameMagic, length == frame.compressedSize - UInt32(SeekTable.skippableHeaderSize) else {
      throw PackError(.damagedPayload, "payload has no index where its seek table says")
    }
  }

  private static func directoryBytes(
    in bytes: Span<UInt8>, head: IndexHead, exactly: Bool
  ) throws(PackError) -> [UInt8] {
    guard head.recordCount > 0 else {
      guard bytes.isEmpty || !exactly else {
        throw PackError(.damagedPayload, "index has a directory, but no entries")
      }
      return []
    }
    let decoder = try DecompressionContext()
    let name = "index directory"
    let header = try FrameHeader.parse(bytes, name: name)
    try header.checkWindow(name: name)
    guard header.contentSize <= Limits.indexDirectorySize else {
      throw PackError(
        .limitExceeded, "\(name) expands to \(header.contentSize) bytes, more than \(Limits.indexDirectorySize)")
    }
    var content = [UInt8](repeating: 0, count: Int(header.contentSize))
    var target = content.mutableByteSpan
    let size = exactly ? bytes.count : DecompressionContext.size(ofFirstFrameIn: bytes)
    try decoder.decompress(bytes.extracting(first: size), into: &target, name: name)
    return content
  }
}
