/// An open pack, whose entries can be listed, looked up, read and unpacked.
///
/// Opening reads and checks the header, the last segment, the seek table and the head of the index, a few kilobytes in all. A wrong key is detected
/// before anything is decrypted. All data that the pack returns later is authenticated first.
///
/// Memory use is bounded, whatever the pack's size. An open pack takes 9 bytes per frame (at most 1.2 MiB) and the directory of the index (at most 2
/// MiB). Each concurrent operation takes one frame, a block of 128 KiB, 128 KiB of segments, and two decoders of 96 KiB.
/// ``unpack(to:jobs:contentLimit:progress:)`` and ``verify(jobs:contentLimit:progress:)`` additionally take 2 MiB and 16 bytes per entry.
///
/// A pack may be used by any number of tasks at once. Calls block their thread while they read. Between calls, the buffers of finished calls are kept,
/// with the parts of frames in them, so that neighbouring ranges do not read a frame again: at most 24 MiB, or those of four calls if that is more (33.8
/// MiB with frames of 8 MiB). 256 KiB of the index are kept, too. The key can be released once the pack is open. The file is closed when the last
/// reference to the pack is released.
public final class Pack: Sendable {
  package let source: PackSource
  package let table: SeekTable
  package let index: IndexReader
  let rawBlocks: RawBlocks
  /// The blocks of the index that were used last.
  let blocks: IndexCache
  private let readers = Monitor(Readers())

  /// The readers of this pack, which keep what they have read.
  private struct Readers {
    /// Those that wait for their next use; the most recently used one is last.
    var idle: [PackReader] = []
    var idleSize: Int { idle.reduce(0) { $0 + $1.memorySize } }
    /// The number of the others, and the memory that they need.
    var (busyCount, busySize) = (0, 0)
  }

  /// The memory of readers that is kept between calls, in bytes, unless this number of them takes more.
  static let (keptSize, keptCount) = (24 << 20, 4)

  /// Opens the pack whose header was opened.
  package convenience init(_ source: PackSource) throws(PackError) {
    let segments = try SegmentReader(source)
    let (table, index): (SeekTable, IndexReader)
    do throws(PackError) {
      let payloadSize = source.layout.payloadSize
      // The last segment shows whether the pack is complete, so it is opened before any length is trusted.
      try segments.openLastSegment()
      guard source.header.kind == .full else {
        throw PackError(
          .unsupported, of: source.path, "is a delta, which has to be applied to the packs that it was made for", advice: .chooseBase)
      }
      guard payloadSize >= UInt64(SeekTable.skippableHeaderSize + SeekTable.footerSize) else {
        throw PackError(.damagedPayload, "payload is \(payloadSize) bytes, too short for a seek table")
      }
      var footer = [UInt8](repeating: 0, count: SeekTable.footerSize)
      var footerTarget = footer.mutableByteSpan
      try segments.read(at: payloadSize - UInt64(SeekTable.footerSize), into: &footerTarget)
      let size = try SeekTable.size(footer: footer.byteSpan)
      guard payloadSize >= UInt64(size) else {
        throw PackError(.damagedPayload, "payload is \(payloadSize) bytes, shorter than its seek table")
      }
      var bytes = [UInt8](repeating: 0, count: size)
      var target = bytes.mutableByteSpan
      try segments.read(at: payloadSize - UInt64(size), into: &target)
      table = try SeekTable(parsing: bytes.byteSpan, payloadSize: payloadSize)
      index = try IndexReader(source: segments, table: table, minor: source.header.minor)
    } catch {
      throw error.about(source)
    }
    self.init(source, table, index)
    let reader = try PackReader(self, segments: segments)
    readers.withLock { $0.idle.append(reader) }
  }

  private init(_ source: PackSource, _ table: SeekTable, _ index: IndexReader) {
    (self.source, self.table, self.index) = (source, table, index)
    rawBlocks = RawBlocks(table)
    #if arch(wasm32)
      // A server may have the key of the pack, and the tree is compared with a manifest only once.
      blocks = IndexCache(index, remembers: true)
    #else
      blocks = IndexCache(index)
    #endif
  }

