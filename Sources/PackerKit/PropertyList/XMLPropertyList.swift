package import PackFormat
import PackManifest

/// An XML property list with the place of every value in it, so that a few can be changed and all else stays as it is, to the byte.
package struct XMLPropertyList: Sendable {
  let bytes: [UInt8]
  let root: Node
  /// Comments, anywhere, in ascending order.
  let comments: [Range<Int>]

  /// A value, and where it stands.
  struct Node: Sendable {
    var value: PropertyList
    /// From the start of the first tag to the end of the last one.
    var range: Range<Int>
    /// What stands between the tags; nil for an element that is one tag.
    var content: Range<Int>?
    /// Of a dictionary, in the order of the file.
    var members: [Member] = []
  }

  struct Member: Sendable {
    var key: String
    /// From the start of `<key>` to the end of the value.
    var range: Range<Int>
    var node: Node
  }

  /// The value of it all.
  package var content: PropertyList { root.value }

  /// Reads a document. It must be UTF-8, like all that today's tools write.
  ///
  /// - Parameter path: for messages, which say line and column.
  package init(_ bytes: [UInt8], path: String) throws(PackError) {
    var parser = XMLPropertyListParser(bytes: bytes, path: path)
    root = try parser.document()
    comments = parser.comments
    self.bytes = bytes
  }

  /// The number of the line that a byte is in, from 1.
  func line(of offset: Int) -> Int {
    1 + bytes[..<offset].count { $0 == 0x0A }
  }
}

/// Reads the part of XML that property lists use: no internal DTD, no attributes but those of `plist`, no processing instructions inside.
private struct XMLPropertyListParser {
  let bytes: [UInt8]
  let path: String
  var position = 0
  var comments: [Range<Int>] = []

  // MARK: The document

  mutating func document() throws(PackError) -> XMLPropertyList.Node {
    try checkText()
    if starts("\u{FEFF}") { position += 3 }
    if starts("<?xml") { try declaration() }
    try skipMisc()
    if starts("<!DOCTYPE") { try skipDoctype() }
    try skipMisc()
    let start = position
    let plist = try tag()
    guard plist.name == "plist", plist.kind == .opening else { throw fault("is not <plist>, which a property list starts with", at: start) }
    try skipMisc()
    let node = try value(depth: 1)
    try skipMisc()
    let end = position
    let closing = try tag()
    guard closing.name == "plist", closing.kind == .closing else { throw fault("stands where </plist> was to come", at: end) }
    try skipMisc()
    guard position == bytes.count else { throw fault("stands behind the end of the property list", at: position) }
    return node
  }

