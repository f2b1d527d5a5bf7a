/// Reads the JSON of manifests in place, and accepts only its canonical form (FORMAT.md §9.1).
///
/// Skipped values are checked as strictly as values that are read. No tree is built: memory is used only for the values that the caller keeps.
package struct CanonicalCursor: Sendable {
  /// The offset of the next byte.
  package private(set) var offset: Int
  private let end: Int
  /// The name of the document in messages, and the code of its errors.
  let subject: String
  private let code: PackError.Code

  /// The maximum depth of nested containers, including the outermost object.
  package static let depthLimit = 8
  /// 2^53 − 1, the largest integer that every JSON reader represents exactly.
  package static let largestInteger: UInt64 = (1 << 53) - 1

  package init(at offset: Int, end: Int, subject: String = "manifest", code: PackError.Code = .damagedManifest) {
    self.offset = offset
    self.end = end
    self.subject = subject
    self.code = code
  }

  package var isAtEnd: Bool { offset == end }

  /// Makes an error at the cursor, or at `place`.
  package func fault(_ text: String, at place: Int? = nil) -> PackError {
    PackError(code, "\(subject) \(text), at byte \(place ?? offset)")
  }

  private func byte(in bytes: Span<UInt8>) throws(PackError) -> UInt8 {
    guard offset < end else { throw fault("ends too early") }
    return bytes[offset]
  }

  /// Skips one byte if it is the wanted one.
  private mutating func take(_ wanted: UInt8, in bytes: Span<UInt8>) -> Bool {
    guard offset < end, bytes[offset] == wanted else { return false }
    offset += 1
    return true
  }

  /// Skips exactly this text, or throws.
  package mutating func expect(_ text: StaticString, in bytes: Span<UInt8>) throws(PackError) {
    let wanted = Array("\(text)".utf8)
    for (index, byte) in wanted.enumerated() {
      guard offset + index < end, bytes[offset + index] == byte else {
        throw fault("has something other than \(text)")
      }
    }
    offset += wanted.count
  }

  // MARK: Objects and arrays

  /// An object that is being read.
  package struct Object {
    /// The range of the last key, without its quotes.
    fileprivate var previous: Range<Int>?
  }

  /// An array that is being read.
  package struct Elements {
    fileprivate var isFirst = true
  }

  package mutating func beginObject(_ what: String, depth: Int, in bytes: Span<UInt8>) throws(PackError) -> Object {
    guard try byte(in: bytes) == UInt8(ascii: "{") else { throw fault("has \(what) that is not an object") }
    try checkDepth(depth)
    offset += 1
    return Object()
  }

  package mutating func beginArray(_ what: String, depth: Int, in bytes: Span<UInt8>) throws(PackError) -> Elements {
    guard try byte(in: bytes) == UInt8(ascii: "[") else { throw fault("has \(what) that is not an array") }
    try checkDepth(depth)
    offset += 1
    return Elements()
  }

  private func checkDepth(_ depth: Int) throws(PackError) {
    guard depth <= Self.depthLimit else { throw fault("is nested \(depth) deep, more than \(Self.depthLimit)") }
  }

  /// Returns the next key, and moves the cursor to its value. Returns nil and moves the cursor past the object if there is no other key.
  package mutating func nextKey(of object: inout Object, in bytes: Span<UInt8>) throws(PackError) -> String? {
    if take(UInt8(ascii: "}"), in: bytes) { return nil }
    if object.previous != nil {
      guard take(UInt8(ascii: ","), in: bytes) else { throw fault("has neither a comma nor a brace after a value") }
    }
    let start = offset
    let key = try string("a key", in: bytes)
    for index in key where bytes[index] >= 0x80 { throw fault("has a key that is not ASCII", at: start) }
    if let previous = object.previous {
      let order = order(of: previous, key, in: bytes)
      guard order != 0 else { throw fault("has the key '\(text(of: key, in: bytes))' twice", at: start) }
      guard order < 0 else {
        throw fault(
          "has the key '\(text(of: key, in: bytes))' after '\(text(of: previous, in: bytes))', but keys must ascend", at: start)
      }
    }
    object.previous = key
    guard take(UInt8(ascii: ":"), in: bytes) else { throw fault("has no colon after a key") }
    return text(of: key, in: bytes)
  }

  /// Returns whether there is another element, and moves the cursor to it, or past the array if there is none.
  package mutating func hasNext(in array: inout Elements, in bytes: Span<UInt8>) throws(PackError) -> Bool {
    if take(UInt8(ascii: "]"), in: bytes) { return false }
    if !array.isFirst {
      guard take(UInt8(ascii: ","), in: bytes) else { throw fault("has neither a comma nor a bracket after a value") }
    }
    array.isFirst = false
    return true
  }

  // MARK: Values

  /// Reads an integer from 0 to 2^53 − 1.
  package mutating func integer(_ what: String, in bytes: Span<UInt8>) throws(PackError) -> UInt64 {
    let start = offset
    var value: UInt64 = 0
    while offset < end, case let digit = bytes[offset], (0x30...0x39).contains(digit) {
      // Checked at every digit, so that the value cannot overflow.
      value = value * 10 + UInt64(digit - 0x30)
      guard value <= Self.largestInteger else { throw fault("has \(what) above \(Self.largestInteger)", at: start) }
      offset += 1
    }
    guard offset > start else { throw fault("has \(what) that is not a plain integer") }
    guard bytes[start] != 0x30 || offset == start + 1 else { throw fault("has \(what) with a leading zero", at: start) }
    if offset < end, [UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E")].contains(bytes[offset]) {
      throw fault("has \(what) that is not a plain integer", at: start)
    }
    return value
  }

  /// Reads a text.
  package mutating func text(_ what: String, in bytes: Span<UInt8>) throws(PackError) -> String {
    text(of: try string(what, in: bytes), in: bytes)
  }

  /// Reads `count` bytes in lower-case hexadecimal.
  package mutating func hex(_ what: String, count: Int, in bytes: Span<UInt8>) throws(PackError) -> [UInt8] {
    let start = offset
    let range = try string(what, in: bytes)
    guard range.count == 2 * count else {
      throw fault("has \(what) of \(range.count) digits, not \(2 * count)", at: start)
    }
    var result: [UInt8] = []
    result.reserveCapacity(count)
    for index in 0..<count {
      guard let high = hexDigit(bytes[range.lowerBound + 2 * index]),
        let low = hexDigit(bytes[range.lowerBound + 2 * index + 1])
      else { throw fault("has \(what) with something other than a lower-case hexadecimal digit", at: start) }
      result.append(high << 4 | low)
    }
    return result
  }

  /// Skips any value that the format allows. `depth` is the depth of the value if it is an object or an array.
  package mutating func skip(depth: Int, in bytes: Span<UInt8>) throws(PackError) {
    switch try byte(in: bytes) {
    case UInt8(ascii: "{"):
      var object = try beginObject("an object", depth: depth, in: bytes)
      while try nextKey(of: &object, in: bytes) != nil { try skip(depth: depth + 1, in: bytes) }
    case UInt8(ascii: "["):
      var array = try beginArray("an array", depth: depth, in: bytes)
      while try hasNext(in: &array, in: bytes) { try skip(depth: depth + 1, in: bytes) }
    case UInt8(ascii: "\""):
      _ = try string("a text", in: bytes)
    case UInt8(ascii: "t"):
      try expect("true", in: bytes)
    case UInt8(ascii: "f"):
      try expect("false", in: bytes)
    case UInt8(ascii: "n"):
      throw fault("contains null, which is not allowed")
    case UInt8(ascii: " "), 0x09, 0x0A, 0x0D:
      throw fault("has white space between its values")
    default:
      _ = try integer("a number", in: bytes)
    }
  }

  // MARK: Strings

  /// Skips a string and returns the range of its content, without the quotes.
  private mutating func string(_ what: String, in bytes: Span<UInt8>) throws(PackError) -> Range<Int> {
    guard try byte(in: bytes) == UInt8(ascii: "\"") else { throw fault("has \(what) that is not a string") }
    offset += 1
    let start = offset
    while true {
      switch try byte(in: bytes) {
      case UInt8(ascii: "\""):
        offset += 1
        return start..<offset - 1
      case UInt8(ascii: "\\"):
        offset += try escape(at: offset, in: bytes).length
      case 0..<0x20:
        throw fault("has a control character that is not escaped")
      case 0..<0x80:
        offset += 1
      default:
        offset += try sequence(in: bytes)
      }
    }
  }

  /// Returns the character of an escape. Each character has at most one escape: the short one if it exists.
  private func escape(at place: Int, in bytes: Span<UInt8>) throws(PackError) -> (character: UInt8, length: Int) {
    guard place + 1 < end else { throw fault("ends inside an escape", at: place) }
    switch bytes[place + 1] {
    case UInt8(ascii: "\""): return (0x22, 2)
    case UInt8(ascii: "\\"): return (0x5C, 2)
    case UInt8(ascii: "b"): return (0x08, 2)
    case UInt8(ascii: "t"): return (0x09, 2)
    case UInt8(ascii: "n"): return (0x0A, 2)
    case UInt8(ascii: "f"): return (0x0C, 2)
    case UInt8(ascii: "r"): return (0x0D, 2)
    case UInt8(ascii: "u"):
      guard place + 6 <= end else { throw fault("ends inside an escape", at: place) }
      guard bytes[place + 2] == 0x30, bytes[place + 3] == 0x30, let high = hexDigit(bytes[place + 4]), high < 2,
        let low = hexDigit(bytes[place + 5]), ![0x08, 0x09, 0x0A, 0x0C, 0x0D].contains(high << 4 | low)
      else { throw fault("has an escape that is not in canonical form", at: place) }
      return (high << 4 | low, 6)
    default:
      throw fault("has an escape that is not in canonical form", at: place)
    }
  }

  /// Returns the length of the UTF-8 sequence of two to four bytes at the cursor.
  private func sequence(in bytes: Span<UInt8>) throws(PackError) -> Int {
    func isContinuation(_ distance: Int, _ range: ClosedRange<UInt8> = 0x80...0xBF) -> Bool {
      offset + distance < end && range.contains(bytes[offset + distance])
    }
    // The bounds of the second byte exclude overlong forms, surrogates and values above U+10FFFF.
    let (length, second): (Int, ClosedRange<UInt8>)
    switch bytes[offset] {
    case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
    case 0xE0: (length, second) = (3, 0xA0...0xBF)
    case 0xED: (length, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
    case 0xF0: (length, second) = (4, 0x90...0xBF)
    case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
    case 0xF4: (length, second) = (4, 0x80...0x8F)
    default: throw fault("is not UTF-8")
    }
    guard isContinuation(1, second), length < 3 || isContinuation(2), length < 4 || isContinuation(3) else {
      throw fault("is not UTF-8")
    }
    return length
  }

  /// Compares two strings in byte order. Returns a number less than 0 if the left one comes first, 0 if they are equal.
  private func order(of left: Range<Int>, _ right: Range<Int>, in bytes: Span<UInt8>) -> Int {
    guard !hasEscape(left, in: bytes), !hasEscape(right, in: bytes) else {
      let (left, right) = (decoded(left, in: bytes), decoded(right, in: bytes))
      return left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
    }
    for (left, right) in zip(left, right) where bytes[left] != bytes[right] {
      return bytes[left] < bytes[right] ? -1 : 1
    }
    return left.count - right.count
  }

  private func hasEscape(_ range: Range<Int>, in bytes: Span<UInt8>) -> Bool {
    for index in range where bytes[index] == UInt8(ascii: "\\") { return true }
    return false
  }

  /// Returns the text of a skipped string, without escapes.
  private func text(of range: Range<Int>, in bytes: Span<UInt8>) -> String {
    guard hasEscape(range, in: bytes) else {
      return unsafe bytes.extracting(range).withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }
    return String(decoding: decoded(range, in: bytes), as: UTF8.self)
  }

  /// Returns the bytes of a skipped string, without escapes.
  private func decoded(_ range: Range<Int>, in bytes: Span<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(range.count)
    var place = range.lowerBound
    while place < range.upperBound {
      if bytes[place] == UInt8(ascii: "\\"), let (character, length) = try? escape(at: place, in: bytes) {
        result.append(character)
        place += length
      } else {
        result.append(bytes[place])
        place += 1
      }
    }
    return result
  }
}
