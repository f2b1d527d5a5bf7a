/// Writes the tree of an open pack as the payload of a full pack (FORMAT.md §4), on one thread.
///
/// Every content is read, and its SHA-256 compared with the index. Memory: three frames of ``frameSize``, the encoder of zstd's lowest level, about 300
/// bytes for each record, and what four readers of the pack take.
final class PackRewriter {
  private let pack: Pack
  private let stream: SealedStream
  private let backend: any CryptoBackend
  private let pool: WorkerPool
  private let counter: ProgressCounter

  /// In the byte order of the paths.
  private let entries: [Entry]
  /// Where the content of each entry starts in the tar, in bytes.
  private var offsets: [UInt64]
  private let encoder: CompressionContext
  private let digest: any DigestContext
  private var frames: [(compressed: UInt32, content: UInt32)] = []
  private var frame: [UInt8]
  private var filled = 0
  private var compressed: [UInt8]
  /// The length of the tar so far, in bytes.
  private var tarSize: UInt64 = 0

  /// The largest number of bytes of the tar in a frame. Smaller than what packing takes by default: the device reads files from it.
  static let frameSize = 1 << 20
  /// zstd's. Higher ones would cost the device more energy than they save space.
  static let level = 1

  /// Returns the header of a full pack with the content of a pack, and with a new salt. It is derived from the content root and 32 random bytes, because
  /// the payload is encrypted before its last byte is known (FORMAT.md §2.4).
  static func header(of pack: Pack, key: borrowing PackKey, backend: any CryptoBackend) throws(PackError) -> PackHeader {
    var header = PackHeader(
      segmentSize: pack.header.segmentSize, flags: 0, packVersion: pack.header.packVersion, packID: pack.header.packID,
      salt: [UInt8](repeating: 0, count: 32))
    var salt = try SaltDerivation(key: key, header: header, backend: backend)
    let root = pack.contentRoot
    try salt.update(root.byteSpan)
    var random = [UInt8](repeating: 0, count: 32)
    defer { wipe(&random) }
    var target = random.mutableByteSpan
    try backend.fillRandom(&target)
    header.salt = try salt.salt(random: random)
    return header
  }

  /// Prepares the rewriting of a pack.
  init(_ pack: Pack, to stream: SealedStream, backend: any CryptoBackend, pool: WorkerPool, progress: ProgressHandler?) throws(PackError) {
    self.pack = pack
    self.stream = stream
    self.backend = backend
    self.pool = pool
    counter = ProgressCounter(.packing, total: pack.contentSize, handler: progress)
    var entries: [Entry] = []
    entries.reserveCapacity(pack.entryCount)
    try pack.forEachEntry { entries.append($0) }
    self.entries = entries
    offsets = [UInt64](repeating: 0, count: entries.count)
    encoder = try CompressionContext(level: Self.level)
    digest = try backend.makeDigest()
    frame = [UInt8](repeating: 0, count: Self.frameSize)
    compressed = [UInt8](repeating: 0, count: Limits.compressBound(Self.frameSize))
  }

  /// Writes the payload.
  ///
  /// - Throws: ``PackError/Code/digestMismatch`` if a file is not the one in the index, or the errors of reading and writing.
  func run() throws(PackError) {
    defer {
      wipe(&frame)
      wipe(&compressed)
    }
    var originals: [Content: Int] = [:]
    for number in order() {
      try pool.checkpoint()
      let entry = entries[number]
      let content = Content(sha256: entry.sha256, isExecutable: entry.isExecutable)
      let original = entry.size > 0 ? originals[content] : nil
      try write(number, original)
      if entry.size > 0, original == nil { originals[content] = number }
    }
    try make(room: TarHeader.endSize)
    try appendZeros(TarHeader.endSize)
    try endFrame()
    try writeIndex()
  }

  /// Equal ones are stored once.
  private struct Content: Hashable {
    var sha256: [UInt8]
    var isExecutable: Bool
  }

  private func order() -> [Int] {
    TarOrder.numbers(entries.count) { number in
      let entry = entries[number]
      return TarOrder.Item(path: entry.path, size: entry.size, isDirectory: entry.kind == .directory)
    }
  }

  // MARK: Entries

