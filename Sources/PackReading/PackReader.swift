/// The cipher, decoder and buffers of one operation on a pack.
package final class PackReader {
  private let table: SeekTable
  private let index: IndexReader
  private let segments: SegmentReader
  private let frames: FrameReader
  private let digest: any DigestContext
  /// The number of the frame that is in memory, as a whole or in part.
  package var heldFrame: Int? { frames.number }
  /// Whether the frame was read to its end, so it is unlikely to be needed again soon.
  var isSpent = true
  /// Whether what is in memory was decoded, so it costs more to read it again.
  var holdsDecoded: Bool { frames.holdsDecoded }

  /// The memory that the reader takes in bytes: for the frame and the block behind it, and ``fixedSize``.
  var memorySize: Int { frames.memorySize + Self.fixedSize }
  /// The memory that a reader takes besides that of the frame, in bytes: the ciphertext and the plaintext of usual segments, and two decoders.
  static let fixedSize = 2 * (64 << 10) + 2 * (96 << 10)
  private let blocks: IndexCache
  private var recentBlock: IndexBlock?

  /// - Parameter blocks: the cache for blocks of the index; that of the pack if nil.
  package convenience init(_ pack: Pack, blocks: IndexCache? = nil) throws(PackError) {
    try self.init(pack, segments: try SegmentReader(pack.source), blocks: blocks)
  }

  init(_ pack: Pack, segments: SegmentReader, blocks: IndexCache? = nil) throws(PackError) {
    self.blocks = blocks ?? pack.blocks
    table = pack.table
    index = pack.index
    self.segments = segments
    frames = try FrameReader(source: segments, table: pack.table, rawBlocks: pack.rawBlocks)
    digest = try pack.source.backend.makeDigest()
  }

  /// Keeps memory for the largest frame. Call it before reading all frames.
  func reserve() { frames.reserve() }

  /// Returns block `number` of the index.
  ///
  /// - Parameter isKept: whether the block is put into the cache.
  package func block(_ number: Int, isKept: Bool = true) throws(PackError) -> IndexBlock {
    if let recentBlock, recentBlock.number == number { return recentBlock }
    if let known = blocks.block(number) {
      recentBlock = known
      return known
    }
    var order = EntryPath.TreeOrder()
    return try block(number, order: &order, isKept: isKept)
  }

  /// Reads block `number` of the index when all blocks are read in order. `order` holds the state after the blocks before it.
  func block(_ number: Int, order: inout EntryPath.TreeOrder, isKept: Bool = true) throws(PackError) -> IndexBlock {
    let block = try index.block(number, source: segments, decoder: frames.decoder, order: &order)
    if blocks.remembers {
      // Discards what an aborted read left in the digest.
      _ = try digest.finish()
      try block.withBytes { (bytes) throws(PackError) in try digest.update(bytes) }
      guard blocks.isAsBefore(number, digest: try digest.finish()) else {
        throw PackError(.sourceChanged, "pack changed while it was read", advice: .tryAgain)
      }
    }
    if isKept { blocks.keep(block) }
    recentBlock = block
    return block
  }

  /// The number of bytes of plaintext decrypted so far.
  package var decryptedBytes: UInt64 { segments.decryptedBytes }
  /// The number of bytes of frames decoded so far.
  package var decodedBytes: UInt64 { frames.decodedBytes }

  package func entry(at path: String) throws(PackError) -> Entry {
    let bytes = Array(path.utf8)
    guard let (block, row) = try find(bytes.byteSpan) else {
      throw PackError(.noSuchEntry, "there is no '\(printable(path.utf8))' in the pack", advice: .chooseEntry)
    }
    return block.entry(row)
  }

  /// Returns the record of a path and its number in the index. Returns nil if the pack has no such entry.
  package func record(at path: String) throws(PackError) -> (record: IndexRecord, number: Int)? {
    let bytes = Array(path.utf8)
    guard let (block, row) = try find(bytes.byteSpan) else { return nil }
    return (block.record(row), block.number(of: row))
  }

  /// Returns the place of a path's record. Returns nil if the pack has no such entry.
  package func find(_ path: Span<UInt8>) throws(PackError) -> (block: IndexBlock, row: Int)? {
    guard let number = index.block(holding: path) else { return nil }
    let block = try block(number)
    return block.row(of: path).map { (block, $0) }
  }

  package func read(
    _ entry: Entry, range: Range<UInt64>?, into body: (Span<UInt8>) throws(PackError) -> Void
  ) throws(PackError) {
    guard entry.kind == .file else {
      throw PackError(.noSuchEntry, "'\(printable(entry.path.utf8))' is a directory", advice: .chooseEntry)
    }
    let wanted = range ?? 0..<entry.size
    guard wanted.upperBound <= entry.size else { throw entry.unsatisfiable(wanted) }
    let checksDigest = wanted == 0..<entry.size
    // Discards what an aborted read left in the digest.
    if checksDigest { _ = try digest.finish() }
    var position = wanted.lowerBound
    while position < wanted.upperBound {
      try withPiece(of: entry, position..<wanted.upperBound) { (piece) throws(PackError) in
        if checksDigest { try digest.update(piece) }
        try body(piece)
        position += UInt64(piece.count)
      }
    }
    guard checksDigest else { return }
    guard try digest.finish() == entry.sha256 else {
      throw Self.digestMismatch(entry.path)
    }
  }

  /// Calls `body` with the first piece of a range of a file: as much of it as is in one frame, which is not decoded further than that.
  func withPiece<Result>(
    of entry: Entry, _ range: Range<UInt64>, _ body: (Span<UInt8>) throws(PackError) -> Result
  ) throws(PackError) -> Result {
    let number = table.frame(holding: entry.offset + range.lowerBound)
    let place = table[number].tarRange
    let piece = (entry.offset + range.lowerBound..<entry.offset + range.upperBound).clamped(to: place)
    let part = Int(piece.lowerBound - place.lowerBound)..<Int(piece.upperBound - place.lowerBound)
    isSpent = true
    try frames.load(number, part)
    isSpent = piece.upperBound == place.upperBound
    return try frames.withContent(part, body)
  }

  /// Makes frame `number` the current one, whole, and returns the bytes of the tar that it holds.
  package func load(_ number: Int) throws(PackError) -> Range<UInt64> {
    try frames.load(number, 0..<Int(table[number].size))
    return table[number].tarRange
  }

  /// Calls `body` with the content of the current frame.
  package func withFrame<Result>(
    _ body: (Span<UInt8>) throws(PackError) -> Result
  ) throws(PackError) -> Result {
    guard let number = frames.number else { preconditionFailure("no frame was loaded") }
    return try frames.withContent(0..<Int(table[number].size), body)
  }

  /// Reads and discards bytes of the payload to check their tags.
  package func authenticate(_ range: Range<UInt64>) throws(PackError) {
    var buffer = [UInt8](repeating: 0, count: Int(min(64 << 10, range.upperBound - range.lowerBound)))
    var position = range.lowerBound
    while position < range.upperBound {
      let count = Int(min(UInt64(buffer.count), range.upperBound - position))
      var whole = buffer.mutableByteSpan
      var target = whole._mutatingExtracting(first: count)
      try segments.read(at: position, into: &target)
      position += UInt64(count)
    }
  }

  /// Reads a few bytes of the payload.
  package func payload(_ range: Range<UInt64>) throws(PackError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Int(range.upperBound - range.lowerBound))
    var target = bytes.mutableByteSpan
    try segments.read(at: range.lowerBound, into: &target)
    return bytes
  }

  package static func digestMismatch(_ path: String) -> PackError {
    PackError(
      .digestMismatch, "the content of '\(printable(path.utf8))' does not match the index",
      advice: .fetchFromTrustedPlace)
  }
}
