package import PackFormat
import PackProject

/// A JSON value in a release record, with only the types that records need.
///
/// Objects keep the order of their keys, so that equal values give equal bytes.
package enum RecordValue: Hashable, Sendable {
  case text(String)
  case number(UInt64)
  case flag(Bool)
  case list([RecordValue])
  case object([Member])

  /// A key of an object and its value.
  package struct Member: Hashable, Sendable {
    package var key: String
    package var value: RecordValue
  }

  /// Returns an object with its keys in ascending byte order. Members that are nil are left out.
  package static func sorted(_ members: [String: RecordValue?]) -> RecordValue {
    .object(
      members.compactMap { (key, value) in value.map { Member(key: key, value: $0) } }
        .sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) })
  }

  /// Returns a number, or nil for none.
  package static func number(_ count: Int?) -> RecordValue? { count.map { .number(UInt64($0)) } }
  /// Returns a number, or nil for none.
  package static func number(_ number: UInt64?) -> RecordValue? { number.map { .number($0) } }
  /// Returns a text, or nil for none.
  package static func text(_ text: String?) -> RecordValue? { text.map { .text($0) } }

  package static func texts(_ texts: [String]) -> RecordValue { .list(texts.map { .text($0) }) }

  // MARK: Writing

  /// The bytes of the document. Each list item takes one line, so that independent changes touch different lines.
  package var document: [UInt8] {
    var text = ""
    write(to: &text, indent: 0)
    text += "\n"
    return Array(text.utf8)
  }

  private func write(to text: inout String, indent: Int) {
    let inner = String(repeating: " ", count: indent + 2)
    let outer = String(repeating: " ", count: indent)
    switch self {
    case .object(let members) where !members.isEmpty:
      text += "{\n"
      for (index, member) in members.enumerated() {
        text += "\(inner)\(JSONString.quoted(member.key)): "
        member.value.write(to: &text, indent: indent + 2)
        text += index == members.count - 1 ? "\n" : ",\n"
      }
      text += "\(outer)}"
    case .list(let values) where !values.isEmpty:
      text += "[\n"
      for (index, value) in values.enumerated() {
        text += inner + value.line + (index == values.count - 1 ? "\n" : ",\n")
      }
      text += "\(outer)]"
    default:
      text += line
    }
  }

  /// The value in one line.
  package var line: String {
    switch self {
    case .text(let text): JSONString.quoted(text)
    case .number(let number): "\(number)"
    case .flag(let flag): flag ? "true" : "false"
    case .list(let values): "[" + values.map(\.line).joined(separator: ", ") + "]"
    case .object(let members):
      "{" + members.map { "\(JSONString.quoted($0.key)): \($0.value.line)" }.joined(separator: ", ") + "}"
    }
  }
}

