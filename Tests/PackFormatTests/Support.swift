import Testing

/// Returns the code of the error that `body` throws, or nil.
func code(_ body: () throws(PackError) -> Void) -> PackError.Code? {
  do throws(PackError) {
    try body()
    return nil
  } catch {
    return error.code
  }
}

/// Reads bytes in hex. Spaces are ignored.
func bytes(hex: String) -> [UInt8] {
  let digits = hex.compactMap { $0.hexDigitValue.map(UInt8.init) }
  return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

extension [UInt8] {
  /// Returns the bytes with some of them replaced.
  func replacing(_ other: [UInt8], at offset: Int) -> [UInt8] {
    var copy = self
    copy.replaceSubrange(offset..<offset + other.count, with: other)
    return copy
  }
}
