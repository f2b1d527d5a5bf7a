extension [UInt8] {
  /// Makes an array of the bytes of a span.
  package init(copying bytes: Span<UInt8>) {
    self = unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe Array(unsafeUninitializedCapacity: bytes.count) { target, count in
        // Embedded Swift (6.3) compiles `Array(bytes)` and `initialize(from:count:)` to loops over single bytes.
        if let to = target.baseAddress, let from = bytes.baseAddress {
          unsafe UnsafeMutableRawPointer(to).copyMemory(from: from, byteCount: bytes.count)
        }
        count = bytes.count
      }
    }
  }

  /// Appends the bytes of a span.
  package mutating func append(copying bytes: Span<UInt8>) {
    unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
  }

  /// Appends an integer, little-endian.
  package mutating func append(littleEndian value: some FixedWidthInteger & UnsignedInteger) {
    for shift in stride(from: 0, to: value.bitWidth, by: 8) {
      append(UInt8(truncatingIfNeeded: value >> shift))
    }
  }
}

extension Sequence<UInt8> {
  /// The bytes in lower-case hexadecimal.
  package var hex: String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for byte in self {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Whether every byte is a space or a visible ASCII character.
  @inlinable
  package var isPrintableASCII: Bool { allSatisfy { (0x20..<0x7F).contains($0) } }
}

/// Whether two spans hold the same bytes. Not for secrets: it stops at the first difference.
package func equal(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
  let count = left.count
  guard count == right.count else { return false }
  let words = count / 8 * 8
  for offset in stride(from: 0, to: words, by: 8)
  where left.littleEndian(UInt64.self, at: offset) != right.littleEndian(UInt64.self, at: offset) {
    return false
  }
  for index in words..<count where left[index] != right[index] {
    return false
  }
  return true
}

/// Returns the index of the first byte other than zero, or nil if there is none.
package func firstNonzero(in bytes: Span<UInt8>) -> Int? {
  var index = 0
  while index + 8 <= bytes.count, bytes.littleEndian(UInt64.self, at: index) == 0 { index += 8 }
  while index < bytes.count {
    if bytes[index] != 0 { return index }
    index += 1
  }
  return nil
}

/// Returns the length of the longest common prefix of two spans.
func commonPrefix(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Int {
  let shared = min(left.count, right.count)
  var index = 0
  while index + 8 <= shared {
    let difference = left.littleEndian(UInt64.self, at: index) ^ right.littleEndian(UInt64.self, at: index)
    guard difference == 0 else { return index + difference.trailingZeroBitCount / 8 }
    index += 8
  }
  while index < shared, left[index] == right[index] { index += 1 }
  return index
}

extension Span<UInt8> {
  /// Returns the integer that starts at `offset`. All its bytes must lie in the span.
  package func littleEndian<Integer: FixedWidthInteger & BitwiseCopyable>(_: Integer.Type, at offset: Int) -> Integer {
    precondition(offset >= 0 && offset <= count - MemoryLayout<Integer>.size)
    return Integer(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: Integer.self))
  }
}

/// Copies all of `source` to `target` starting at index `start`.
package func copy(_ source: Span<UInt8>, to target: inout MutableSpan<UInt8>, at start: Int = 0) {
  precondition(start >= 0 && source.count <= target.count - start)
  unsafe source.withUnsafeBytes { source in
    unsafe target.withUnsafeMutableBytes { target in
      guard let from = source.baseAddress, let to = target.baseAddress else { return }
      unsafe (to + start).copyMemory(from: from, byteCount: source.count)
    }
  }
}

extension String {
  /// Runs `body` with the UTF-8 bytes of the text. They are copied only if they are not contiguous.
  @inlinable
  package func withBytes<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
    if let result = unsafe utf8.withContiguousStorageIfAvailable({ body(unsafe $0.span) }) { return result }
    return body(Array(utf8).byteSpan)
  }
}

/// Returns the value of a hexadecimal digit, if it is one in lower case.
@inlinable
package func hexDigit(_ byte: UInt8) -> UInt8? {
  switch byte {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
  case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
  default: nil
  }
}

extension [UInt8] {
  /// Parses lower-case hexadecimal digits of exactly `count` bytes. Returns nil for any other text.
  package init?(hex text: some StringProtocol, count: Int) {
    let digits = Array(text.utf8)
    guard digits.count == 2 * count else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    for index in 0..<count {
      guard let high = hexDigit(digits[2 * index]), let low = hexDigit(digits[2 * index + 1]) else { return nil }
      bytes.append(high << 4 | low)
    }
    self = bytes
  }
}
