/// Makes the windows of a delta on all cores, and appends them to the draft (FORMAT.md §13.6).
///
/// Each thread takes about 60 MiB: a prefix, an output, and zstd's tables for both. Windows that wait for an earlier one take up to 2 MiB each, and
/// there are as many as threads.
final class DeltaWindows: Sendable {
  /// A compressed window.
  private struct Window: Sendable {
    var frame: [UInt8]
    var pieces: [DeltaHead.Piece]
    var content: [UInt8]
  }

  private let base: DeltaBaseReading
  private let stream: DeltaStream
  private let draft: PackDraft
  private let digests: StreamDigests
  private let head: Monitor<DeltaHead>
  private let mostFrames: Int?

  /// - Parameters:
  ///   - mostFrames: the largest number of frames of the old pack that a reader needs for a window. Nil if it does not matter.
  ///   - head: the head without windows.
  init(
    _ base: DeltaBaseReading, _ stream: DeltaStream, mostFrames: Int?, head: DeltaHead, draft: PackDraft, backend: any CryptoBackend
  ) throws(PackError) {
    self.mostFrames = mostFrames
    self.base = base
    self.stream = stream
    self.draft = draft
    self.head = Monitor(head)
    digests = StreamDigests(stream, digest: try backend.makeDigest())
  }

  /// Makes all windows, and returns the head with them.
  ///
  /// - Throws: ``PackError/Code/digestMismatch`` if the new pack has a content that does not match its index.
  func make(jobs: Int, progress: ProgressHandler?) async throws(PackError) -> DeltaHead {
    let windows = stream.windows
    let counter = ProgressCounter(.packing, total: stream.contentSize, handler: progress)
    if !windows.isEmpty {
      try await WorkerPool.run(min(jobs, windows.count)) { pool in
        OrderedParallelMap<Window>(count: windows.count, window: 2 * jobs, pool: pool)
      } work: { [self] (_, map) throws(PackError) in
        let worker = try Worker(base, stream, mostFrames: mostFrames)
        try map.work { (number) throws(PackError) in
          try worker.make(windows[number], name: "window \(number)")
        } take: { (number, window) throws(PackError) in
          try take(window, windows[number])
          if !stream.isOfList(windows[number]) { counter.add(UInt64(windows[number].count)) }
        }
      }
    }
    return head.withLock { $0 }
  }

  private func take(_ window: Window, _ range: Range<UInt64>) throws(PackError) {
    try draft.append(window.frame.byteSpan)
    try digests.add(window.content, range)
    head.withLock { head in
      let first = head.pieces.count
      head.pieces += window.pieces
      head.windows.append(
        DeltaHead.Window(compressedSize: window.frame.count, size: range.count, pieces: first..<head.pieces.count))
    }
  }

  /// The state that one thread needs to make windows.
  private final class Worker {
    private let base: DeltaBaseReading
    private let stream: DeltaStream
    private let encoder: CompressionContext
    private let decoder: DecompressionContext
    private var search: RangeSearch
    /// The prefix, then the content.
    private var buffer: [UInt8]
    private var prefixSize = 0
    private var frame: [UInt8]

    init(_ base: DeltaBaseReading, _ stream: DeltaStream, mostFrames: Int?) throws(PackError) {
      self.base = base
      self.stream = stream
      encoder = try CompressionContext(level: Self.level)
      decoder = try DecompressionContext()
      search = RangeSearch(base.contents, base.index, mostFrames: mostFrames) { base.part(holding: $0, of: $1) }
      buffer = [UInt8](repeating: 0, count: Limits.deltaPrefixSize + Limits.deltaWindowSize)
      frame = [UInt8](repeating: 0, count: Limits.compressBound(Limits.deltaWindowSize))
    }

    deinit {
      wipe(&buffer)
    }

    func make(_ window: Range<UInt64>, name: String) throws(PackError) -> Window {
      var content = [UInt8](repeating: 0, count: window.count)
      try stream.read(window, into: &content)
      let pieces =
        stream.isOfList(window)
        ? base.listPieces(for: window, of: UInt64(stream.list.count)) : search.pieces(for: content.byteSpan)
      let frame = try compress(content, pieces)
      try check(frame, content, name)
      return Window(frame: frame, pieces: pieces, content: content)
    }

