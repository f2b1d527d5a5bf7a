package import PackFiles
package import PackPayload
import PackWork

/// An open pack: its entries can be listed, looked up, read and unpacked.
///
/// Opening reads and checks the header, the last segment, the seek table and the head of the index, a few kilobytes in all, and
/// tells a wrong key before anything is decrypted. Whatever is handed out later was authenticated first.
///
/// Memory stays bounded whatever the pack's size: 8 bytes per frame (1 MiB at most) and the directory of the index (2 MiB at most) while the pack is open;
/// for each operation that runs at the same time one frame with a block of 128 KiB, and 128 KiB of segments; ``unpack(to:jobs:contentLimit:progress:)`` and
/// ``verify(jobs:contentLimit:progress:)`` take 2 MiB and 16 bytes per entry more.
///
/// A value may be used from any number of tasks at once. Calls block their thread while they read; nothing is cached across calls but
/// the buffers of finished ones, four at most, with the frames in them. The key can be released once the pack is open. The file is closed with the last reference.
public final class Pack: Sendable {
  package let source: PackSource
  package let table: SeekTable
  package let index: IndexReader
  /// Those that wait for their next use, the one that was used last at the end.
  private let idle = Monitor<[PackReader]>([])
  private static let idleReaders = 4

  /// Opens the pack at `path`.
  ///
  /// - Parameter key: the application key, or the pack's own where it was made with one.
  /// - Throws: ``PackError`` with a code that tells a wrong key (``PackError/Code/wrongKey``) from a damaged header
  ///   (``PackError/Code/damagedHeader``), a damaged body, a truncated pack, a file that is no pack, and one that asks for a newer reader.
  public static func open(_ path: String, key: borrowing PackKey) throws(PackError) -> Pack {
    try Pack(path, key: key, files: SystemFiles(), backend: CryptoBackends.standard)
  }

  package convenience init(
    _ path: String, key: borrowing PackKey, files: any FileSystem, backend: any CryptoBackend
  ) throws(PackError) {
    try self.init(PackStart(path, files: files), path: path, key: key, files: files, backend: backend)
  }

  /// Opens the pack at `path`, of which the start was read already.
  package init(
    _ start: PackStart, path: String, key: borrowing PackKey, files: any FileSystem, backend: any CryptoBackend
  ) throws(PackError) {
    source = try PackSource(start, path: path, key: key, files: files, backend: backend)
    let segments = try SegmentReader(source)
    do throws(PackError) {
      let payloadSize = source.layout.payloadSize
      // The last segment says whether this is all of the pack, so it is opened before any length is believed.
      try segments.openLastSegment()
      guard payloadSize >= UInt64(SeekTable.footerSize) else {
        throw PackError(.damagedPayload, "payload is \(payloadSize) bytes, too short for a seek table")
      }
      var footer = [UInt8](repeating: 0, count: SeekTable.footerSize)
      var footerTarget = footer.mutableSpan
      try segments.read(at: payloadSize - UInt64(SeekTable.footerSize), into: &footerTarget)
      let size = try SeekTable.size(footer: footer.span)
      guard payloadSize >= UInt64(size) else {
        throw PackError(.damagedPayload, "payload is \(payloadSize) bytes, shorter than its seek table")
      }
      var bytes = [UInt8](repeating: 0, count: size)
      var target = bytes.mutableSpan
      try segments.read(at: payloadSize - UInt64(size), into: &target)
      table = try SeekTable(parsing: bytes.span, payloadSize: payloadSize)
      index = try IndexReader(source: segments, table: table, minor: source.header.minor)
    } catch {
      throw error.about(source)
    }
    let reader = try PackReader(self, segments: segments)
    idle.withLock { $0.append(reader) }
  }

  /// The readable start of the pack.
  package var header: PackHeader { source.header }
  /// The key that opens the pack.
  public var keyID: KeyID { source.stanzas.keyID }
  /// Where the segments lie.
  package var layout: SegmentLayout { source.layout }
  /// The number of entries: files, and directories that are empty.
  public var entryCount: Int { Int(index.head.recordCount) }
  /// The sum of the sizes of all files in bytes.
  public var contentSize: UInt64 { index.head.contentSize }
  /// The digest that names the tree: equal for equal trees, whatever their order, compression and key (32 bytes).
  public var contentRoot: [UInt8] { index.head.contentRoot }
  /// The largest decompressed frame in bytes, which decides what memory a reader needs.
  package var largestFrame: UInt32 { table.largestFrame }

  /// Checks that the pack was made under a name: a sound pack may still be another one than was asked for, renamed on the way.
  ///
  /// - Throws: ``PackError/Code/wrongPack`` where it was not.
  package func checkName(_ name: PackName) throws(PackError) {
    guard try PackID.bytes(for: name, backend: source.backend) == header.packID else {
      throw PackError(
        .wrongPack, "pack was made under another name than '\(name)'", advice: .fetchAgain
      ).about(source)
    }
  }

  /// The entry at `path`.
  ///
  /// Costs one block of the index: one or two segments and a decompression of a few kilobytes.
  ///
  /// - Throws: ``PackError/Code/noSuchEntry`` where there is none.
  public func entry(at path: String) throws(PackError) -> Entry {
    try withReader { (reader) throws(PackError) in
      try reader.entry(at: path)
    }
  }

  /// The entry at `path`, or nil where there is none.
  package func find(_ path: String) throws(PackError) -> Entry? {
    let bytes = Array(path.utf8)
    return try withReader { (reader) throws(PackError) in
      try reader.find(bytes.span).map { $0.block.entry($0.row) }
    }
  }

