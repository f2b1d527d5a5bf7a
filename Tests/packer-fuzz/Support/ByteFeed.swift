/// Splits an input into small numbers and pieces. Bytes beyond its end read as zero.
struct ByteFeed {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  var isEmpty: Bool { position >= bytes.count }

  mutating func byte() -> UInt8 {
    guard position < bytes.count else { return 0 }
    defer { position += 1 }
    return bytes[position]
  }

  /// Returns a little-endian number of `width` bytes.
  mutating func number(width: Int) -> UInt64 {
    (0..<width).reduce(0) { $0 | UInt64(byte()) << UInt64(8 * $1) }
  }

  /// Returns the next bytes, at most `count`.
  mutating func piece(_ count: Int) -> [UInt8] {
    let end = min(bytes.count, position + count)
    defer { position = end }
    return Array(bytes[position..<end])
  }

  /// Returns a piece whose length precedes it in two bytes.
  mutating func piece() -> [UInt8] { piece(Int(number(width: 2))) }

  mutating func rest() -> [UInt8] { piece(bytes.count - position) }
}

/// Returns a piece in the form that ``ByteFeed/piece()`` reads.
func lengthAndBytes(_ bytes: [UInt8]) -> [UInt8] {
  [UInt8(truncatingIfNeeded: bytes.count), UInt8(truncatingIfNeeded: bytes.count >> 8)] + bytes
}
