/// Reads little-endian fields one after the other and refuses to read past the end.
package struct FieldCursor {
  /// The offset of the next field, in bytes.
  package private(set) var offset: Int

  private let code: PackError.Code

  /// Makes a cursor that throws errors with `code` if bytes are missing.
  package init(at offset: Int = 0, failure code: PackError.Code) {
    self.offset = offset
    self.code = code
  }

  package mutating func uint8(_ field: String, in bytes: Span<UInt8>) throws(PackError) -> UInt8 {
    try integer(field, in: bytes)
  }

  package mutating func uint16(_ field: String, in bytes: Span<UInt8>) throws(PackError) -> UInt16 {
    try integer(field, in: bytes)
  }

  package mutating func uint32(_ field: String, in bytes: Span<UInt8>) throws(PackError) -> UInt32 {
    try integer(field, in: bytes)
  }

  package mutating func uint64(_ field: String, in bytes: Span<UInt8>) throws(PackError) -> UInt64 {
    try integer(field, in: bytes)
  }

  /// Skips `count` bytes and returns their range.
  package mutating func range(
    _ field: String, count: Int, in bytes: Span<UInt8>
  ) throws(PackError) -> Range<Int> {
    guard count <= bytes.count - offset else {
      throw PackError(code, "\(field) ends at byte \(bytes.count), \(offset + count - bytes.count) bytes early")
    }
    defer { offset += count }
    return offset..<offset + count
  }

  /// Reads the next `count` bytes into a new array.
  package mutating func bytes(
    _ field: String, count: Int, in bytes: Span<UInt8>
  ) throws(PackError) -> [UInt8] {
    let range = try self.range(field, count: count, in: bytes)
    return [UInt8](copying: bytes.extracting(range))
  }

  private mutating func integer<Integer: FixedWidthInteger & BitwiseCopyable>(
    _ field: String, in bytes: Span<UInt8>
  ) throws(PackError) -> Integer {
    let range = try self.range(field, count: MemoryLayout<Integer>.size, in: bytes)
    return bytes.littleEndian(Integer.self, at: range.lowerBound)
  }
}
