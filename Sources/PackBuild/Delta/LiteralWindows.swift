/// Compresses the literals of the streams of a delta on several threads, and appends the frames to the draft (FORMAT.md §13.6).
///
/// Memory for each thread: the prefix, the window and its frame, at most 10 MiB, a reader of both packs, and the encoder's tables, up to about 80 MiB for
/// full windows. Little for small deltas.
struct LiteralWindows: Sendable {
  /// What is compressed: one of the streams, and where its literals are.
  struct Source: Sendable {
    let stream: DeltaStream
    let copies: CopyStream
    /// For each window, what it is compressed against in front of what both sides derive.
    let extras: [[Range<UInt64>]]

    /// Reads literals into a buffer.
    func read(_ range: Range<UInt64>, into buffer: inout [UInt8], at start: Int) throws(PackError) {
      try copies.forEachRun(of: range) { (run, literals) throws(PackError) in
        try stream.read(run, into: &buffer, at: start + Int(literals.lowerBound - range.lowerBound))
      }
    }
  }

  private struct Window: Sendable {
    var frame: [UInt8]
    var compressedSize: Int
    var isDerived: Bool
    var extras: [Range<UInt64>]
  }

  let base: DeltaBaseReading
  let draft: PackDraft

  /// Compresses the literals of a stream, and adds the windows to a head.
  func append(_ source: Source, to head: inout DeltaHead, jobs: Int, progress: ProgressHandler?) async throws(PackError) {
    let sizes = DeltaHead.windowSizes(of: source.copies.literalCount)
    guard !sizes.isEmpty else { return }
    let counter = ProgressCounter(.packing, total: source.copies.literalCount, handler: progress)
    let made = Monitor<[Window]>([])
    try await WorkerPool.run(min(jobs, sizes.count)) { pool in
      OrderedParallelMap<Window>(count: sizes.count, window: 2 * jobs, pool: pool)
    } work: { (_, map) throws(PackError) in
      let worker = try Worker(base, source)
      try map.work { (number) throws(PackError) in
        try worker.make(number, sizes[number])
      } take: { (number, window) throws(PackError) in
        try draft.append(window.frame.byteSpan)
        var placed = window
        placed.frame = []
        made.withLock { $0.append(placed) }
        counter.add(UInt64(sizes[number]))
      }
    }
    for (window, size) in zip(made.withLock { $0 }, sizes) {
      let prefix: DeltaHead.Prefix
      if window.extras.isEmpty {
        prefix = window.isDerived ? .derived : .nothing
      } else {
        prefix = .extended(head.extras.count..<head.extras.count + window.extras.count)
        head.extras += window.extras
      }
      head.windows.append(DeltaHead.Window(compressedSize: window.compressedSize, size: size, prefix: prefix))
    }
  }

  /// The state that one thread needs.
  private final class Worker {
    private let base: DeltaBaseReading
    private let source: Source
    private let string: BaseStringReader
    private let encoder: CompressionContext
    /// The prefix, then the literals.
    private var buffer: [UInt8] = []

    private static let level = 22

    init(_ base: DeltaBaseReading, _ source: Source) throws(PackError) {
      self.base = base
      self.source = source
      string = BaseStringReader(base.string, [base.tree.pack])
      encoder = try CompressionContext(level: Self.level)
    }

    deinit {
      wipe(&buffer)
    }

    func make(_ number: Int, _ size: Int) throws(PackError) -> Window {
      let most = UInt64(Limits.deltaWindowSize)
      let start = UInt64(number) * most
      let window = start..<start + UInt64(size)
      let history = start - min(start, most)..<start
      let extras = source.extras[number]
      let ranges = extras + source.copies.context(of: window, in: base.string, room: UInt64(Limits.deltaContextSize) - extras.total)
      let prefixSize = ranges.reduce(history.count) { $0 + $1.count }
      var own: [UInt8] = []
      swap(&own, &buffer)
      defer { swap(&own, &buffer) }
      if own.count < prefixSize + size { own = [UInt8](repeating: 0, count: prefixSize + size) }
      try string.read(ranges, into: &own)
      try source.read(history, into: &own, at: prefixSize - history.count)
      try source.read(window, into: &own, at: prefixSize)
      let frame = try compress(own.byteSpan.extracting(first: prefixSize + size), from: prefixSize)
      return Window(frame: frame, compressedSize: frame.count, isDerived: prefixSize > 0, extras: extras)
    }

    private func compress(_ bytes: Span<UInt8>, from start: Int) throws(PackError) -> [UInt8] {
      var frame = [UInt8](repeating: 0, count: Limits.compressBound(bytes.count - start))
      try encoder.use(Self.strength(for: bytes.count))
      let count: Int
      do {
        var target = frame.mutableByteSpan
        count = try encoder.compress(bytes, from: start, into: &target)
      }
      frame.removeSubrange(count...)
      return frame
    }

    /// Returns the strength for a prefix and literals of `size` bytes together.
    ///
    /// The window reaches to the beginning of the prefix. The binary tree has a place for every byte of it: two entries each.
    private static func strength(for size: Int) -> CompressionStrength {
      let windowLog = max(17, Int.bitWidth - (max(1, size) - 1).leadingZeroBitCount)
      return CompressionStrength(level: level, hashLog: min(22, windowLog), chainLog: windowLog + 1, windowLog: windowLog)
    }
  }
}
