/// Reads one of the streams of a delta from its beginning to its end: decompresses its literals window by window, and copies the rest from the bases.
///
/// Memory: a prefix of at most 6 MiB, a window of at most 2 MiB, its frame, and what a reader of each base takes.
final class StreamReader {
  private let stream: CopyStream
  private let windows: [DeltaWindow]
  private let string: BaseString
  private let source: PackSource
  private let segments: SegmentReader
  private let decoder: DecompressionContext
  private let bases: BaseStringReader
  /// Extra ranges, context and the literals before the window.
  private var prefix: [UInt8] = []
  /// The window's literals.
  private var literals: [UInt8] = []
  private var compressed: [UInt8] = []
  /// The number of the next window, and the literals of the one in ``literals``.
  private var next = 0
  private var held: Range<UInt64> = 0..<0
  /// The number of the next segment of the stream, and how much of it was read.
  private var segment = 0
  private var done: UInt64 = 0

  init(
    _ stream: CopyStream, _ windows: [DeltaWindow], _ delta: DeltaPack, _ string: BaseString, _ bases: [any DeltaBase],
    visit: BaseStringReader.FrameVisitor? = nil
  ) throws(PackError) {
    self.stream = stream
    self.windows = windows
    self.string = string
    source = delta.source
    segments = try SegmentReader(delta.source)
    decoder = try DecompressionContext()
    self.bases = BaseStringReader(string, bases, visit: visit)
  }

  deinit {
    wipe(&prefix)
    wipe(&literals)
    wipe(&compressed)
  }

  /// Fills a buffer with the next bytes of the stream, and returns how many they are: fewer than there is room for only at its end.
  func read(into buffer: inout [UInt8]) throws(PackError) -> Int {
    return try attributing(to: source.path) { () throws(PackError) in try fill(&buffer) }
  }

  private func fill(_ buffer: inout [UInt8]) throws(PackError) -> Int {
    var filled = 0
    var literals: [(range: Range<UInt64>, target: Int)] = []
    var copies: [BaseStringReader.Piece] = []
    while filled < buffer.count, segment < stream.segmentCount {
      let parts = stream.segment(segment)
      let start = parts.range.lowerBound + done
      let count = Int(min(UInt64(buffer.count - filled), parts.range.upperBound - start))
      switch parts {
      case .literals: literals.append((start..<start + UInt64(count), filled))
      case .copy: copies.append(BaseStringReader.Piece(range: start..<start + UInt64(count), target: filled))
      }
      advance(count, of: parts.range)
      filled += count
    }
    // The copies are read in one go, together with the first prefix that is needed.
    for part in literals { try copyLiterals(part.range, to: &buffer, at: part.target, &copies) }
    var none: [UInt8] = []
    try bases.read([], into: &none, copies, into: &buffer)
    return filled
  }

  private func advance(_ count: Int, of range: Range<UInt64>) {
    done += UInt64(count)
    if done == UInt64(range.count) {
      segment += 1
      done = 0
    }
  }

  /// Copies literals to the buffer. If that needs a prefix, the copies that are not read yet are read with it.
  private func copyLiterals(
    _ range: Range<UInt64>, to buffer: inout [UInt8], at start: Int, _ copies: inout [BaseStringReader.Piece]
  ) throws(PackError) {
    var position = range.lowerBound
    while position < range.upperBound {
      if position >= held.upperBound { try load(&buffer, &copies) }
      let part = position..<min(range.upperBound, held.upperBound)
      let first = Int(part.lowerBound - held.lowerBound)
      let literals = literals
      var target = buffer.mutableByteSpan
      copy(literals.byteSpan.extracting(first..<first + part.count), to: &target, at: start + Int(part.lowerBound - range.lowerBound))
      position = part.upperBound
    }
  }

  // MARK: Windows

  /// Decompresses the next window.
  private func load(_ buffer: inout [UInt8], _ copies: inout [BaseStringReader.Piece]) throws(PackError) {
    let window = windows[next]
    let number = next
    next += 1
    let range = held.upperBound..<held.upperBound + UInt64(window.size)
    var own: [UInt8] = []
    swap(&own, &prefix)
    defer { swap(&own, &prefix) }
    let prefixSize = try fillPrefix(&own, of: window, range, &buffer, &copies)
    if compressed.count < window.compressedSize { compressed = [UInt8](repeating: 0, count: window.compressedSize) }
    var frame: [UInt8] = []
    swap(&frame, &compressed)
    defer { swap(&frame, &compressed) }
    do {
      var whole = frame.mutableByteSpan
      var target = whole._mutatingExtracting(first: window.compressedSize)
      try segments.read(at: window.offset, into: &target)
    }
    var content: [UInt8] = []
    swap(&content, &literals)
    defer { swap(&content, &literals) }
    if content.count < window.size { content = [UInt8](repeating: 0, count: window.size) }
    var whole = content.mutableByteSpan
    var target = whole._mutatingExtracting(first: window.size)
    try decoder.decompress(
      frame.byteSpan.extracting(first: window.compressedSize), after: own.byteSpan.extracting(first: prefixSize), into: &target,
      name: "window \(number)")
    held = range
  }

  /// Collects the prefix of a window, and returns its length.
  private func fillPrefix(
    _ prefix: inout [UInt8], of window: DeltaWindow, _ range: Range<UInt64>, _ buffer: inout [UInt8],
    _ copies: inout [BaseStringReader.Piece]
  ) throws(PackError) -> Int {
    guard window.isDerived else { return 0 }
    let ranges = window.ranges(for: range, of: stream, in: string)
    let size = ranges.reduce(0) { $0 + $1.count }
    let history = held.count
    if prefix.count < size + history { prefix = [UInt8](repeating: 0, count: size + history) }
    try bases.read(ranges, into: &prefix, copies, into: &buffer)
    copies.removeAll()
    let literals = literals
    var target = prefix.mutableByteSpan
    copy(literals.byteSpan.extracting(first: history), to: &target, at: size)
    return size + history
  }
}

/// A window of a delta, with the place of its frame.
package struct DeltaWindow: Sendable {
  /// Where its frame starts in the payload, in bytes.
  package var offset: UInt64
  package var compressedSize: Int
  /// The number of its literals.
  package var size: Int
  /// Whether it has a prefix.
  package var isDerived: Bool
  /// The extra ranges before what is derived.
  package var extras: [Range<UInt64>]

  /// Returns what its prefix has of the bases.
  ///
  /// - Parameter literals: Those of the window.
  func ranges(for literals: Range<UInt64>, of stream: CopyStream, in string: BaseString) -> [Range<UInt64>] {
    guard isDerived else { return [] }
    return extras + stream.context(of: literals, in: string, room: UInt64(Limits.deltaContextSize) - extras.total)
  }

  /// Returns the windows of a head, in order.
  static func all(of head: DeltaHead) -> [DeltaWindow] {
    var offset: UInt64 = 0
    return head.windows.map { window in
      defer { offset += UInt64(window.compressedSize) }
      let extras = if case .extended(let ranges) = window.prefix { Array(head.extras[ranges]) } else { [] as [Range<UInt64>] }
      return DeltaWindow(
        offset: offset, compressedSize: window.compressedSize, size: window.size, isDerived: window.prefix != .nothing, extras: extras)
    }
  }
}
