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
    try Self.checkSkippable(table.indexBlocks, source: source)
    try Self.checkSkippable(table.indexHead, source: source)
    blocksOffset = table.indexBlocks.offset + UInt64(skip)

    let size = Int(table.indexHead.compressedSize) - skip
    guard size >= IndexHead.size else {
      throw PackError(.damagedPayload, "index head is \(size) bytes, shorter than \(IndexHead.size)")
    }
    guard size <= IndexHead.size + Limits.compressBound(Limits.indexDirectorySize) else {
      throw PackError(.limitExceeded, "index head is \(size) bytes, more than any directory needs")
    }
    var bytes = [UInt8](repeating: 0, count: size)
    var target = bytes.mutableByteSpan
    try source.read(at: table.indexHead.offset + UInt64(skip), into: &target)
    let head = try IndexHead.parse(bytes.byteSpan, table: table)
    self.head = head
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
    let digests = 32 * count
    let header = try FrameHeader.parse(stored.byteSpan.extracting(digests...), name: name)
    guard header.contentSize <= Limits.indexBlockSize else {
      throw PackError(.limitExceeded, "\(name) expands to \(header.contentSize) bytes, more than \(Limits.indexBlockSize)")
    }
    var bytes = [UInt8](repeating: 0, count: digests + Int(header.contentSize))
    do {
      var whole = bytes.mutableByteSpan
      copy(stored.byteSpan.extracting(first: digests), to: &whole)
      var content = whole._mutatingExtracting(digests...)
      try decoder.decompress(stored.byteSpan.extracting(digests...), into: &content, name: name)
    }

    var cursor = FieldCursor(at: digests, failure: .damagedPayload)
    var starts: [UInt32] = []
    starts.reserveCapacity(count)
    for row in 0..<count {
      starts.append(UInt32(cursor.offset))
      let fields = try IndexRecord.Fields.parse(bytes.byteSpan, cursor: &cursor, tarSize: head.tarSize)
      let path = bytes.byteSpan.extracting(fields.path)
      if let problem = order.problem(withNext: path) {
        throw PackError(.damagedPayload, "entry '\(printable([UInt8](copying: path)))' \(problem)")
      }
      guard row > 0 || directory.block(index, startsWith: path) else { throw Self.misplaced(name) }
    }
    guard cursor.offset == bytes.count || allowsAdditions else {
      throw PackError(.damagedPayload, "\(name) is longer than its records need")
    }
    return IndexBlock(number: index, bytes: bytes, starts: starts)
  }

  private static func misplaced(_ name: String) -> PackError {
    PackError(.damagedPayload, "\(name) does not start with the path that the directory names")
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

/// The records of one block of the index, at most 128, as they were read: about 10 KB.
package final class IndexBlock: Sendable {
  package let number: Int
  /// The digests, followed by the records.
  private let bytes: [UInt8]
  /// Where each record starts in ``bytes``.
  private let starts: [UInt32]

  /// - Parameter bytes: records that ``IndexRecord/Fields`` has read and checked.
  package init(number: Int, bytes: [UInt8], starts: [UInt32]) {
    self.number = number
    self.bytes = bytes
    self.starts = starts
  }

  /// The number of records.
  package var count: Int { starts.count }
  /// The memory that the block uses, in bytes.
  package var memorySize: Int { bytes.capacity + MemoryLayout<UInt32>.stride * starts.capacity + 128 }

  /// Returns the number in the index of record `row`.
  package func number(of row: Int) -> Int { number * Limits.recordsPerBlock + row }

  /// Calls `body` with the bytes of the block.
  package func withBytes<Failure: Error>(_ body: (Span<UInt8>) throws(Failure) -> Void) throws(Failure) {
    let bytes = bytes
    try body(bytes.byteSpan)
  }

  /// Returns the kind of record `row`.
  package func kind(of row: Int) -> IndexRecord.Kind {
    IndexRecord.Kind(rawValue: bytes[Int(starts[row]) + 2]) ?? .file
  }

  /// Returns the length of the content of record `row` in bytes.
  package func size(of row: Int) -> UInt64 { number(at: Int(starts[row]) + 3) }
  /// Returns where the content of record `row` starts in the tar, in bytes; 0 if it has no content.
  package func offset(of row: Int) -> UInt64 { number(at: Int(starts[row]) + 11) }

  /// Calls `body` with the path of record `row`.
  package func withPath<Result, Failure: Error>(
    of row: Int, _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // A span of a class's array property cannot be passed directly.
    let bytes = bytes
    return try body(bytes.byteSpan.extracting(place(ofPath: row)))
  }

  /// Returns the path of record `row` as text.
  package func path(of row: Int) -> String { String(decoding: bytes[place(ofPath: row)], as: UTF8.self) }

  /// Returns the paths of all records, each followed by a line feed. No path contains one.
  package func pathLines() -> [UInt8] {
    let bytes = bytes
    // Paths are shorter than their records.
    var lines = [UInt8](repeating: UInt8(ascii: "\n"), count: bytes.count)
    var whole = lines.mutableByteSpan
    var end = 0
    for row in starts.indices {
      let place = place(ofPath: row)
      copy(bytes.byteSpan.extracting(place), to: &whole, at: end)
      end += place.count + 1
    }
    lines.removeSubrange(end...)
    return lines
  }

  /// Returns record `row`, with a copy of its path.
  package func record(_ row: Int) -> IndexRecord {
    IndexRecord(path: Array(bytes[place(ofPath: row)]), kind: kind(of: row), size: size(of: row), offset: offset(of: row))
  }

  /// Calls `body` with the SHA-256 of the content of record `row`.
  package func withDigest<Result, Failure: Error>(
    of row: Int, _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let bytes = bytes
    return try body(bytes.byteSpan.extracting(row * 32..<row * 32 + 32))
  }

  /// Returns the entry of record `row`.
  package func entry(_ row: Int) -> Entry {
    withDigest(of: row) { Entry(record(row), digest: $0) }
  }

  /// Returns the row of a path, by binary search.
  package func row(of path: Span<UInt8>) -> Int? {
    let bytes = bytes
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if precedes(bytes.byteSpan.extracting(place(ofPath: middle)), path) { low = middle + 1 } else { high = middle }
    }
    guard low < count else { return nil }
    return equal(bytes.byteSpan.extracting(place(ofPath: low)), path) ? low : nil
  }

  private func place(ofPath row: Int) -> Range<Int> {
    let start = Int(starts[row])
    let length = Int(bytes[start]) | Int(bytes[start + 1]) << 8
    return start + IndexRecord.fixedSize..<start + IndexRecord.fixedSize + length
  }

  private func number(at start: Int) -> UInt64 {
    (start..<start + 8).reversed().reduce(0) { $0 << 8 | UInt64(bytes[$1]) }
  }
}
