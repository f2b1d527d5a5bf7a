/// The values of a property list in XML, and the byte range of each.
///
/// Accepts the same input as Apple's readers: UTF-8, comments, processing instructions and a document type without internal declarations.
/// Attributes and everything after the outer element are ignored.
struct XMLMarkup: Hashable, Sendable {
  /// A value with its tags.
  struct Element: Hashable, Sendable {
    indirect enum Content: Hashable, Sendable {
      /// A value that is not a container.
      case scalar(PropertyList)
      case array([Element])
      case dictionary([Member])
    }

    /// From its first `<` to after its last `>`.
    var range: Range<Int>
    /// The range between the tags. If the element is a single tag, it is empty and at the end.
    var inside: Range<Int>
    var content: Content
  }

  /// A key of a dictionary and its value, in the order of the file.
  struct Member: Hashable, Sendable {
    var key: String
    /// From the `<` of `<key>` to after the `>` of `</key>`.
    var keyRange: Range<Int>
    var value: Element
  }

  /// The top-level value.
  let root: Element
  /// The ranges of the comments before the end of the outer element.
  let comments: [Range<Int>]

  /// Parses a property list.
  ///
  /// - Parameter path: the path of the file, for messages.
  /// - Throws: ``PackError/Code/malformedPlist`` with the line of the fault.
  init(_ bytes: [UInt8], path: String) throws(PackError) {
    var reader = XMLReader(bytes: bytes, path: path)
    root = try reader.document()
    comments = reader.comments
  }

  /// The values, with the keys of dictionaries in ascending order.
  var propertyList: PropertyList { root.propertyList }

  /// Returns the line number of a byte. The first line is 1.
  static func line(of offset: Int, in bytes: [UInt8]) -> Int {
    1 + bytes[..<min(offset, bytes.count)].count { $0 == 0x0A }
  }
}

extension XMLMarkup.Element {
  var propertyList: PropertyList {
    switch content {
    case .scalar(let value): value
    case .array(let items): .array(items.map(\.propertyList))
    case .dictionary(let members): .dictionary(members.map { PropertyList.Member($0.key, $0.value.propertyList) }.sorted())
    }
  }

  /// The members, if this is a dictionary.
  var members: [XMLMarkup.Member]? {
    guard case .dictionary(let members) = content else { return nil }
    return members
  }
}

/// A parser at a position in the bytes of a property list in XML.
private struct XMLReader {
  typealias Element = XMLMarkup.Element

  private enum Tag: String {
    case plist, dict, key, array, string, integer, real, date, data
    case yes = "true"
    case no = "false"
  }

  private struct OpeningTag {
    var tag: Tag
    var start: Int
    /// Whether it ends in `/>`.
    var isWhole: Bool
  }

  private let bytes: [UInt8]
  private let path: String
  private var position = 0
  private(set) var comments: [Range<Int>] = []