  /// The unencrypted start of the pack.
  package var header: PackHeader { source.header }
  /// The id of the key that the pack was made with.
  public var keyID: KeyID { source.stanzas.keyID }
  /// The ids of the keys for which the pack is wrapped (FORMAT.md §2.6). Usually there are none.
  public var recipientIDs: [KeyID] { source.stanzas.recipientIDs }
  /// The positions of the segments.
  package var layout: SegmentLayout { source.layout }
  /// The number of entries: files and empty directories.
  public var entryCount: Int { Int(index.head.recordCount) }
  /// The sum of the sizes of all files in bytes.
  public var contentSize: UInt64 { index.head.contentSize }
  /// The digest of the tree (32 bytes). It is equal for equal trees, regardless of their order, compression and key.
  public var contentRoot: [UInt8] { index.head.contentRoot }
  /// The size of the largest decompressed frame in bytes. It determines how much memory a reader needs.
  package var largestFrame: UInt32 { table.largestFrame }

  /// Returns the entry at `path`.
  ///
  /// Reads one block of the index: decrypts one or two segments and decompresses a few kilobytes.
  ///
  /// - Throws: ``PackError/Code/noSuchEntry`` if the pack has no such entry.
  public func entry(at path: String) throws(PackError) -> Entry {
    if let entry = try find(path) { return entry }
    return try withReader { (reader) throws(PackError) in
      try reader.entry(at: path)
    }
  }

  /// Returns the entry at `path`. Returns nil if the pack has no such entry.
  package func find(_ path: String) throws(PackError) -> Entry? {
    let bytes = Array(path.utf8)
    // A block in memory needs no reader, which others may want because of its frame.
    if let number = index.block(holding: bytes.byteSpan), let block = blocks.block(number) {
      return block.row(of: bytes.byteSpan).map { block.entry($0) }
    }
    return try withReader { (reader) throws(PackError) in
      try reader.find(bytes.byteSpan).map { $0.block.entry($0.row) }
    }
  }

  /// Calls `body` with every entry, in the byte order of the paths.
  ///
  /// The index is read block by block. `body` may call other methods of the pack.
  public func forEachEntry(_ body: (Entry) throws(PackError) -> Void) throws(PackError) {
    try forEachRecord { (block, row) throws(PackError) in try body(block.entry(row)) }
  }

  /// Calls `body` with the block and row of every record, in the byte order of the paths.
  package func forEachRecord(_ body: (IndexBlock, _ row: Int) throws(PackError) -> Void) throws(PackError) {
    try forEachBlock { (block) throws(PackError) in
      for row in 0..<block.count { try body(block, row) }
    }
  }

  /// Calls `body` with every block of the index, in the byte order of the paths, which is checked across blocks.
  package func forEachBlock(_ body: (IndexBlock) throws(PackError) -> Void) throws(PackError) {
    var order = EntryPath.TreeOrder()
    for number in 0..<index.head.blockCount {
      try body(
        try withReader { (reader) throws(PackError) in
          try reader.block(number, order: &order, isKept: false)
        })
    }
  }

  /// Returns the content of the file at `path`, or a part of it.
  ///
  /// Reads the frames that the range touches no further than to its end: what follows is not checked. The digest is checked if the whole file is read.
  /// A part is authenticated by the tags of its segments only.
  ///
  /// - Parameters:
  ///   - path: the path of a file.
  ///   - range: the bytes to read; the whole file if nil.
  /// - Throws: ``PackError/Code/noSuchEntry``, ``PackError/Code/rangeNotSatisfiable`` if the range ends after the file, or the error of a damaged
  ///   pack.
  public func read(_ path: String, range: Range<UInt64>? = nil) throws(PackError) -> [UInt8] {
    let entry = try self.entry(at: path)
    let wanted = range ?? 0..<entry.size
    guard let count = Int(exactly: wanted.upperBound - wanted.lowerBound), wanted.upperBound <= entry.size else {
      throw entry.unsatisfiable(wanted)
    }
    var content: [UInt8] = []
    // The size in the index is not trusted until that many bytes were read.
    content.reserveCapacity(min(count, 16 << 20))
    try read(entry, range: range) { piece in
      content.append(copying: piece)
    }
    return content
  }

