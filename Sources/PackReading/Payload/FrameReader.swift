/// Reads the data frames of a payload into memory of its own, one at a time. It belongs to one worker.
///
/// A frame is decoded as far as it is wanted, block by block, and further when more of it is wanted. Of a frame in which nothing shrank, only the wanted
/// bytes are read. What is not read is not checked, either.
package final class FrameReader {
  private let source: any ByteSource
  private let table: SeekTable
  private let rawBlocks: RawBlocks
  /// The decoder of whole frames, which the worker may use for other frames between two calls.
  package let decoder: DecompressionContext
  private var memory: FrameMemory
  /// The least size of the memory.
  private var reservedSize = 0
  private var current: Current?
  /// The number of content bytes decoded so far.
  package private(set) var decodedBytes: UInt64 = 0

  /// A frame that is in memory, as a whole or in part.
  private struct Current {
    let number: Int
    /// The bytes of its content that are in memory.
    var held: Range<Int>
    /// Where the decoder has paused; nil if it is not in this frame.
    var pause: Pause?
    /// Whether the bytes are from raw blocks, and were not decoded.
    var isRaw = false
  }

  /// A place between two blocks.
  private struct Pause {
    let header: FrameHeader
    /// The header of the next block, and where what follows it starts in the compressed frame.
    var next: BlockHeader
    var position: Int
  }

  /// - Parameter rawBlocks: what the readers of the pack know together.
  package init(source: any ByteSource, table: SeekTable, rawBlocks: RawBlocks? = nil) throws(PackError) {
    self.source = source
    self.table = table
    self.rawBlocks = rawBlocks ?? RawBlocks(table)
    decoder = try DecompressionContext()
    memory = FrameMemory(size: 0)
  }

  /// Keeps memory for the largest frame. Call it before reading all frames.
  func reserve() {
    reservedSize = DecompressionContext.room(for: Int(table.largestFrame))
  }

  /// The number of the frame in memory.
  package var number: Int? { current?.number }
  /// Whether what is in memory was decoded.
  var holdsDecoded: Bool { current?.isRaw == false }
  /// The memory for frames in bytes.
  var memorySize: Int { memory.size }

  /// Reads frame `number` as far as a part of its content needs it.
  ///
  /// After an error no frame is in memory.
  package func load(_ number: Int, _ part: Range<Int>) throws(PackError) {
    let known = current?.number == number ? current : nil
    if let known, part.clamped(to: known.held) == part { return }
    current = nil
    current = try read(table[number], part, after: known)
  }

  /// Calls `body` with a part of the frame in memory that was read.
  package func withContent<Result>(_ part: Range<Int>, _ body: (Span<UInt8>) throws(PackError) -> Result) throws(PackError) -> Result {
    precondition(current.map { part.clamped(to: $0.held) == part } ?? false, "that part of the frame was not read")
    return try memory.withContent(part, body)
  }

  private func read(_ frame: SeekTable.Frame, _ part: Range<Int>, after known: Current?) throws(PackError) -> Current {
    let room = max(reservedSize, DecompressionContext.room(for: Int(frame.size)))
    // What a much larger frame needed is not kept.
    if known == nil, !(room...2 * room).contains(memory.size) { memory = FrameMemory(size: room) }
    let isPaused = known?.pause != nil
    if !isPaused, known != nil || part.count < frame.size, let raw = try readRaw(frame, part, after: known) { return raw }
    if isPaused || part.upperBound < frame.size {
      do throws(PackError) {
        return try decode(frame, upTo: part.upperBound, after: known)
      } catch {
        // Whether a frame is valid is decided in one way only.
        guard error.code == .damagedPayload else { throw error }
      }
    }
    try readWhole(frame)
    return Current(number: frame.index, held: 0..<Int(frame.size), pause: nil)
  }

  /// Reads the compressed frame to the end of the memory, and decompresses it to the beginning.
  ///
  /// If a frame cannot be decompressed in place, it is read again into extra memory of its compressed size. Usual encoders make no such frames.
  private func readWhole(_ frame: SeekTable.Frame) throws(PackError) {
    let (size, contentSize) = (Int(frame.compressedSize), Int(frame.size))
    let name = "frame \(frame.index)"
    try memory.withBytes(first: DecompressionContext.room(for: contentSize)) { (buffer) throws(PackError) in
      decodedBytes += UInt64(contentSize)
      if size <= buffer.count, DecompressionContext.canOverlap {
        do {
          var compressed = buffer._mutatingExtracting(last: size)
          try source.read(at: frame.offset, into: &compressed)
        }
        if (try? decoder.decompress(last: size, of: &buffer, toFirst: contentSize, name: name)) != nil { return }
      }
      var compressed = [UInt8](repeating: 0, count: size)
      var target = compressed.mutableByteSpan
      try source.read(at: frame.offset, into: &target)
      var content = buffer._mutatingExtracting(first: contentSize)
      try decoder.decompress(compressed.byteSpan, into: &content, name: name)
    }
  }

  /// Reads a part of a frame in which nothing shrank: its blocks are raw, so each is at a known place. Returns nil if it is another frame.
  ///
  /// The total size only suggests that. The headers of all blocks up to the part are checked, once for all readers of the pack.
  private func readRaw(_ frame: SeekTable.Frame, _ part: Range<Int>, after known: Current?) throws(PackError) -> Current? {
    let (size, most) = (Int(frame.size), BlockHeader.largestBlock)
    let blockCount = (size + most - 1) / most
    let headerSize = Int(frame.compressedSize) - size - blockCount * BlockHeader.length
    guard (FrameHeader.smallestSize...FrameHeader.largestSize).contains(headerSize) else { return nil }
    let firstBlock = frame.offset + UInt64(headerSize)
    var checked = rawBlocks[frame.index]
    while checked <= (part.upperBound - 1) / most {
      let before = checked == 0 ? headerSize : 0
      var bytes = [UInt8](repeating: 0, count: before + BlockHeader.length)
      var target = bytes.mutableByteSpan
      try source.read(at: firstBlock + UInt64(checked * (most + BlockHeader.length)) - UInt64(before), into: &target)
      if checked == 0 {
        guard let header = try? FrameHeader.parse(bytes.byteSpan, name: ""), header.size == headerSize, header.contentSize == size,
          (UInt64(min(size, most))...UInt64(size)).contains(header.windowSize)
        else { return nil }
      }
      let block = BlockHeader(bytes.byteSpan, at: before)
      guard block.kind == .raw, block.size == min(most, size - checked * most), block.isLast == (checked == blockCount - 1) else {
        return nil
      }
      checked += 1
    }
    rawBlocks[frame.index] = checked
    // What is in memory is kept if the part goes on there.
    var held = known?.held ?? 0..<0
    if held.isEmpty || !(held.lowerBound...held.upperBound).contains(part.lowerBound) { held = part.lowerBound..<part.lowerBound }
    while held.upperBound < part.upperBound {
      let number = held.upperBound / most
      let piece = held.upperBound..<min(part.upperBound, (number + 1) * most)
      try memory.withBytes(first: piece.upperBound) { (buffer) throws(PackError) in
        var target = buffer._mutatingExtracting(piece)
        try source.read(at: firstBlock + UInt64((number + 1) * BlockHeader.length + piece.lowerBound), into: &target)
      }
      held = held.lowerBound..<piece.upperBound
    }
    return Current(number: frame.index, held: held, pause: nil, isRaw: true)
  }

  /// Decodes the blocks of a frame up to the one that has the byte before `end`.
  private func decode(_ frame: SeekTable.Frame, upTo end: Int, after known: Current?) throws(PackError) -> Current {
    let name = "frame \(frame.index)"
    var pause = if let pause = known?.pause { pause } else { try begin(frame, name: name) }
    var size = known?.pause == nil ? 0 : known?.held.upperBound ?? 0
    // Blocks after the last byte have no content, but they belong to the frame.
    while size < end || size == frame.size {
      let block = pause.next
      try pause.header.check(block, name: name)
      // Together with the header of the block after it.
      let count = block.storedSize + (block.isLast ? 0 : BlockHeader.length)
      let place = pause.position..<pause.position + count
      guard block.isLast ? place.upperBound == frame.compressedSize : place.upperBound <= frame.compressedSize else {
        throw PackError(.damagedPayload, "\(name) is not one zstd frame of \(frame.compressedSize) bytes")
      }
      let next = try memory.withInput(count) { (input) throws(PackError) -> BlockHeader? in
        try source.read(at: frame.offset + UInt64(place.lowerBound), into: &input)
        return block.isLast ? nil : BlockHeader(input.span, at: block.storedSize)
      }
      // An empty last block is over with its header.
      let (decoded, isOver) = count == 0 ? (size, true) : try memory.decode(count, name: name)
      decodedBytes += UInt64(decoded - size)
      size = decoded
      guard let next else {
        guard isOver, size == frame.size else {
          throw PackError(.damagedPayload, "\(name) expands to \(size) bytes, not \(frame.size)")
        }
        return Current(number: frame.index, held: 0..<size, pause: nil)
      }
      pause = Pause(header: pause.header, next: next, position: place.upperBound)
    }
    return Current(number: frame.index, held: 0..<size, pause: pause)
  }

  /// Checks the header of a frame, and gives it to the decoder with that of the first block.
  private func begin(_ frame: SeekTable.Frame, name: String) throws(PackError) -> Pause {
    try memory.begin(contentSize: Int(frame.size))
    let count = min(Int(frame.compressedSize), FrameHeader.largestSize + BlockHeader.length)
    let pause = try memory.withInput(count) { (input) throws(PackError) in
      try source.read(at: frame.offset, into: &input)
      let header = try FrameHeader.parse(input.span, name: name)
      try header.check(contentSize: Int(frame.size), compressedSize: Int(frame.compressedSize), name: name)
      let position = header.size + BlockHeader.length
      guard position <= count else { throw PackError(.damagedPayload, "\(name) ends inside the header of a block") }
      return Pause(header: header, next: BlockHeader(input.span, at: header.size), position: position)
    }
    _ = try memory.decode(pause.position, name: name)
    return pause
  }
}

/// For each frame, how many of its first blocks are raw and as large as blocks may be, as far as that was checked. Shared by the readers of a pack.
package final class RawBlocks: Sendable {
  private let counts: Monitor<[UInt8]>

  package init(_ table: SeekTable) {
    counts = Monitor([UInt8](repeating: 0, count: table.dataFrameCount))
  }

  fileprivate subscript(frame: Int) -> Int {
    get { counts.withLock { Int($0[frame]) } }
    set { counts.withLock { $0[frame] = max($0[frame], UInt8(newValue)) } }
  }
}