  init(bytes: [UInt8], path: String) {
    self.bytes = bytes
    self.path = path
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  // MARK: Elements

  mutating func document() throws(PackError) -> Element {
    try checkEncoding()
    while true {
      try skipAsides()
      guard starts(with: "<!DOCTYPE") else { break }
      try skipDocumentType()
    }
    let outer = try openingTag()
    guard outer.tag == .plist else { return try element(outer, depth: 1) }
    guard !outer.isWhole else { throw fault("<plist> is empty", at: outer.start) }
    try skipAsides()
    guard !starts(with: "</") else { throw fault("<plist> is empty", at: outer.start) }
    let root = try element(try openingTag(), depth: 1)
    try skipAsides()
    guard starts(with: "</") else { throw fault("<plist> holds more than one value") }
    try close(.plist)
    return root
  }

  private mutating func element(_ opening: OpeningTag, depth: Int) throws(PackError) -> Element {
    guard depth <= PropertyList.greatestDepth else { throw PropertyList.tooDeep(path) }
    let start = position
    var content = Element.Content.scalar(.string(""))
    switch opening.tag {
    case .plist: throw fault("a <plist> is inside another one", at: opening.start)
    case .key: throw fault("a <key> is outside a dictionary", at: opening.start)
    case .yes: content = .scalar(.boolean(true))
    case .no: content = .scalar(.boolean(false))
    case .array: content = .array(opening.isWhole ? [] : try items(depth: depth))
    case .dict: content = .dictionary(opening.isWhole ? [] : try members(of: opening, depth: depth))
    case .string: if !opening.isWhole { content = .scalar(.string(try text())) }
    case .integer, .real, .date, .data:
      guard !opening.isWhole else { throw fault("<\(opening.tag.rawValue)> is empty", at: opening.start) }
      content = .scalar(try scalar(opening))
    }
    let end = position
    if !opening.isWhole { try close(opening.tag) }
    return Element(range: opening.start..<position, inside: start..<end, content: content)
  }

  private mutating func items(depth: Int) throws(PackError) -> [Element] {
    var items: [Element] = []
    while true {
      try skipAsides()
      if starts(with: "</") { return items }
      items.append(try element(try openingTag(), depth: depth + 1))
    }
  }

  private mutating func members(of opening: OpeningTag, depth: Int) throws(PackError) -> [XMLMarkup.Member] {
    var members: [XMLMarkup.Member] = []
    var keys: Set<String> = []
    while true {
      try skipAsides()
      if starts(with: "</") { break }
      let tag = try openingTag()
      guard tag.tag == .key else { throw fault("a <key> was expected, but found <\(tag.tag.rawValue)>", at: tag.start) }
      var key = ""
      if !tag.isWhole {
        key = try text()
        try close(.key)
      }
      let range = tag.start..<position
      guard keys.insert(key).inserted else {
        throw PackError(.malformedPlist, "\(path): a dictionary has the key '\(key)' twice, in line \(line(of: tag.start))")
      }
      try skipAsides()
      guard !starts(with: "</") else { throw fault("the key '\(key)' has no value") }
      members.append(XMLMarkup.Member(key: key, keyRange: range, value: try element(try openingTag(), depth: depth + 1)))
    }
    // This is how a keyed archive writes a reference.
    if members.count == 1, members[0].key == "CF$UID", case .scalar(.integer) = members[0].value.content {
      throw PackError(.malformedPlist, "\(path) holds a value of a type that no Info.plist has, such as a reference in a keyed archive")
    }
    return members
  }

  // MARK: Tags

  private mutating func openingTag() throws(PackError) -> OpeningTag {
    let start = position
    guard position < bytes.count else { throw fault("the file ends before the list does") }
    guard bytes[position] == UInt8(ascii: "<") else { throw fault("a text is outside a <string>") }
    guard let end = bytes[start...].firstIndex(of: UInt8(ascii: ">")) else { throw fault("the file ends inside a tag") }
    let isWhole = bytes[end - 1] == UInt8(ascii: "/")
    let name = bytes[(start + 1)..<end].prefix { $0 > 0x20 && $0 != UInt8(ascii: "/") }
    let word = String(decoding: name.prefix(20), as: UTF8.self)
    guard let tag = Tag(rawValue: word) else {
      throw fault(
        "\(word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) } ? "<\(word)>" : "this tag") is not part of a property list")
    }
    position = end + 1
    return OpeningTag(tag: tag, start: start, isWhole: isWhole)
  }

  private mutating func close(_ tag: Tag) throws(PackError) {
    guard position < bytes.count else { throw fault("the file ends inside <\(tag.rawValue)>") }
    guard starts(with: "</\(tag.rawValue)") else { throw fault("</\(tag.rawValue)> was expected") }
    var end = position + 2 + tag.rawValue.utf8.count
    while end < bytes.count, Self.isSpace(bytes[end]) { end += 1 }
    guard end < bytes.count, bytes[end] == UInt8(ascii: ">") else { throw fault("</\(tag.rawValue)> was expected") }
    position = end + 1
  }

  // MARK: Values

  /// Reads a text up to the next tag, and resolves its references and CDATA sections.
  private mutating func text() throws(PackError) -> String {
    let start = position
    var text: [UInt8] = []
    while position < bytes.count {
      let end = bytes[position...].firstIndex { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "&") } ?? bytes.count
      text += bytes[position..<end]
      position = end
      if starts(with: "<![CDATA[") {
        let start = position + 9
        guard let end = find("]]>", from: start) else { throw fault("a CDATA section has no end") }
        text += bytes[start..<end]
        position = end + 3
      } else if starts(with: "&") {
        text += String(try reference()).utf8
      } else {
        break
      }
    }
    guard let text = String(validUTF8: text) else { throw fault("a text is not UTF-8", at: start) }
    return text
  }

  private static let names: [String: Unicode.Scalar] = ["lt": "<", "gt": ">", "amp": "&", "apos": "'", "quot": "\""]

  /// Reads a reference `&…;` and returns its character.
  private mutating func reference() throws(PackError) -> Unicode.Scalar {
    let rest = bytes[(position + 1)...].prefix(12)
    guard let end = rest.firstIndex(of: UInt8(ascii: ";")) else { throw fault("an '&' does not start a reference: write &amp;") }
    let name = String(decoding: rest[..<end], as: UTF8.self)
    var scalar = Self.names[name]
    if name.hasPrefix("#") {
      let isHexadecimal = name.hasPrefix("#x")
      let digits = name.dropFirst(isHexadecimal ? 2 : 1)
      // The initializer would accept a sign.
      if digits.first != "+" { scalar = UInt32(digits, radix: isHexadecimal ? 16 : 10).flatMap { Unicode.Scalar($0) } }
    }
    guard let scalar else { throw fault("an '&' starts an unknown reference") }
    position = end + 1
    return scalar
  }

