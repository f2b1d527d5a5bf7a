/// Variable-length numbers of delta packs (FORMAT.md §13.2): 7 bits in each byte, the lowest first, below 2^53, in the fewest bytes.
package enum Varint {
  /// The largest number (2^53 − 1).
  package static let largest: UInt64 = (1 << 53) - 1

  /// Reads a number at `offset`, and moves `offset` behind it.
  ///
  /// - Returns: the number; nil if it does not end in the bytes, is too large, or has more bytes than it needs.
  package static func read(_ bytes: Span<UInt8>, at offset: inout Int) -> UInt64? {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while offset < bytes.count, shift < 56 {
      let byte = bytes[offset]
      offset += 1
      value |= UInt64(byte & 0x7F) << shift
      guard byte & 0x80 == 0 else {
        shift += 7
        continue
      }
      return byte == 0 && shift > 0 || value > largest ? nil : value
    }
    return nil
  }

  /// Appends a number, which must be at most ``largest``.
  package static func append(_ value: UInt64, to bytes: inout [UInt8]) {
    precondition(value <= largest)
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// Appends a signed number.
  package static func append(signed value: Int64, to bytes: inout [UInt8]) {
    append(value < 0 ? UInt64(-(value + 1)) * 2 + 1 : UInt64(value) * 2, to: &bytes)
  }

  /// Returns the signed number that an unsigned one stands for.
  package static func signed(_ value: UInt64) -> Int64 {
    value & 1 == 0 ? Int64(value / 2) : -Int64(value / 2) - 1
  }
}
