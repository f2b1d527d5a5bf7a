/// The header of a zstd frame (RFC 8878 §3.1.1.1), as far as packs use it.
package struct FrameHeader: Hashable, Sendable {
  /// The decompressed size of the frame in bytes.
  package let contentSize: UInt64
  /// The window that a decoder must keep in memory, in bytes.
  package let windowSize: UInt64
  /// The length of the header in bytes: where the first block starts.
  package let size: Int
  /// Whether the window is the whole content.
  package let isSingleSegment: Bool

  /// The lengths of the shortest and the longest header in bytes.
  static let (smallestSize, largestSize) = (6, 14)

  /// Reads the header. Throws for what FORMAT.md §4.2 excludes: a dictionary, a checksum, a reserved bit, an unknown content size.
  ///
  /// - Parameter name: the name of the frame in messages: `frame 7`.
  package static func parse(_ bytes: Span<UInt8>, name: String) throws(PackError) -> FrameHeader {
    var cursor = FieldCursor(failure: .damagedPayload)
    guard try cursor.uint32(name, in: bytes) == 0xFD2F_B528 else {
      throw PackError(.damagedPayload, "\(name) is not a zstd frame")
    }
    let descriptor = try cursor.uint8(name, in: bytes)
    guard descriptor & 0b0000_1111 == 0 else {
      throw PackError(.damagedPayload, "\(name) uses a dictionary, a checksum or a reserved bit")
    }
    let isSingleSegment = descriptor & 0b0010_0000 != 0
    var windowSize: UInt64 = 0
    if !isSingleSegment {
      let window = try cursor.uint8(name, in: bytes)
      let base: UInt64 = 1 << (10 + UInt64(window >> 3))
      windowSize = base + base / 8 * UInt64(window & 7)
    }
    let contentSize: UInt64
    switch descriptor >> 6 {
    case 0:
      guard isSingleSegment else {
        throw PackError(.damagedPayload, "\(name) does not say its decompressed size")
      }
      contentSize = UInt64(try cursor.uint8(name, in: bytes))
    case 1: contentSize = UInt64(try cursor.uint16(name, in: bytes)) + 256
    case 2: contentSize = UInt64(try cursor.uint32(name, in: bytes))
    default: contentSize = try cursor.uint64(name, in: bytes)
    }
    return FrameHeader(
      contentSize: contentSize, windowSize: isSingleSegment ? contentSize : windowSize, size: cursor.offset,
      isSingleSegment: isSingleSegment)
  }
}

extension FrameHeader {
  /// Checks what the header says against the place of the frame.
  func check(contentSize: Int, compressedSize: Int, name: String) throws(PackError) {
    guard self.contentSize == UInt64(contentSize) else {
      throw PackError(
        .damagedPayload, "\(name) says it expands to \(self.contentSize) bytes, but the pack says \(contentSize)")
    }
    try checkWindow(name: name)
    guard compressedSize <= Limits.compressBound(contentSize) else {
      throw PackError(.damagedPayload, "\(name) takes \(compressedSize) bytes for \(contentSize)")
    }
  }

  /// Checks that the window is not larger than the content. It comes before every limit of the content (FORMAT.md §4.4).
  func checkWindow(name: String) throws(PackError) {
    guard windowSize <= contentSize else {
      throw PackError(.damagedPayload, "\(name) needs a window of \(windowSize) bytes for \(contentSize)")
    }
  }

  /// Checks that a block is not larger than a block may be, and not of a kind that zstd refuses only if it decodes whole frames.
  func check(_ block: BlockHeader, name: String) throws(PackError) {
    let most = min(windowSize, UInt64(BlockHeader.largestBlock))
    guard block.size <= most else {
      throw PackError(.damagedPayload, "\(name) has a block of \(block.size) bytes, more than \(most)")
    }
    guard block.kind != .compressed || block.size > 0 else {
      throw PackError(.damagedPayload, "\(name) has a compressed block without content")
    }
  }
}

/// The header of a block (RFC 8878 §3.1.1.2).
struct BlockHeader: Hashable, Sendable {
  enum Kind: UInt8 {
    case raw, run, compressed, reserved
  }

  /// Whether the block ends its frame.
  let isLast: Bool
  let kind: Kind
  /// The number of bytes that the block has after this header, or that it expands to if it is a run.
  let size: Int

  /// The length of this header in bytes.
  static let length = 3
  /// The most that a block may have, in bytes.
  static let largestBlock = 128 << 10

  /// The number of bytes after this header. A run is one byte, repeated.
  var storedSize: Int { kind == .run ? 1 : size }

  /// Reads the header at `offset`.
  init(_ bytes: Span<UInt8>, at offset: Int) {
    let header = Int(bytes[offset]) | Int(bytes[offset + 1]) << 8 | Int(bytes[offset + 2]) << 16
    isLast = header & 1 == 1
    kind = Kind(rawValue: UInt8(header >> 1 & 3)) ?? .reserved
    size = header >> 3
  }
}
