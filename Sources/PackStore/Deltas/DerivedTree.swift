/// The records of the target of a delta, while it is opened, as blocks of an index.
struct DerivedTree {
  private struct Block {
    /// Digests, then records, as ``IndexBlock`` has them.
    var bytes: [UInt8]
    var starts: [UInt32]
  }

  private var blocks: [Block] = []
  /// The sizes of all records.
  private(set) var sizes: [UInt64] = []
  /// The sum of the sizes of all records.
  private(set) var contentSize: UInt64 = 0

  var count: Int { sizes.count }

  /// Takes the records of a list, and checks each of them (FORMAT.md §13.7, step 4).
  mutating func add(list: [UInt8]) throws(PackError) {
    var cursor = TreeListCursor()
    var order = EntryPath.TreeOrder()
    var records: [UInt8] = []
    var starts: [UInt32] = []
    while let line = try cursor.next(in: list.byteSpan) {
      guard count < Limits.records else { throw PackError(.limitExceeded, "the delta lists more than \(Limits.records) entries") }
      starts.append(UInt32(records.count))
      let size = try Self.append(line, list, to: &records, &order)
      let (sum, overflow) = contentSize.addingReportingOverflow(size)
      guard !overflow else { throw PackError(.damagedPayload, "the sizes of all entries overflow") }
      contentSize = sum
      sizes.append(size)
      if starts.count == Limits.recordsPerBlock { close(&records, &starts) }
    }
    if !starts.isEmpty { close(&records, &starts) }
  }

  /// Adds a record, and returns its size.
  private static func append(
    _ line: TreeListCursor.Line, _ list: [UInt8], to records: inout [UInt8], _ order: inout EntryPath.TreeOrder
  ) throws(PackError) -> UInt64 {
    let start = records.count
    let path = list.byteSpan.extracting(line.path)
    records.append(littleEndian: UInt16(path.count))
    records.append(line.kind)
    records.append(littleEndian: line.size ?? 0)
    records.append(littleEndian: UInt64(0))
    records.append(copying: path)
    var cursor = FieldCursor(at: start, failure: .damagedPayload)
    _ = try IndexRecord.Fields.parse(records.byteSpan, cursor: &cursor)
    if let problem = order.problem(withNext: path) {
      throw PackError(.damagedPayload, "entry '\(printable([UInt8](copying: path)))' \(problem)")
    }
    // After type, path and order.
    guard let size = line.size else { throw TreeListCursor.cut }
    return size
  }

  private mutating func close(_ records: inout [UInt8], _ starts: inout [UInt32]) {
    let digests = 32 * starts.count
    blocks.append(Block(bytes: [UInt8](repeating: 0, count: digests) + records, starts: starts.map { $0 + UInt32(digests) }))
    records.removeAll(keepingCapacity: true)
    starts.removeAll(keepingCapacity: true)
  }

  // MARK: Places

  /// Calls `body` with the path of a record.
  func withPath<Result, Failure: Error>(of record: Int, _ body: (Span<UInt8>) throws(Failure) -> Result) throws(Failure) -> Result {
    let block = blocks[record / Limits.recordsPerBlock]
    let start = Int(block.starts[record % Limits.recordsPerBlock])
    let length = Int(block.bytes[start]) | Int(block.bytes[start + 1]) << 8
    return try body(block.bytes.byteSpan.extracting(start + IndexRecord.fixedSize..<start + IndexRecord.fixedSize + length))
  }

  func kind(of record: Int) -> IndexRecord.Kind {
    let block = blocks[record / Limits.recordsPerBlock]
    // It was checked when the record was added.
    return IndexRecord.Kind(rawValue: block.bytes[Int(block.starts[record % Limits.recordsPerBlock]) + 2]) ?? .file
  }

  /// Counts what the tree makes on a disk.
  ///
  /// - Throws: ``PackError/Code/limitExceeded`` if the tree is more than a pack may hold.
  func measured() throws(PackError) -> TreeCount {
    var tree = TreeCount()
    for record in sizes.indices {
      try withPath(of: record) { (path) throws(PackError) in try tree.add(path: path, kind: kind(of: record), size: sizes[record]) }
    }
    return tree
  }

  /// Sets the places of all contents, and the digests of those that come from bases.
  mutating func set(_ layout: TreeLayout, _ records: BaseRecords) {
    for record in sizes.indices where sizes[record] > 0 {
      let (block, row) = (record / Limits.recordsPerBlock, record % Limits.recordsPerBlock)
      let start = Int(blocks[block].starts[row]) + 11
      for byte in 0..<8 { blocks[block].bytes[start + byte] = UInt8(truncatingIfNeeded: layout.offsets[record] >> (8 * UInt64(byte))) }
      guard let base = layout.base(of: record) else { continue }
      records.withDigest(of: base) { setDigest($0, of: record) }
    }
  }

  /// Sets the SHA-256 of the content of a record.
  mutating func setDigest(_ digest: Span<UInt8>, of record: Int) {
    var whole = blocks[record / Limits.recordsPerBlock].bytes.mutableByteSpan
    copy(digest, to: &whole, at: 32 * (record % Limits.recordsPerBlock))
  }

  // MARK: Result

  /// Sets the digests of empty files, and computes the content root.
  mutating func contentRoot(_ backend: any CryptoBackend) throws(PackError) -> [UInt8] {
    let emptyDigest = try backend.makeDigest().finish()
    for record in sizes.indices where sizes[record] == 0 && kind(of: record) != .directory { setDigest(emptyDigest.byteSpan, of: record) }
    let root = try ContentRoot(backend: backend)
    for (number, block) in blocks.enumerated() {
      let made = IndexBlock(number: number, bytes: block.bytes, starts: block.starts)
      for row in 0..<made.count {
        try made.withDigest(of: row) { (digest) throws(PackError) in
          try made.withPath(of: row) { (path) throws(PackError) in
            try root.add(path: path, kind: made.kind(of: row), size: made.size(of: row), digest: digest)
          }
        }
      }
    }
    return try root.finish()
  }

  /// Returns the index. The tree is not needed after that.
  mutating func index(_ table: SeekTable, root: [UInt8]) -> DerivedIndex {
    let made = blocks.enumerated().map { IndexBlock(number: $0.offset, bytes: $0.element.bytes, starts: $0.element.starts) }
    blocks = []
    return DerivedIndex(
      head: IndexHead(
        recordCount: UInt32(count), largestFrame: table.largestFrame, contentSize: contentSize, tarSize: table.tarSize, contentRoot: root),
      blocks: made)
  }
}