  /// Calls `body` with every entry, in the byte order of the paths.
  ///
  /// Reads the index block by block; `body` may call other methods of the pack.
  public func forEachEntry(_ body: (Entry) throws(PackError) -> Void) throws(PackError) {
    try forEachRecord { (block, row) throws(PackError) in try body(block.entry(row)) }
  }

  /// Calls `body` with the place of every record, in the byte order of the paths.
  package func forEachRecord(_ body: (IndexBlock, _ row: Int) throws(PackError) -> Void) throws(PackError) {
    try forEachBlock { (block) throws(PackError) in
      for row in 0..<block.count { try body(block, row) }
    }
  }

  /// Calls `body` with every block of the index, in the byte order of the paths.
  package func forEachBlock(_ body: (IndexBlock) throws(PackError) -> Void) throws(PackError) {
    for number in 0..<index.head.blockCount {
      try body(
        try withReader { (reader) throws(PackError) in
          try reader.block(number, isKept: false)
        })
    }
  }

  /// The content of the file at `path`, or of a part of it.
  ///
  /// Reads only the segments and frames that the range touches. A whole file's digest is checked; a part rests on the
  /// segments' tags.
  ///
  /// - Parameters:
  ///   - path: the path of a file.
  ///   - range: the bytes wanted; all of the file where it is nil.
  /// - Throws: ``PackError/Code/noSuchEntry``, ``PackError/Code/rangeNotSatisfiable`` if the range ends after the file, or the error of a damaged pack.
  public func read(_ path: String, range: Range<UInt64>? = nil) throws(PackError) -> [UInt8] {
    let entry = try self.entry(at: path)
    let wanted = range ?? 0..<entry.size
    guard let count = Int(exactly: wanted.upperBound - wanted.lowerBound), wanted.upperBound <= entry.size else {
      throw entry.unsatisfiable(wanted)
    }
    var content: [UInt8] = []
    // What a pack says of a size is a claim until the bytes have come.
    content.reserveCapacity(min(count, 16 << 20))
    try read(entry, range: range) { piece in
      content.append(copying: piece)
    }
    return content
  }

  /// Streams the content of a file, or of a part of it, in pieces of at most one frame.
  ///
  /// Every piece was authenticated. The digest of a whole file can only be checked after its last piece, so a caller that
  /// must not act on a mismatch waits for the return.
  ///
  /// - Parameters:
  ///   - entry: an entry of this pack.
  ///   - range: the bytes wanted; all of the file where it is nil.
  ///   - body: receives the pieces in order. It may call other methods of the pack.
  public func read(
    _ entry: Entry, range: Range<UInt64>? = nil, into body: (Span<UInt8>) throws(PackError) -> Void
  ) throws(PackError) {
    try withReader { (reader) throws(PackError) in
      try reader.read(entry, range: range, into: body)
    }
  }

  /// Frees the buffers kept for the next use. Call it before reading the whole pack with readers of your own.
  package func dropBuffers() {
    idle.withLock { $0.removeAll() }
  }

  /// Lends the first piece of `range`, which must not be empty and must lie in the file: as much as lies in one frame.
  ///
  /// - Parameter decryptedBytes: what had to be decrypted for it is added here; nothing where the frame was at hand.
  package func withPiece<Result>(
    of entry: Entry, _ range: Range<UInt64>, decryptedBytes: inout UInt64, _ body: (Span<UInt8>) throws(PackError) -> Result
  ) throws(PackError) -> Result {
    let number = table.frame(holding: entry.offset + range.lowerBound)
    return try withReader(holding: number) { (reader) throws(PackError) in
      let before = reader.decryptedBytes
      let place = try reader.load(number)
      decryptedBytes += reader.decryptedBytes - before
      let start = Int(entry.offset + range.lowerBound - place.lowerBound)
      let count = Int(min(place.upperBound - entry.offset, range.upperBound) - range.lowerBound)
      reader.isSpent = entry.offset + range.lowerBound + UInt64(count) == place.upperBound
      return try reader.withFrame { (content) throws(PackError) in try body(content.extracting(start..<start + count)) }
    }
  }

  /// Lends a reader that nobody else uses.
  ///
  /// - Parameter frame: a frame that is going to be read. Whoever reads a file in small parts finds it decompressed, as long as no more than
  ///   four are read in turns.
  package func withReader<Result>(
    holding frame: Int? = nil, _ body: (PackReader) throws(PackError) -> Result
  ) throws(PackError) -> Result {
    // Readers that wait for their next use keep the buffers of the last one; more than a few would be waste.
    let waiting = idle.withLock { idle -> PackReader? in
      guard let frame, !idle.isEmpty else { return idle.popLast() }
      // Where none has the frame, one is made of what was used longest ago, but not before there are as many as may wait.
      let place = idle.firstIndex { $0.heldFrame == frame } ?? idle.firstIndex { $0.isSpent }
      if let place { return idle.remove(at: place) }
      return idle.count < Self.idleReaders ? nil : idle.removeFirst()
    }
    let reader = if let waiting { waiting } else { try PackReader(self) }
    defer {
      idle.withLock { if $0.count < Self.idleReaders { $0.append(reader) } }
    }
    do throws(PackError) {
      return try body(reader)
    } catch {
      throw error.about(source)
    }
  }
}

extension PackError {
  /// The same error about the pack, unless it is about that already.
  package func about(_ source: PackSource) -> PackError { about(source.path) }
}

extension Entry {
  func unsatisfiable(_ range: Range<UInt64>) -> PackError {
    PackError(
      .rangeNotSatisfiable,
      "'\(path)' is \(size) bytes, but bytes up to \(range.upperBound) were asked for")
  }
}