  /// Writes an entry.
  ///
  /// - Parameter original: The number of an earlier entry with the same content. Nil if the content follows.
  private func write(_ number: Int, _ original: Int?) throws(PackError) {
    let entry = entries[number]
    let size = original == nil ? entry.size : 0
    let header = TarHeader(
      path: entry.path, kind: entry.recordKind, size: size, linkTarget: original.map { entries[$0].path }
    ).bytes
    let padding = Int((512 - size % 512) % 512)
    try make(room: UInt64(header.count).adding(size).adding(UInt64(padding)))
    try append(header.byteSpan)
    if entry.size > 0 { offsets[number] = original.map { offsets[$0] } ?? tarSize }
    if size > 0 { try appendContent(of: entry) }
    try appendZeros(padding)
    counter.add(entry.size)
  }

  /// Copies the content of a file, and checks it.
  private func appendContent(of entry: Entry) throws(PackError) {
    var position: UInt64 = 0
    while position < entry.size {
      try pool.checkpoint()
      var decrypted: UInt64 = 0
      var count = 0
      try pack.withPiece(of: entry, position..<entry.size, decryptedBytes: &decrypted) { (piece) throws(PackError) in
        try digest.update(piece)
        try append(piece)
        count = piece.count
      }
      position += UInt64(count)
    }
    guard try digest.finish() == entry.sha256 else { throw PackReader.digestMismatch(entry.path).about(pack.source) }
  }

  // MARK: Frames

  /// Ends the frame if an entry of so many bytes does not fit. One that fits into no frame gets its own ones (FORMAT.md §4.3).
  private func make(room size: some BinaryInteger) throws(PackError) {
    if size > Self.frameSize || filled + Int(size) > Self.frameSize || isAfterLargeEntry { try endFrame() }
    isAfterLargeEntry = size > Self.frameSize
  }

  private var isAfterLargeEntry = false

  private func append(_ bytes: Span<UInt8>) throws(PackError) {
    var done = 0
    while done < bytes.count {
      if filled == frame.count { try endFrame() }
      let count = min(frame.count - filled, bytes.count - done)
      fill(bytes.extracting(done..<done + count))
      filled += count
      done += count
    }
    tarSize += UInt64(bytes.count)
  }

  private func fill(_ bytes: Span<UInt8>) {
    var own: [UInt8] = []
    swap(&own, &frame)
    defer { swap(&own, &frame) }
    var whole = own.mutableByteSpan
    copy(bytes, to: &whole, at: filled)
  }

  private func appendZeros(_ count: Int) throws(PackError) {
    let zeros = [UInt8](repeating: 0, count: count)
    try append(zeros.byteSpan)
  }

  private func endFrame() throws(PackError) {
    guard filled > 0 else { return }
    let content = frame
    var made: [UInt8] = []
    swap(&made, &compressed)
    defer { swap(&made, &compressed) }
    var target = made.mutableByteSpan
    let size = try encoder.compress(content.byteSpan.extracting(first: filled), into: &target)
    try stream.append(made.byteSpan.extracting(first: size))
    // Index and seek table need three more entries of the table.
    guard frames.count < Limits.frames - 3 else {
      throw PackError(.limitExceeded, of: pack.source.path, "needs more than \(Limits.frames) frames")
    }
    frames.append((UInt32(size), UInt32(filled)))
    filled = 0
  }

  // MARK: Index

  private func writeIndex() throws(PackError) {
    var index = IndexEncoder()
    let root = try ContentRoot(backend: backend)
    var block = IndexEncoder.BlockEncoder()
    for (number, entry) in entries.enumerated() {
      block.add(
        IndexRecord(path: Array(entry.path.utf8), kind: entry.recordKind, size: entry.size, offset: offsets[number]),
        digest: entry.sha256.byteSpan)
      guard block.count == Limits.recordsPerBlock || number == entries.count - 1 else { continue }
      let made = try block.finish(by: encoder)
      try root.add(bytes: made.rootBytes)
      index.add(made)
      block = IndexEncoder.BlockEncoder()
    }
    let head = IndexHead(
      recordCount: UInt32(entries.count), largestFrame: frames.reduce(0) { max($0, $1.content) }, contentSize: pack.contentSize,
      tarSize: tarSize, contentRoot: try root.finish())
    guard head.contentRoot == pack.contentRoot else {
      throw PackError(.internalError, of: pack.source.path, "was rewritten to another content")
    }
    try index.finish(head, frames: frames, by: encoder) { (bytes) throws(PackError) in try stream.append(bytes) }
  }
}
