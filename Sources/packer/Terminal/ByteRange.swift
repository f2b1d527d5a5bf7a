/// The value of `--range`, as in HTTP: `A-B` with both ends included, `A-` to the end, `-N` the last N bytes.
struct ByteRange: Equatable, Sendable {
  private let first: UInt64?
  private let last: UInt64?

  init(parsing text: String) throws(PackError) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let first = Self.number(parts[0]), let last = Self.number(parts[1]),
      first.value != nil || last.value != nil
    else {
      throw PackError(
        .usage, "--range is '\(text)', which is not a range",
        hint: "write A-B with both ends included, A- for the rest, or -N for the last N bytes; the first byte is 0")
    }
    if let first = first.value, let last = last.value, first > last {
      throw PackError(.usage, "--range starts at byte \(first), after its end at byte \(last)")
    }
    self.first = first.value
    self.last = last.value
  }

  /// Returns the range in a file of `size` bytes. A range that ends beyond the file is cut at its end.
  ///
  /// - Throws: ``PackError/Code/rangeNotSatisfiable`` if no byte of the range is in the file.
  func resolved(size: UInt64, path: String) throws(PackError) -> Range<UInt64> {
    let start: UInt64
    let end: UInt64
    if let first {
      start = first
      end = last.map { $0 < size ? $0 + 1 : size } ?? size
    } else {
      start = size - min(last ?? 0, size)
      end = size
    }
    guard start < end else {
      throw PackError(.rangeNotSatisfiable, "'\(path)' is \(size) bytes, and the range is beyond its end")
    }
    return start..<end
  }

  /// Returns nil if the text is neither empty nor a number.
  private static func number(_ text: Substring) -> (value: UInt64?, Void)? {
    if text.isEmpty { return (nil, ()) }
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let value = UInt64(text) else { return nil }
    return (value, ())
  }
}