  /// Streams the content of a file, or of a part of it, in pieces of at most one frame.
  ///
  /// Every piece is authenticated. The digest of a whole file can be checked only after its last piece, so a caller that must not act on mismatched
  /// content waits until this method returns.
  ///
  /// - Parameters:
  ///   - entry: an entry of this pack.
  ///   - range: the bytes to read; the whole file if nil.
  ///   - body: receives the pieces in order. It may call other methods of the pack.
  public func read(
    _ entry: Entry, range: Range<UInt64>? = nil, into body: (Span<UInt8>) throws(PackError) -> Void
  ) throws(PackError) {
    // Frames do not follow each other in the order of the paths, so the next file may be in a frame that another reader has.
    let start = entry.offset.adding(range?.lowerBound ?? 0)
    try withReader(holding: start < table.tarSize ? table.frame(holding: start) : nil) { (reader) throws(PackError) in
      try reader.read(entry, range: range, into: body)
    }
  }

  /// Frees the buffers that are kept for later calls. Call it before reading the whole pack with other readers.
  package func dropBuffers() {
    readers.withLock { $0.idle.removeAll() }
    blocks.removeAll()
  }

  /// Calls `body` with the first piece of `range`: as much of it as is in one frame. `range` must not be empty and must be inside the file.
  ///
  /// - Parameter decryptedBytes: increased by the number of bytes decrypted for the piece; unchanged if the frame was in memory.
  package func withPiece<Result>(
    of entry: Entry, _ range: Range<UInt64>, decryptedBytes: inout UInt64, _ body: (Span<UInt8>) throws(PackError) -> Result
  ) throws(PackError) -> Result {
    let number = table.frame(holding: entry.offset + range.lowerBound)
    return try withReader(holding: number) { (reader) throws(PackError) in
      let before = reader.decryptedBytes
      return try reader.withPiece(of: entry, range) { (piece) throws(PackError) in
        decryptedBytes += reader.decryptedBytes - before
        return try body(piece)
      }
    }
  }

  /// Calls `body` with a reader for exclusive use.
  ///
  /// - Parameter frame: the frame that will be read. It is not read again as far as a reader still has it.
  package func withReader<Result>(
    holding frame: Int? = nil, _ body: (PackReader) throws(PackError) -> Result
  ) throws(PackError) -> Result {
    let size = PackReader.fixedSize + (frame.map { DecompressionContext.room(for: Int(table[$0].size)) } ?? 0)
    let waiting = readers.withLock { readers -> PackReader? in
      readers.busyCount += 1
      readers.busySize += size
      var place = readers.idle.indices.last
      if let frame {
        place = readers.idle.lastIndex { $0.heldFrame == frame } ?? readers.idle.firstIndex { $0.isSpent }
        if place == nil, readers.idle.count + readers.busyCount > Self.keptCount {
          // What was not decoded is read again at little cost.
          place = readers.idle.firstIndex { !$0.holdsDecoded }
          if place == nil, readers.idleSize + readers.busySize > Self.keptSize {
            // What was used least recently, in memory of the right size if possible.
            place = readers.idle.firstIndex { (size...2 * size).contains($0.memorySize) } ?? readers.idle.indices.first
          }
        }
      }
      return place.map { readers.idle.remove(at: $0) }
    }
    defer {
      readers.withLock { readers in
        readers.busyCount -= 1
        readers.busySize -= size
      }
    }
    let reader = if let waiting { waiting } else { try PackReader(self) }
    defer {
      readers.withLock { readers in
        readers.idle.append(reader)
        while readers.idle.count > Self.keptCount, readers.idleSize > Self.keptSize { readers.idle.removeFirst() }
      }
    }
    return try attributing(to: source.path) { () throws(PackError) in try body(reader) }
  }
}

extension PackError {
  /// Returns the same error with the pack as its subject, unchanged if it already has this subject.
  package func about(_ source: PackSource) -> PackError { about(source.path) }
}

extension Entry {
  func unsatisfiable(_ range: Range<UInt64>) -> PackError {
    PackError(
      .rangeNotSatisfiable,
      "'\(path)' is \(size) bytes, but bytes up to \(range.upperBound) were requested")
  }
}
