extension JSON {
  /// Parses a document. Duplicate keys, `null`, fractions, numbers below zero and comments are refused.
  ///
  /// - Throws: ``PackError/Code/invalidRecord`` with line and column.
  package init(parsing bytes: [UInt8]) throws(PackError) {
    var parser = JSONParser(bytes)
    self = try parser.document()
  }
}

/// The state of a parser.
private struct JSONParser {
  private let bytes: [UInt8]
  private var index = 0
  private var depth = 0

  /// The greatest nesting depth, which limits the recursion of the parser. No record is that deep.
  private static let deepest = 16

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  mutating func document() throws(PackError) -> JSON {
    let value = try value()
    skipSpace()
    guard index == bytes.count else { throw failure("something follows the document") }
    return value
  }

  private func failure(_ problem: String) -> PackError {
    let before = bytes.prefix(index)
    let line = before.count { $0 == 0x0A } + 1
    let start = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    let column = before[start...].count { $0 & 0xC0 != 0x80 } + 1
    return PackError(.invalidRecord, "\(line):\(column): \(problem)")
  }

  private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
  }

  /// Skips spaces, consumes a character if it comes next, and returns whether it did.
  private mutating func take(_ character: UInt8) -> Bool {
    skipSpace()
    guard next == character else { return false }
    index += 1
    return true
  }

  private mutating func value() throws(PackError) -> JSON {
    skipSpace()
    switch next {
    case UInt8(ascii: "{"): return try nested { (parser) throws(PackError) in try parser.object() }
    case UInt8(ascii: "["): return try nested { (parser) throws(PackError) in try parser.list() }
    case UInt8(ascii: "\""): return .text(try text())
    case .some(UInt8(ascii: "0")...UInt8(ascii: "9")): return .number(try number())
    case UInt8(ascii: "t"), UInt8(ascii: "f"):
      for (word, flag) in [("true", true), ("false", false)] where bytes[index...].starts(with: word.utf8) {
        index += word.utf8.count
        return .flag(flag)
      }
      throw failure("a value was expected")
    case nil: throw failure("the document ends where a value was expected")
    default: throw failure("an object, a list, a text, a whole number, true or false was expected")
    }
  }

  private mutating func nested(
    _ body: (inout JSONParser) throws(PackError) -> JSON
  ) throws(PackError) -> JSON {
    guard depth < Self.deepest else { throw failure("the document is nested more than \(Self.deepest) levels deep") }
    depth += 1
    index += 1
    let value = try body(&self)
    depth -= 1
    return value
  }

  private mutating func object() throws(PackError) -> JSON {
    var members: [JSON.Member] = []
    var keys: Set<String> = []
    if take(UInt8(ascii: "}")) { return .object([]) }
    while true {
      skipSpace()
      guard next == UInt8(ascii: "\"") else { throw failure("a key in quotes was expected") }
      let start = index
      let key = try text()
      guard keys.insert(key).inserted else {
        index = start
        throw failure("the object has the key '\(key)' twice")
      }
      guard take(UInt8(ascii: ":")) else { throw failure("a colon was expected after '\(key)'") }
      members.append(JSON.Member(key: key, value: try value()))
      if take(UInt8(ascii: "}")) { return .object(members) }
      guard take(UInt8(ascii: ",")) else { throw failure("a comma or the end of the object was expected") }
    }
  }

  private mutating func list() throws(PackError) -> JSON {
    var values: [JSON] = []
    if take(UInt8(ascii: "]")) { return .list([]) }
    while true {
      values.append(try value())
      if take(UInt8(ascii: "]")) { return .list(values) }
      guard take(UInt8(ascii: ",")) else { throw failure("a comma or the end of the list was expected") }
    }
  }

  private mutating func number() throws(PackError) -> UInt64 {
    let start = index
    while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { index += 1 }
    let digits = bytes[start..<index]
    if let byte = next, [UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E")].contains(byte) {
      throw failure("a whole number was expected")
    }
    guard digits.count == 1 || digits.first != UInt8(ascii: "0") else { throw failure("a number starts with a zero") }
    guard let number = UInt64(String(decoding: digits, as: UTF8.self)) else { throw failure("a number does not fit in 64 bits") }
    return number
  }

  private mutating func text() throws(PackError) -> String {
    index += 1
    var content: [UInt8] = []
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        guard let text = String(validUTF8: content) else { throw failure("a text is not UTF-8") }
        index += 1
        return text
      case UInt8(ascii: "\\"):
        index += 1
        content += try escape()
      case 0..<0x20: throw failure("a text contains a control character")
      default:
        content.append(byte)
        index += 1
      }
    }
    throw failure("the document ends inside a text")
  }

  private mutating func escape() throws(PackError) -> [UInt8] {
    guard let byte = next else { throw failure("the document ends inside a text") }
    index += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
    case UInt8(ascii: "b"): return [0x08]
    case UInt8(ascii: "f"): return [0x0C]
    case UInt8(ascii: "n"): return [0x0A]
    case UInt8(ascii: "r"): return [0x0D]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "u"):
      var value = try codeUnit()
      if (0xD800..<0xDC00).contains(value), bytes[index...].starts(with: "\\u".utf8) {
        index += 2
        let low = try codeUnit()
        guard (0xDC00..<0xE000).contains(low) else { throw failure("a text contains half a surrogate pair") }
        value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
      }
      guard let scalar = Unicode.Scalar(value) else { throw failure("a text contains half a surrogate pair") }
      return Array(String(Character(scalar)).utf8)
    default: throw failure("a text contains an unknown escape")
    }
  }

  private mutating func codeUnit() throws(PackError) -> UInt32 {
    let digits = bytes[index..<min(index + 4, bytes.count)]
    guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit && $0 < 0x80 }),
      let value = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    else { throw failure("an escape needs four hexadecimal digits") }
    index += 4
    return value
  }
}

extension PackError.Code {
  /// A record of releases (`packer.lock.json`, `build.json`) cannot be read by this version of packer.
  package static let invalidRecord = Self(rawValue: "invalid-record")
}
