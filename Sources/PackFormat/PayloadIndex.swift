/// One record of the index (FORMAT.md §4.6), without its digest.
package struct IndexRecord: Hashable, Sendable {
  /// What an entry is.
  package enum Kind: UInt8, Sendable {
    case file = 0
    case directory = 1
    case executable = 0x80
  }

  package var path: [UInt8]
  package var kind: Kind
  /// The length of the content in bytes; 0 for a directory.
  package var size: UInt64
  /// Where the content starts in the tar, in bytes; 0 if it has no content.
  package var offset: UInt64

  package init(path: [UInt8], kind: Kind, size: UInt64, offset: UInt64) {
    self.path = path
    self.kind = kind
    self.size = size
    self.offset = offset
  }

  /// Appends what the content root covers of the record: everything but the offset, and its digest.
  package func appendForContentRoot(to bytes: inout [UInt8], digest: Span<UInt8>) {
    Self.appendForContentRoot(to: &bytes, path: path.byteSpan, kind: kind, size: size, digest: digest)
  }

  /// Appends what the content root covers of a record with these fields.
  package static func appendForContentRoot(
    to bytes: inout [UInt8], path: Span<UInt8>, kind: Kind, size: UInt64, digest: Span<UInt8>
  ) {
    bytes.append(littleEndian: UInt16(path.count))
    bytes.append(kind.rawValue)
    bytes.append(copying: path)
    bytes.append(littleEndian: size)
    bytes.append(copying: digest)
  }

  /// The SHA-256 of no bytes: the digest of an empty file.
  package static let emptyDigest: [UInt8] = [
    0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24,
    0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55,
  ]
  /// What stands in place of the digest of a directory.
  package static let noDigest = [UInt8](repeating: 0, count: 32)

  /// Checks type, path and size of a record, in this order (FORMAT.md §4.9): a type of a later version may have other rules for the other fields.
  package static func check(type: UInt8, path: Span<UInt8>, size: UInt64) throws(PackError) -> Kind {
    guard let kind = Kind(rawValue: type) else {
      throw PackError(.unsupported, "index holds an entry of type \(type), which this build does not know")
    }
    guard path.count <= Limits.pathLength else {
      throw PackError(.limitExceeded, "index holds a path of \(path.count) bytes, more than \(Limits.pathLength)")
    }
    func name() -> String { printable([UInt8](copying: path)) }
    if let problem = EntryPath.depthProblem(of: path) { throw PackError(.limitExceeded, "entry '\(name())' \(problem)") }
    if let problem = EntryPath.securityProblem(of: path) { throw PackError(.illegalPath, "entry '\(name())' \(problem)") }
    guard kind != .directory || size == 0 else {
      throw PackError(.damagedPayload, "directory '\(name())' claims \(size) bytes of content")
    }
    return kind
  }
}

/// The head of the index (FORMAT.md §4.6), without its directory.
package struct IndexHead: Hashable, Sendable {
  package var recordCount: UInt32
  /// The largest decompressed data frame in bytes.
  package var largestFrame: UInt32
  /// The sum of the sizes of all records in bytes.
  package var contentSize: UInt64
  /// The length of the tar in bytes.
  package var tarSize: UInt64
  /// The digest that names the tree, 32 bytes.
  package var contentRoot: [UInt8]

  package static let size = 64
  package static let magic: [UInt8] = Array("PIX1".utf8)
  package static let frameMagic: UInt32 = 0x184D_2A5D

  package init(
    recordCount: UInt32, largestFrame: UInt32, contentSize: UInt64, tarSize: UInt64, contentRoot: [UInt8]
  ) {
    self.recordCount = recordCount
    self.largestFrame = largestFrame
    self.contentSize = contentSize
    self.tarSize = tarSize
    self.contentRoot = contentRoot
  }

  /// The number of blocks that hold the records.
  package var blockCount: Int {
    (Int(recordCount) + Limits.recordsPerBlock - 1) / Limits.recordsPerBlock
  }

  /// The number of records in block `index`.
  package func recordCount(inBlock index: Int) -> Int {
    min(Limits.recordsPerBlock, Int(recordCount) - index * Limits.recordsPerBlock)
  }

  /// The 64 bytes of the head.
  package var bytes: [UInt8] {
    var bytes = Self.magic
    bytes.append(littleEndian: recordCount)
    bytes.append(littleEndian: largestFrame)
    bytes.append(littleEndian: UInt32(0))
    bytes.append(littleEndian: contentSize)
    bytes.append(littleEndian: tarSize)
    return bytes + contentRoot
  }

  /// Reads the head.
  ///
  /// - Parameter table: what the head must agree with. This is checked before the limits (FORMAT.md §4.9).
  package static func parse(_ bytes: Span<UInt8>, table: SeekTable? = nil) throws(PackError) -> IndexHead {
    var cursor = FieldCursor(failure: .damagedPayload)
    let magic = try cursor.range("index head", count: 4, in: bytes)
    guard equal(bytes.extracting(magic), Self.magic.byteSpan) else {
      throw PackError(.damagedPayload, "payload has no index where its seek table says")
    }
    let recordCount = try cursor.uint32("index head", in: bytes)
    let largestFrame = try cursor.uint32("index head", in: bytes)
    guard try cursor.uint32("index head", in: bytes) == 0 else {
      throw PackError(.damagedPayload, "index head has nonzero bytes in a reserved field")
    }
    let head = IndexHead(
      recordCount: recordCount, largestFrame: largestFrame,
      contentSize: try cursor.uint64("index head", in: bytes),
      tarSize: try cursor.uint64("index head", in: bytes),
      contentRoot: try cursor.bytes("index head", count: 32, in: bytes))
    if let table, head.tarSize != table.tarSize || head.largestFrame != table.largestFrame {
      throw PackError(
        .damagedPayload,
        "index says tar size \(head.tarSize) and largest frame \(head.largestFrame), but the seek table says \(table.tarSize) and \(table.largestFrame)"
      )
    }
    guard recordCount <= Limits.records else {
      throw PackError(.limitExceeded, "index lists \(recordCount) entries, more than \(Limits.records)")
    }
    guard head.contentSize <= Limits.contentSize else {
      throw PackError(.limitExceeded, "pack holds \(head.contentSize) bytes of content, more than the limit of \(Limits.contentSize)")
    }
    return head
  }
}