    private func compress(_ content: [UInt8], _ pieces: [DeltaHead.Piece]) throws(PackError) -> [UInt8] {
      // Moved out and back, because spans of a class's own arrays cannot be lent.
      var (buffer, frame): ([UInt8], [UInt8]) = ([], [])
      swap(&buffer, &self.buffer)
      swap(&frame, &self.frame)
      defer {
        swap(&buffer, &self.buffer)
        swap(&frame, &self.frame)
      }
      prefixSize = try base.read(pieces, into: &buffer)
      do {
        var whole = buffer.mutableByteSpan
        copy(content.byteSpan, to: &whole, at: prefixSize)
      }
      let size = prefixSize + content.count
      var target = frame.mutableByteSpan
      if Self.mayBeCopied(content.count, pieces) {
        try encoder.use(Self.fast(for: size))
        let count = try encoder.compress(buffer.byteSpan.extracting(first: size), from: prefixSize, into: &target)
        if count <= Self.smallestFrame(of: content.count) { return Array(frame[..<count]) }
      }
      try encoder.use(Self.strength(for: size))
      let count = try encoder.compress(buffer.byteSpan.extracting(first: size), from: prefixSize, into: &target)
      return Array(frame[..<count])
    }

    /// Decompresses a window as a reader does. An encoder that made a frame which does not give the content back would be found here.
    private func check(_ frame: [UInt8], _ content: [UInt8], _ name: String) throws(PackError) {
      var decoded = [UInt8](repeating: 0, count: content.count)
      do {
        let buffer = buffer
        var target = decoded.mutableByteSpan
        try decoder.decompress(frame.byteSpan, after: buffer.byteSpan.extracting(first: prefixSize), into: &target, name: name)
      }
      guard decoded == content else { throw PackError(.internalError, "\(name) does not decompress to what was compressed") }
    }

    private static let level = 19

    /// Returns the strength for a prefix and a content of `size` bytes together.
    ///
    /// The window reaches to the beginning of the prefix. The binary tree has a place for every byte of it: two entries each, 32 MiB at most.
    private static func strength(for size: Int) -> CompressionStrength {
      let windowLog = windowLog(for: size)
      return CompressionStrength(level: level, hashLog: min(20, windowLog), chainLog: windowLog + 1, windowLog: windowLog)
    }

    /// Whether a window may consist of bytes of the base, as most windows of a large file do. Then a fast strength is tried first.
    private static func mayBeCopied(_ count: Int, _ pieces: [DeltaHead.Piece]) -> Bool {
      pieces.count <= 4 && pieces.reduce(0) { $0 + Int($1.length) } >= count
    }

    private static func fast(for size: Int) -> CompressionStrength {
      let windowLog = windowLog(for: size)
      return CompressionStrength(level: 1, hashLog: min(20, windowLog), windowLog: windowLog)
    }

    private static func windowLog(for size: Int) -> Int {
      max(17, Int.bitWidth - (size - 1).leadingZeroBitCount)
    }

    /// Returns the length of a frame that no level makes much smaller: its header, and a block with one match for each 128 KiB.
    private static func smallestFrame(of count: Int) -> Int {
      16 + (count + (128 << 10) - 1) / (128 << 10) * 16
    }
  }
}

/// Computes the digests of new contents, of which windows hold parts, and compares them. Threads add windows one at a time, in order.
private final class StreamDigests: @unchecked Sendable {
  private let stream: DeltaStream
  private let digest: any DigestContext

  init(_ stream: DeltaStream, digest: any DigestContext) {
    self.stream = stream
    self.digest = digest
  }

  func add(_ bytes: [UInt8], _ window: Range<UInt64>) throws(PackError) {
    try stream.forEachContent(in: window) { (content, part) throws(PackError) in
      let start = Int(part.lowerBound - window.lowerBound)
      try digest.update(bytes.byteSpan.extracting(start..<start + part.count))
      guard part.upperBound == content.range.upperBound else { return }
      guard try digest.finish() == content.entry.sha256 else {
        throw PackReader.digestMismatch(content.entry.path).about(stream.pack.source)
      }
    }
  }
}
