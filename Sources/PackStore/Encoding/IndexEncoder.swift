/// Writes the end of the payload of a full pack: the two frames of the index, and the seek table (FORMAT.md §4.6, §4.7).
///
/// Memory: the blocks as they are written, 32 bytes for each content and the paths compressed.
package struct IndexEncoder {
  /// A block of the index.
  package struct Block: Sendable {
    fileprivate let bytes: [UInt8]
    fileprivate let firstPath: [UInt8]
    /// The bytes of its records that the content root covers.
    package let rootBytes: [UInt8]
  }

  /// Collects the records of a block, at most ``PackFormat/Limits/recordsPerBlock``.
  package struct BlockEncoder {
    private var records: [IndexRecord] = []
    private var digests: [UInt8] = []
    private var rootBytes: [UInt8] = []

    package init() {}

    /// The number of records so far.
    package var count: Int { records.count }

    /// - Parameter digest: The SHA-256 of the content; zeros for a directory.
    package mutating func add(_ record: IndexRecord, digest: Span<UInt8>) {
      // A digest that a reader knows is not stored.
      if record.size > 0, !records.contains(where: { $0.offset == record.offset }) { digests.append(copying: digest) }
      records.append(record)
      record.appendForContentRoot(to: &rootBytes, digest: digest)
    }

    package func finish(by encoder: borrowing CompressionContext) throws(PackError) -> Block {
      let columns = try encoder.compressed(RecordColumns.bytes(for: records))
      return Block(bytes: columns + digests, firstPath: records.first?.path ?? [], rootBytes: rootBytes)
    }
  }

  private var blocks: [UInt8] = []
  private var directory: [(length: UInt32, firstPath: [UInt8])] = []

  package init() {}

  /// Adds the next block.
  package mutating func add(_ block: Block) {
    blocks += block.bytes
    directory.append((UInt32(block.bytes.count), block.firstPath))
  }

  /// Writes the index and the seek table.
  ///
  /// - Parameters:
  ///   - frames: The sizes of the data frames in bytes, in order.
  ///   - append: Receives the bytes, piece by piece.
  /// - Throws: ``PackError/Code/unsuitableSource`` if the paths are too long together.
  package func finish(
    _ head: IndexHead, frames: [(compressed: UInt32, content: UInt32)], by encoder: borrowing CompressionContext,
    append: (Span<UInt8>) throws(PackError) -> Void
  ) throws(PackError) {
    let blocksSize = try Self.append(blocks, append)
    let headSize = try Self.append(head.bytes + (try compressedDirectory(by: encoder)), append)
    let seekTable = SeekTable.bytes(for: frames + [(blocksSize, 0), (headSize, 0)])
    try append(seekTable.byteSpan)
  }

  private func compressedDirectory(by encoder: borrowing CompressionContext) throws(PackError) -> [UInt8] {
    guard !directory.isEmpty else { return [] }
    let bytes = IndexDirectory.bytes(for: directory)
    guard bytes.count <= Limits.indexDirectorySize else {
      throw PackError(
        .unsuitableSource, "the index needs a directory of \(bytes.count) bytes, more than \(Limits.indexDirectorySize)",
        hint: "shorten the paths, or split the tree into several packs")
    }
    return try encoder.compressed(bytes)
  }

  /// Writes a skippable frame of the index, and returns its length.
  private static func append(_ content: [UInt8], _ append: (Span<UInt8>) throws(PackError) -> Void) throws(PackError) -> UInt32 {
    var head: [UInt8] = []
    head.append(littleEndian: IndexHead.frameMagic)
    head.append(littleEndian: UInt32(content.count))
    try append(head.byteSpan)
    try append(content.byteSpan)
    return UInt32(head.count + content.count)
  }
}

extension CompressionContext {
  /// Returns `content` as one frame.
  package func compressed(_ content: [UInt8]) throws(PackError) -> [UInt8] {
    var frame = [UInt8](repeating: 0, count: Limits.compressBound(content.count))
    var target = frame.mutableByteSpan
    let size = try compress(content.byteSpan, into: &target)
    frame.removeSubrange(size...)
    return frame
  }
}
