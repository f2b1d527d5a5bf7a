/// A request, as a line of an access log has it. The ranges are places in the line, empty if it does not have the field.
struct LogRequest: Equatable {
  var isGet = true
  /// The path, also with a query, or a whole URL.
  var target = 0..<0
  /// The status of the response; 0 if there was none.
  var status = 0
  /// How many bytes of the body were sent; nil if the line does not say it.
  var bytes: UInt64?
  /// The time in seconds since 1970; nil if the line does not say it.
  var seconds: Int64?
  var address = 0..<0
  var agent = 0..<0

  /// Reads a status: three digits, or `0` or `-` if there was no response.
  static func status(_ line: Span<UInt8>, _ place: Range<Int>) -> Int? {
    switch place.count {
    case 1: return line[place.lowerBound] == UInt8(ascii: "-") || line[place.lowerBound] == UInt8(ascii: "0") ? 0 : nil
    case 3: return line.number(in: place).map(Int.init)
    default: return nil
    }
  }
}

extension Span<UInt8> {
  /// Returns the number that a range consists of, or nil: only digits, at most 19 of them.
  func number(in place: Range<Int>) -> UInt64? {
    guard (1...19).contains(place.count) else { return nil }
    var value: UInt64 = 0
    for index in place {
      let digit = self[index] &- 0x30
      guard digit < 10 else { return nil }
      value = value &* 10 &+ UInt64(digit)
    }
    return value
  }

  /// Whether the bytes in a range are those of a text.
  func isText(_ text: StaticString, at place: Range<Int>) -> Bool {
    guard place.count == text.utf8CodeUnitCount else { return false }
    return text.withUTF8Buffer { text in
      for index in text.indices where unsafe self[place.lowerBound + index] != text[index] { return false }
      return true
    }
  }
}

/// A place in a line, from which parts are read one after the other.
struct LineCursor {
  private(set) var index = 0

  /// Passes spaces, and returns the byte that follows; nil at the end.
  mutating func peek(_ line: Span<UInt8>) -> UInt8? {
    while index < line.count, line[index] == 0x20 { index += 1 }
    return index < line.count ? line[index] : nil
  }

  /// Returns the place of the next bytes up to a space.
  mutating func token(_ line: Span<UInt8>) -> Range<Int>? {
    guard peek(line) != nil else { return nil }
    let start = index
    while index < line.count, line[index] != 0x20 { index += 1 }
    return start..<index
  }

  /// Returns the place of the next text in quotes, in which a backslash belongs to the byte that follows.
  mutating func quoted(_ line: Span<UInt8>) -> Range<Int>? {
    guard peek(line) == UInt8(ascii: "\"") else { return nil }
    let start = index + 1
    index = start
    while index < line.count {
      if line[index] == UInt8(ascii: "\"") {
        index += 1
        return start..<index - 1
      }
      index += line[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    return nil
  }

  /// Returns the place of the next text in brackets.
  mutating func bracketed(_ line: Span<UInt8>) -> Range<Int>? {
    guard peek(line) == UInt8(ascii: "[") else { return nil }
    let start = index + 1
    index = start
    while index < line.count, line[index] != UInt8(ascii: "]") { index += 1 }
    guard index < line.count else { return nil }
    index += 1
    return start..<index - 1
  }
}