/// A parser for documents of ``RecordValue``s. It refuses everything else: duplicate keys, `null`, fractions and comments.
package struct RecordParser {
  private let bytes: [UInt8]
  private var index = 0
  private var depth = 0

  /// The greatest nesting depth, which limits the recursion of the parser. No record is that deep.
  private static let deepest = 16

  /// Parses a document.
  ///
  /// - Throws: ``PackError/Code/invalidRecord`` with line and column.
  package static func parse(_ bytes: [UInt8]) throws(PackError) -> RecordValue {
    var parser = RecordParser(bytes: bytes)
    let value = try parser.value()
    parser.skipSpace()
    guard parser.index == bytes.count else { throw parser.failure("something follows the document") }
    return value
  }

  private init(bytes: [UInt8]) {
    self.bytes = bytes
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

  private mutating func value() throws(PackError) -> RecordValue {
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
    _ body: (inout RecordParser) throws(PackError) -> RecordValue
  ) throws(PackError) -> RecordValue {
    guard depth < Self.deepest else { throw failure("the document is nested more than \(Self.deepest) levels deep") }
    depth += 1
    index += 1
    let value = try body(&self)
    depth -= 1
    return value
  }

  private mutating func object() throws(PackError) -> RecordValue {
    var members: [RecordValue.Member] = []
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
      members.append(RecordValue.Member(key: key, value: try value()))
      if take(UInt8(ascii: "}")) { return .object(members) }
      guard take(UInt8(ascii: ",")) else { throw failure("a comma or the end of the object was expected") }
    }
  }

  private mutating func list() throws(PackError) -> RecordValue {
    var values: [RecordValue] = []
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

/// The members of an object, taken one by one. Members that are left at the end are unknown.
package struct RecordFields {
  private let place: String
  private var members: [String: RecordValue]

  /// - Parameter place: the name of the object in messages.
  package init(_ value: RecordValue, _ place: String) throws(PackError) {
    guard case .object(let members) = value else { throw PackError(.invalidRecord, "\(place) is not an object") }
    self.place = place
    self.members = Dictionary(uniqueKeysWithValues: members.map { ($0.key, $0.value) })
  }

  private mutating func take(_ key: String) throws(PackError) -> RecordValue {
    guard let value = members.removeValue(forKey: key) else { throw PackError(.invalidRecord, "\(place) has no '\(key)'") }
    return value
  }

  /// Whether the object has a member that was not taken yet.
  package func has(_ key: String) -> Bool { members[key] != nil }

  /// Whether the object has a list under a key that was not taken yet.
  func hasList(_ key: String) -> Bool {
    if case .list = members[key] { true } else { false }
  }

  mutating func object(_ key: String) throws(PackError) -> RecordValue {
    try take(key)
  }

  package mutating func text(_ key: String) throws(PackError) -> String {
    guard case .text(let text) = try take(key) else { throw PackError(.invalidRecord, "'\(key)' of \(place) is not a text") }
    return text
  }

  /// Takes a whole number of at most 2^53 − 1, so that no program that reads the file rounds it.
  package mutating func number(_ key: String) throws(PackError) -> UInt64 {
    guard case .number(let number) = try take(key) else {
      throw PackError(.invalidRecord, "'\(key)' of \(place) is not a whole number")
    }
    guard number <= Limits.packVersion else {
      throw PackError(.invalidRecord, "'\(key)' of \(place) is \(number), more than \(Limits.packVersion)")
    }
    return number
  }

  package mutating func flag(_ key: String) throws(PackError) -> Bool {
    guard case .flag(let flag) = try take(key) else { throw PackError(.invalidRecord, "'\(key)' of \(place) is neither true nor false") }
    return flag
  }

  package mutating func list(_ key: String) throws(PackError) -> [RecordValue] {
    guard case .list(let values) = try take(key) else { throw PackError(.invalidRecord, "'\(key)' of \(place) is not a list") }
    return values
  }

  mutating func texts(_ key: String) throws(PackError) -> [String] {
    var texts: [String] = []
    for value in try list(key) {
      guard case .text(let text) = value else { throw PackError(.invalidRecord, "'\(key)' of \(place) holds something other than texts") }
      texts.append(text)
    }
    return texts
  }

  /// Takes bytes in lower-case hexadecimal.
  mutating func bytes(_ key: String, count: Int) throws(PackError) -> [UInt8] {
    let text = try text(key)
    guard let bytes = Self.bytes(hex: text), bytes.count == count else {
      throw PackError(.invalidRecord, "'\(key)' of \(place) is not \(2 * count) hexadecimal digits")
    }
    return bytes
  }

  /// Takes the id of a content key.
  mutating func keyID(_ key: String) throws(PackError) -> String {
    try bytes(key, count: 8).hex
  }

  /// Throws if the object has members that were not taken.
  func finish() throws(PackError) {
    guard let key = members.keys.sorted().first else { return }
    throw PackError(.invalidRecord, "\(place) has the unknown key '\(key)'")
  }

  private static func bytes(hex text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count % 2 == 0 else { return nil }
    var bytes: [UInt8] = []
    for start in stride(from: 0, to: digits.count, by: 2) {
      var byte: UInt8 = 0
      for digit in digits[start..<start + 2] {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte = byte << 4 | (digit - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte = byte << 4 | (digit - UInt8(ascii: "a") + 10)
        default: return nil
        }
      }
      bytes.append(byte)
    }
    return bytes
  }
}
