/// What is needed to read the content of a delta over its bases. Shared by all readers of the pack.
///
/// The tree is treated as one row of bytes: the stream of the delta behind its list, then the contents that come from bases, in the order of their
/// places there. It is read in pieces like the frames of a tar: a window is one, and so is what comes from one frame of a base, so that a reader
/// who goes through all pieces decompresses each frame once.
///
/// Memory: 24 bytes for each window, 24 for each range and for each content of a base.
final class DeltaLayer: PackLayer {
  /// Bytes that are copied from a base.
  struct Source {
    /// The number of the base; ``listNumber`` for the list of the first base.
    var base: UInt32
    var length: UInt32
    /// Where they start in the base's tar, in bytes.
    var offset: UInt64
    /// Where they go, in bytes from the start of the prefix, or of the piece.
    var target: Int
  }

  /// A window.
  struct Window {
    /// Where its frame starts in the payload, in bytes.
    var offset: UInt64
    var compressedSize: Int
    var size: Int
    /// Its ranges in ``DeltaLayer/ranges``, in the order of their places in the bases.
    var ranges: Range<Int>
    /// The length of its prefix in bytes.
    var prefixSize: Int
  }

  static let listNumber = UInt32.max

  let bases: [any DeltaBase]
  let baseList: [UInt8]
  let windows: [Window]
  let ranges: [Source]
  /// What comes from bases, in the order of the tree's bytes.
  let parts: [Source]
  /// The parts of each piece that comes from a base.
  let pieces: [Range<Int>]

  init(bases: [any DeltaBase], baseList: [UInt8], windows: [Window], ranges: [Source], parts: [Source], pieces: [Range<Int>]) {
    self.bases = bases
    self.baseList = baseList
    self.windows = windows
    self.ranges = ranges
    self.parts = parts
    self.pieces = pieces
  }

  var depth: Int { 1 + (bases.map(\.deltaDepth).max() ?? 0) }
  var baseRoots: [[UInt8]] { bases.map(\.contentRoot) }

  func compressedSize(ofPiece number: Int) -> UInt64 { number < windows.count ? UInt64(windows[number].compressedSize) : 0 }

  func makeReader(_ segments: SegmentReader) throws(PackError) -> any PieceReader { try DeltaReader(self, segments: segments) }
}

/// Reads the pieces of a delta for one reader.
///
/// Memory: a prefix of at most 3 MiB, a compressed window of at most 1 MiB, and for each base what a reader of that base takes.
final class DeltaReader: PieceReader {
  private let layer: DeltaLayer
  private let segments: SegmentReader
  private let decoder: DecompressionContext
  private var readers: [(any BaseReader)?]
  private var prefix: [UInt8] = []
  private var compressed: [UInt8] = []

  init(_ layer: DeltaLayer, segments: SegmentReader) throws(PackError) {
    self.layer = layer
    self.segments = segments
    decoder = try DecompressionContext()
    readers = [(any BaseReader)?](repeating: nil, count: layer.bases.count)
  }

  deinit {
    wipe(&prefix)
    wipe(&compressed)
  }

  func read(_ number: Int, into buffer: inout [UInt8]) throws(PackError) {
    if number < layer.windows.count {
      try read(layer.windows[number], number, into: &buffer)
    } else {
      try gather(layer.parts[layer.pieces[number - layer.windows.count]], into: &buffer)
    }
  }

  private func read(_ window: DeltaLayer.Window, _ number: Int, into buffer: inout [UInt8]) throws(PackError) {
    var own: [UInt8] = []
    swap(&own, &prefix)
    defer { swap(&own, &prefix) }
    if own.count < window.prefixSize { own = [UInt8](repeating: 0, count: window.prefixSize) }
    try gather(layer.ranges[window.ranges], into: &own)
    var frame: [UInt8] = []
    swap(&frame, &compressed)
    defer { swap(&frame, &compressed) }
    if frame.count < window.compressedSize { frame = [UInt8](repeating: 0, count: window.compressedSize) }
    do {
      var whole = frame.mutableByteSpan
      var target = whole._mutatingExtracting(first: window.compressedSize)
      try segments.read(at: window.offset, into: &target)
    }
    var whole = buffer.mutableByteSpan
    var content = whole._mutatingExtracting(first: window.size)
    try decoder.decompress(
      frame.byteSpan.extracting(first: window.compressedSize), after: own.byteSpan.extracting(first: window.prefixSize), into: &content,
      name: "window \(number)")
  }

  /// Copies bytes of the bases.
  private func gather(_ sources: ArraySlice<DeltaLayer.Source>, into buffer: inout [UInt8]) throws(PackError) {
    let isBackward = endsInHeldFrame(sources)
    for step in 0..<sources.count {
      let source = sources[isBackward ? sources.endIndex - 1 - step : sources.startIndex + step]
      guard source.base != DeltaLayer.listNumber else {
        let start = Int(source.offset)
        let list = layer.baseList
        var whole = buffer.mutableByteSpan
        copy(list.byteSpan.extracting(start..<start + Int(source.length)), to: &whole, at: source.target)
        continue
      }
      try reader(of: Int(source.base)).copy(source.offset..<source.offset + UInt64(source.length), to: &buffer, at: source.target)
    }
  }

  /// Whether the frame that is in memory is that of the last bytes. Windows beside each other need about the same frames, so the frame that was read last
  /// is used before it is replaced.
  private func endsInHeldFrame(_ sources: ArraySlice<DeltaLayer.Source>) -> Bool {
    guard let last = sources.last(where: { $0.base != DeltaLayer.listNumber }) else { return false }
    return readers[Int(last.base)]?.holds(last.offset) ?? false
  }

  private func reader(of base: Int) throws(PackError) -> any BaseReader {
    if let known = readers[base] { return known }
    let made = try layer.bases[base].makeContentReader()
    readers[base] = made
    return made
  }
}