  private mutating func scalar(_ opening: OpeningTag) throws(PackError) -> PropertyList {
    let end = bytes[position...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
    let bytes = bytes[position..<end]
    position = end
    let text = String(decoding: bytes.drop(while: Self.isSpace).reversed().drop(while: Self.isSpace).reversed(), as: UTF8.self)
    let value: PropertyList? =
      switch opening.tag {
      case .integer: Self.integer(text)
      case .real: Self.real(text)
      case .date: try date(text)
      default: Base64.decode(bytes).map { .data($0) }
      }
    guard let value else {
      throw fault("<\(opening.tag.rawValue)> does not hold a valid value, or its value does not fit in 64 bits", at: opening.start)
    }
    return value
  }

  /// Parses a decimal integer, or a hexadecimal one after `0x`.
  private static func integer(_ text: String) -> PropertyList? {
    var digits = text.utf8[...]
    let isNegative = digits.first == UInt8(ascii: "-")
    if isNegative || digits.first == UInt8(ascii: "+") { digits = digits.dropFirst().drop(while: isSpace) }
    let isHexadecimal = digits.starts(with: "0x".utf8) || digits.starts(with: "0X".utf8)
    if isHexadecimal { digits = digits.dropFirst(2) }
    guard let first = digits.first, first != UInt8(ascii: "+"), first != UInt8(ascii: "-") else { return nil }
    let magnitude = UInt64(Substring(digits), radix: isHexadecimal ? 16 : 10)
    guard let magnitude else { return nil }
    guard isNegative else { return .number(magnitude) }
    return magnitude <= 1 << 63 ? .integer(Int64(truncatingIfNeeded: 0 &- magnitude)) : nil
  }

  private static func real(_ text: String) -> PropertyList? {
    let isNumber = text.utf8.allSatisfy { (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }
    let words = ["nan", "inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"]
    guard isNumber || words.contains(text.lowercased()), let value = Double(text) else { return nil }
    return .real(bitPattern: value.bitPattern)
  }

  /// Parses a date and time such as `2001-01-01T00:00:00Z`, in the Gregorian calendar.
  private func date(_ text: String) throws(PackError) -> PropertyList? {
    let rest = text.suffix("-00-00T00:00:00Z".count)
    let year = text.dropLast(rest.count)
    let digits = year.utf8.drop { $0 == UInt8(ascii: "-") }
    guard !year.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    // Years without four digits become the year 0, which is refused below.
    let isWritten = year.utf8.count == 4 && digits.count == 4
    guard let time = ManifestTime("\(isWritten ? year : "0000")\(rest)") else { return nil }
    // 2001 started 978 307 200 seconds after 1970.
    return try PropertyList(secondsSince2001: Double(time.secondsSince1970 - 978_307_200), path: path)
  }

  // MARK: Between values

  /// Skips spaces, comments and processing instructions.
  private mutating func skipAsides() throws(PackError) {
    while position < bytes.count {
      if Self.isSpace(bytes[position]) {
        position += 1
      } else if starts(with: "<!--") {
        guard let end = find("-->", from: position + 4) else { throw fault("a comment has no end") }
        comments.append(position..<(end + 3))
        position = end + 3
      } else if starts(with: "<?") {
        guard let end = find("?>", from: position + 2) else { throw fault("a processing instruction has no end") }
        position = end + 2
      } else {
        return
      }
    }
  }

  private mutating func skipDocumentType() throws(PackError) {
    guard let end = bytes[position...].firstIndex(where: { $0 == UInt8(ascii: ">") || $0 == UInt8(ascii: "[") }) else {
      throw fault("the document type has no end")
    }
    guard bytes[end] == UInt8(ascii: ">") else { throw fault("the document type holds declarations, which a property list must not have") }
    position = end + 1
  }

  /// Throws if the declared encoding is not UTF-8 and the file has bytes outside ASCII.
  private func checkEncoding() throws(PackError) {
    guard starts(with: "<?xml"), let end = find("?>", from: position) else { return }
    let declaration = String(decoding: bytes[position..<end], as: UTF8.self)
    guard let encoding = declaration.firstMatch(of: /encoding\s*=\s*["']([^"']*)["']/)?.1,
      encoding.lowercased() != "utf-8", bytes[position...].contains(where: { $0 >= 0x80 })
    else { return }
    throw PackError(
      .malformedPlist, "\(path) is in the encoding '\(encoding)', but only UTF-8 is supported",
      hint: "plutil -convert xml1 \(ShellWord.path(path))")
  }

  // MARK: Bytes

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

  private func starts(with text: String) -> Bool { bytes[position...].starts(with: text.utf8) }

  private func find(_ text: String, from start: Int) -> Int? {
    let text = Array(text.utf8)
    guard bytes.count >= text.count, start <= bytes.count - text.count else { return nil }
    return (start...(bytes.count - text.count)).first { bytes[$0] == text[0] && bytes[$0...].starts(with: text) }
  }

  private func line(of offset: Int) -> Int { XMLMarkup.line(of: offset, in: bytes) }

  private func fault(_ message: String, at offset: Int? = nil) -> PackError {
    PackError(.malformedPlist, "\(path) is not a property list: \(message), in line \(line(of: offset ?? position))")
  }
}
