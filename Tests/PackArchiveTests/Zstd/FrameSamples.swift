/// Frames, and readers of them, for tests.
enum FrameSamples {
  static func compress(_ content: [UInt8], level: Int) throws -> [UInt8] {
    var frame = [UInt8](repeating: 0, count: Limits.compressBound(content.count))
    var target = frame.mutableByteSpan
    let count = try CompressionContext(level: level).compress(content.byteSpan, into: &target)
    return Array(frame[..<count])
  }

  /// Returns a frame of a header for `size` bytes and the given blocks.
  ///
  /// - Parameter window: The byte for the size of the window; if nil, the frame is a single segment.
  static func frame(_ size: Int, window: UInt8? = nil, _ blocks: [(type: Int, size: Int, bytes: [UInt8])]) -> [UInt8] {
    var frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD] + (window.map { [0x80, $0] } ?? [0xA0])
    frame.append(littleEndian: UInt32(size))
    for (number, block) in blocks.enumerated() {
      let header = block.size << 3 | block.type << 1 | (number == blocks.count - 1 ? 1 : 0)
      frame += [UInt8(header & 0xFF), UInt8(header >> 8 & 0xFF), UInt8(header >> 16)] + block.bytes
    }
    return frame
  }

  /// A payload in memory.
  final class Memory: ByteSource {
    var bytes: [UInt8]
    /// The number of bytes that were read.
    private(set) var count = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func read(at offset: UInt64, into buffer: inout MutableSpan<UInt8>) throws(PackError) {
      let bytes = bytes
      copy(bytes.byteSpan.extracting(Int(offset)..<Int(offset) + buffer.count), to: &buffer)
      count += buffer.count
    }
  }

  /// Returns a reader of a payload with these frames, whose sizes add up to those of a tar.
  static func reader(of frames: [(bytes: [UInt8], size: Int)]) throws -> (FrameReader, Memory) {
    let sizes = frames.map { (compressed: UInt32($0.bytes.count), content: UInt32($0.size)) } + [(8, 0), (8, 0)]
    let table = SeekTable.bytes(for: sizes)
    let memory = Memory(frames.flatMap(\.bytes) + [UInt8](repeating: 0, count: 16) + table)
    return (try FrameReader(source: memory, table: try SeekTable(parsing: table.byteSpan, payloadSize: UInt64(memory.bytes.count))), memory)
  }
}