  /// Whether the bytes are a text at all.
  private func checkText() throws(PackError) {
    let convert = "plutil -convert xml1 '\(path)'"
    if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) {
      throw PackError(.malformedPlist, "\(path) is in UTF-16, and only UTF-8 is read", hint: convert)
    }
    let first = bytes.first { !Self.isSpace($0) }
    if first == UInt8(ascii: "{") || first == UInt8(ascii: "(") || first == UInt8(ascii: "/") {
      throw PackError(.malformedPlist, "\(path) is a property list of the old kind, and only XML and binary ones are read", hint: convert)
    }
    guard first == UInt8(ascii: "<") || bytes.starts(with: [0xEF, 0xBB, 0xBF]) else {
      throw PackError(
        .malformedPlist, "\(path) is no property list: it has \(bytes.count) bytes, and neither XML nor the binary form starts so")
    }
    guard Array(String(decoding: bytes, as: UTF8.self).utf8) == bytes else {
      throw PackError(.malformedPlist, "\(path) is not valid UTF-8")
    }
    if let odd = bytes.firstIndex(where: { $0 < 0x20 && !Self.isSpace($0) }) {
      throw fault("is a control character, which XML does not have", at: odd)
    }
  }

  private mutating func declaration() throws(PackError) {
    let start = position
    let text = try skip(to: "?>").lowercased()
    guard let name = text.range(of: "encoding", in: text) else { return }
    let value = text[name...].drop { $0 != "\"" && $0 != "'" }.dropFirst().prefix { $0 != "\"" && $0 != "'" }
    guard ["utf-8", "utf8", "us-ascii", "ascii"].contains(String(value)) else {
      throw fault("names the encoding '\(value)', and only UTF-8 is read", at: start)
    }
  }

  private mutating func skipDoctype() throws(PackError) {
    let start = position
    let text = try skip(to: ">")
    // Definitions of entities can make a small file a large one.
    guard !text.contains("[") else { throw fault("has definitions of its own, which are not read", at: start) }
  }

  // MARK: Values

  private mutating func value(depth: Int) throws(PackError) -> XMLPropertyList.Node {
    let start = position
    guard depth <= PropertyList.greatestDepth else {
      throw fault("is deeper inside than \(PropertyList.greatestDepth) values", at: start)
    }
    let tag = try tag()
    guard tag.kind != .closing else { throw fault("stands where a value was to come", at: start) }
    switch tag.name {
    case "dict":
      return try dictionary(tag, start: start, depth: depth)
    case "array":
      var items: [PropertyList] = []
      guard tag.kind == .opening else { return .init(value: .array([]), range: start..<position) }
      let inner = position
      while try !closes("array") {
        items.append(try value(depth: depth + 1).value)
      }
      return .init(value: .array(items), range: start..<position, content: inner..<(position - "</array>".utf8.count))
    case "true", "false":
      if tag.kind == .opening {
        guard try text(until: tag.name).isEmpty else { throw fault("holds something, and it may not", at: start) }
      }
      return .init(value: .boolean(tag.name == "true"), range: start..<position)
    case "string", "integer", "real", "date", "data":
      let text = tag.kind == .opening ? try text(until: tag.name) : ""
      guard let value = Self.scalar(tag.name, text) else { throw fault("holds '\(text.prefix(40))', which is none", at: start) }
      return .init(value: value, range: start..<position)
    default:
      throw fault("is no element of a property list", at: start)
    }
  }

  private mutating func dictionary(
    _ tag: Tag, start: Int, depth: Int
  ) throws(PackError) -> XMLPropertyList.Node {
    guard tag.kind == .opening else { return .init(value: .dictionary([]), range: start..<position) }
    let inner = position
    var members: [XMLPropertyList.Member] = []
    // By bytes: of two keys that look the same but are not, both count.
    var places: [[UInt8]: Int] = [:]
    while try !closes("dict") {
      let keyStart = position
      let keyTag = try self.tag()
      guard keyTag.name == "key", keyTag.kind != .closing else { throw fault("stands where <key> or </dict> was to come", at: keyStart) }
      let key = keyTag.kind == .opening ? try text(until: "key") : ""
      if let earlier = places.updateValue(keyStart, forKey: Array(key.utf8)) {
        throw fault("is the key '\(key)' for the second time; it stands in line \(position(of: earlier).line) too", at: keyStart)
      }
      try skipMisc()
      let node = try value(depth: depth + 1)
      members.append(.init(key: key, range: keyStart..<position, node: node))
    }
    let value = PropertyList.dictionary(members.map { PropertyList.Member($0.key, $0.node.value) })
    let content = inner..<(bytes[..<position].lastIndex(of: UInt8(ascii: "<")) ?? position)
    return .init(value: value, range: start..<position, content: content, members: members)
  }

  private static func scalar(_ kind: String, _ text: String) -> PropertyList? {
    if kind == "string" { return .string(text) }
    if kind == "data" { return Base64.decode(text).map(PropertyList.data) }
    let trimmed = text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed()
    let word = String(trimmed)
    switch kind {
    case "integer":
      return integer(word)
    case "real":
      guard let number = Double(word.hasPrefix("+") ? String(word.dropFirst()) : word) else { return nil }
      return .real(bitPattern: number.bitPattern)
    default:
      // 2001-01-01T00:00:00Z.
      return ManifestTime(word).map { .date(bitPattern: Double($0.secondsSince1970 - 978_307_200).bitPattern) }
    }
  }

  /// Decimal or hexadecimal, with or without a sign.
  private static func integer(_ word: String) -> PropertyList? {
    let isNegative = word.hasPrefix("-")
    let unsigned = isNegative || word.hasPrefix("+") ? word.dropFirst() : word[...]
    let isHexadecimal = unsigned.lowercased().hasPrefix("0x")
    let digits = isHexadecimal ? unsigned.dropFirst(2) : unsigned
    guard let first = digits.first, first != "-", first != "+", let number = UInt64(digits, radix: isHexadecimal ? 16 : 10) else {
      return nil
    }
    guard isNegative else { return .number(number) }
    if number == Int64.min.magnitude { return .integer(.min) }
    return Int64(exactly: number).map { .integer(-$0) }
  }

  // MARK: Tags and text

  private struct Tag {
    enum Kind {
      case opening, closing, single
    }
    var name: String
    var kind: Kind
  }

  /// Whether the closing tag comes next, which is taken then.
  private mutating func closes(_ name: String) throws(PackError) -> Bool {
    try skipMisc()
    let start = position
    guard starts("</") else { return false }
    let closing = try tag()
    guard closing.name == name else { throw fault("stands where </\(name)> was to come", at: start) }
    return true
  }

  private mutating func tag() throws(PackError) -> Tag {
    let start = position
    guard position < bytes.count else { throw fault("is the end, and the property list is not complete", at: start) }
    guard starts("<"), !starts("<!"), !starts("<?") else { throw fault("is no tag, and one was to come", at: start) }
    let text = try skip(to: ">")
    var inner = text.dropFirst().dropLast()
    var kind = Tag.Kind.opening
    if inner.hasPrefix("/") {
      kind = .closing
      inner = inner.dropFirst()
    } else if inner.hasSuffix("/") {
      kind = .single
      inner = inner.dropLast()
    }
    let name = inner.prefix { !$0.isWhitespace }
    let rest = inner.dropFirst(name.count)
    guard rest.allSatisfy(\.isWhitespace) || name == "plist" && kind == .opening else {
      throw fault("has attributes, which property lists do not use", at: start)
    }
    return Tag(name: String(name), kind: kind)
  }

  /// The text up to the closing tag, which is taken too.
  private mutating func text(until name: String) throws(PackError) -> String {
    let start = position
    var text: [UInt8] = []
    while position < bytes.count {
      let byte = bytes[position]
      if starts("<!--") {
        try skipComment()
      } else if starts("<![CDATA[") {
        position += 9
        text += try skip(to: "]]>").utf8.dropLast(3)
      } else if byte == UInt8(ascii: "<") {
        let end = position
        let closing = try tag()
        guard closing.name == name, closing.kind == .closing else { throw fault("stands where </\(name)> was to come", at: end) }
        return String(decoding: text, as: UTF8.self)
      } else if byte == UInt8(ascii: "&") {
        text += try entity().utf8
      } else if byte == 0x0D {
        // What XML makes of the line ends of other systems.
        text.append(0x0A)
        position += starts("\r\n") ? 2 : 1
      } else {
        text.append(byte)
        position += 1
      }
    }
    throw fault("starts the content of <\(name)>, which has no end", at: start)
  }

  private mutating func entity() throws(PackError) -> String {
    let start = position
    let named = ["&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": "\"", "&apos;": "'"]
    let text = try skip(to: ";")
    if let known = named[text] { return known }
    var digits = text.dropFirst(2).dropLast()
    let isHexadecimal = digits.hasPrefix("x")
    if isHexadecimal { digits = digits.dropFirst() }
    guard text.hasPrefix("&#"), let number = UInt32(digits, radix: isHexadecimal ? 16 : 10), let scalar = Unicode.Scalar(number),
      number >= 0x20 || Self.isSpace(UInt8(truncatingIfNeeded: number)), number != 0xFFFE, number != 0xFFFF, !digits.hasPrefix("+")
    else { throw fault("is the entity '\(text.prefix(20))', which property lists do not have", at: start) }
    return String(Character(scalar))
  }

  /// Skips white space and comments.
  private mutating func skipMisc() throws(PackError) {
    while position < bytes.count {
      if Self.isSpace(bytes[position]) {
        position += 1
      } else if starts("<!--") {
        try skipComment()
      } else {
        return
      }
    }
  }

  private mutating func skipComment() throws(PackError) {
    let start = position
    position += 4
    _ = try skip(to: "-->", from: start)
    comments.append(start..<position)
  }

  /// Goes behind the next `end`.
  ///
  /// - Returns: what was passed, `end` included.
  private mutating func skip(to end: String, from start: Int? = nil) throws(PackError) -> String {
    let first = position
    let wanted = Array(end.utf8)
    while position + wanted.count <= bytes.count {
      if bytes[position] == wanted[0], bytes[position..<(position + wanted.count)].elementsEqual(wanted) {
        position += wanted.count
        return String(decoding: bytes[first..<position], as: UTF8.self)
      }
      position += 1
    }
    throw fault("starts something that does not end with '\(end)'", at: start ?? first)
  }

  private func starts(_ text: String) -> Bool {
    bytes[position...].starts(with: text.utf8)
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }

  // MARK: Faults

  /// An error about what stands at an offset, of which the start is shown.
  private func fault(_ text: String, at offset: Int) -> PackError {
    let place = position(of: offset)
    let line = bytes[offset...].prefix { $0 != 0x0A && $0 != 0x0D }.prefix(24)
    let end = line.firstIndex(of: UInt8(ascii: ">")).map { $0 + 1 } ?? line.endIndex
    let shown = String(decoding: bytes[offset..<end], as: UTF8.self)
    return PackError(.malformedPlist, "\(path):\(place.line):\(place.column): '\(shown)' \(text)")
  }

  private func position(of offset: Int) -> SourcePosition {
    let before = bytes[..<offset]
    let start = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    return SourcePosition(
      line: 1 + before.count { $0 == 0x0A }, column: 1 + String(decoding: bytes[start..<offset], as: UTF8.self).unicodeScalars.count)
  }
}

