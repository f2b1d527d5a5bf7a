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
