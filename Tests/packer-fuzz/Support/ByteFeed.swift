/// Takes an input apart into small numbers and pieces. What is missing at its end is zero.
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

  /// A little-endian number of `width` bytes.
  mutating func number(width: Int) -> UInt64 {
    (0..<width).reduce(0) { $0 | UInt64(byte()) << UInt64(8 * $1) }
  }

  /// At most `count` bytes.
  mutating func piece(_ count: Int) -> [UInt8] {
    let end = min(bytes.count, position + count)
    defer { position = end }
    return Array(bytes[position..<end])
  }

  /// A piece behind its length in two bytes.
  mutating func piece() -> [UInt8] { piece(Int(number(width: 2))) }

  mutating func rest() -> [UInt8] { piece(bytes.count - position) }
}

/// A piece as ``ByteFeed/piece()`` takes it.
func lengthAndBytes(_ bytes: [UInt8]) -> [UInt8] {
  [UInt8(truncatingIfNeeded: bytes.count), UInt8(truncatingIfNeeded: bytes.count >> 8)] + bytes
}