extension String {
  /// Where `text` starts first.
  fileprivate func range(of text: String, in whole: String) -> String.Index? {
    whole.indices.first { whole[$0...].hasPrefix(text) }
  }
}

/// Base 64 as property lists write it: with white space anywhere.
enum Base64 {
  static func decode(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var buffer: UInt32 = 0
    var count = 0
    var padding = 0
    for byte in text.utf8 {
      let digit: UInt8
      switch byte {
      case 0x20, 0x09, 0x0A, 0x0D: continue
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit = byte - 65
      case UInt8(ascii: "a")...UInt8(ascii: "z"): digit = byte - 97 + 26
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - 48 + 52
      case UInt8(ascii: "+"): digit = 62
      case UInt8(ascii: "/"): digit = 63
      case UInt8(ascii: "="):
        padding += 1
        continue
      default: return nil
      }
      guard padding == 0 else { return nil }
      buffer = buffer << 6 | UInt32(digit)
      count += 1
      guard count % 4 == 0 else { continue }
      bytes += [UInt8(truncatingIfNeeded: buffer >> 16), UInt8(truncatingIfNeeded: buffer >> 8), UInt8(truncatingIfNeeded: buffer)]
      buffer = 0
    }
    switch (count % 4, padding) {
    case (0, 0): break
    case (2, 2): bytes.append(UInt8(truncatingIfNeeded: buffer >> 4))
    case (3, 1): bytes += [UInt8(truncatingIfNeeded: buffer >> 10), UInt8(truncatingIfNeeded: buffer >> 2)]
    default: return nil
    }
    return bytes
  }
}
