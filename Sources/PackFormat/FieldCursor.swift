/// Reads little-endian fields one after the other and refuses to read past the end.
package struct FieldCursor {
  /// The offset of the next field, in bytes.
  package private(set) var offset: Int

  private let code: PackError.Code

  /// Makes a cursor that reports what is missing with `code`.
  package init(at offset: Int = 0, failure code: PackError.Code) {
    self.offset = offset
    self.code = code
  }

  package mutating func uint8(_ field: String, in bytes: Span<UInt8>) throws(PackError) -> UInt8 {
    UInt8(try integer(field, width: 1, in: bytes))
  }

  package mutating func uint16(_ field: String, in bytes: Span<UInt8>) throws(PackError) -> UInt16 {
    UInt16(try integer(field, width: 2, in: bytes))
  }

  package mutating func uint32(_ field: String, in bytes: Span<UInt8>) throws(PackError) -> UInt32 {
    UInt32(try integer(field, width: 4, in: bytes))
  }

  package mutating func uint64(_ field: String, in bytes: Span<UInt8>) throws(PackError) -> UInt64 {
    try integer(field, width: 8, in: bytes)
  }

  /// Passes over `count` bytes and says where they are.
  package mutating func range(
    _ field: String, count: Int, in bytes: Span<UInt8>
  ) throws(PackError) -> Range<Int> {
    guard count <= bytes.count - offset else {
      throw PackError(code, "\(field) ends at byte \(bytes.count), \(offset + count - bytes.count) bytes early")
    }
    defer { offset += count }
    return offset..<offset + count
  }

  /// The next `count` bytes, copied.
  package mutating func bytes(
    _ field: String, count: Int, in bytes: Span<UInt8>
  ) throws(PackError) -> [UInt8] {
    let range = try self.range(field, count: count, in: bytes)
    return [UInt8](copying: bytes.extracting(range))
  }

  private mutating func integer(
    _ field: String, width: Int, in bytes: Span<UInt8>
  ) throws(PackError) -> UInt64 {
    let range = try self.range(field, count: width, in: bytes)
    var value: UInt64 = 0
    for index in 0..<width {
      value |= UInt64(bytes[range.lowerBound + index]) << UInt64(8 * index)
    }
    return value
  }
}