/// The directory of the index (FORMAT.md §4.6): the length and the first path of each block.
package struct IndexDirectory: Sendable {
  private let bytes: [UInt8]
  /// For each block, where its item starts in ``bytes``, and where the block starts in the blocks frame.
  private let items: [(item: UInt32, offset: UInt64)]
  private let end: UInt64

  /// Reads the directory of a head's blocks. Its paths must be in ascending order.
  package init(parsing bytes: [UInt8], head: IndexHead, blocksSize: UInt64) throws(PackError) {
    var cursor = FieldCursor(failure: .damagedPayload)
    var items: [(item: UInt32, offset: UInt64)] = []
    items.reserveCapacity(head.blockCount)
    var offset: UInt64 = 0
    var previous = 0..<0
    for block in 0..<head.blockCount {
      items.append((UInt32(cursor.offset), offset))
      let length = try cursor.uint32("index directory", in: bytes.byteSpan)
      let pathLength = Int(try cursor.uint16("index directory", in: bytes.byteSpan))
      let path = try cursor.range("index directory", count: pathLength, in: bytes.byteSpan)
      guard block == 0 || precedes(bytes.byteSpan.extracting(previous), bytes.byteSpan.extracting(path)) else {
        throw PackError(.damagedPayload, "index blocks are out of order at block \(block)")
      }
      guard length > 0, length <= UInt32(Limits.compressBound(Limits.indexBlockSize) + 32 * head.recordCount(inBlock: block)) else {
        throw PackError(.damagedPayload, "index block \(block) claims \(length) bytes")
      }
      offset += UInt64(length)
      previous = path
    }
    guard cursor.offset == bytes.count else {
      throw PackError(.damagedPayload, "index directory is longer than its blocks need")
    }
    guard offset == blocksSize else {
      throw PackError(.damagedPayload, "index blocks add up to \(offset) bytes, but their frame holds \(blocksSize)")
    }
    self.bytes = bytes
    self.items = items
    end = offset
  }

  /// The number of blocks.
  package var count: Int { items.count }

  /// Returns the range of a block in the content of the blocks frame.
  package func range(ofBlock block: Int) -> Range<UInt64> {
    items[block].offset..<(block + 1 < items.count ? items[block + 1].offset : end)
  }

  /// Whether a block starts with this path, according to the directory.
  package func block(_ block: Int, startsWith path: Span<UInt8>) -> Bool {
    equal(bytes.byteSpan.extracting(firstPath(ofBlock: block)), path)
  }

  /// Returns the only block that can hold `path`, or nil if none can.
  package func block(holding path: Span<UInt8>) -> Int? {
    let next = items.indices.partitioningIndex { precedes(path, bytes.byteSpan.extracting(firstPath(ofBlock: $0))) }
    return next == 0 ? nil : next - 1
  }

  private func firstPath(ofBlock block: Int) -> Range<Int> {
    let item = Int(items[block].item)
    let length = Int(bytes[item + 4]) | Int(bytes[item + 5]) << 8
    return item + 6..<item + 6 + length
  }

  /// Returns the directory as it is written in the head, before compression.
  package static func bytes(for blocks: [(length: UInt32, firstPath: [UInt8])]) -> [UInt8] {
    var bytes: [UInt8] = []
    for block in blocks {
      bytes.append(littleEndian: block.length)
      bytes.append(littleEndian: UInt16(block.firstPath.count))
      bytes += block.firstPath
    }
    return bytes
  }
}

/// Whether one path comes before another in byte order, the shorter first.
@inlinable
package func precedes(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
  let shared = min(left.count, right.count)
  for index in 0..<shared where left[index] != right[index] {
    return left[index] < right[index]
  }
  return left.count < right.count
}
