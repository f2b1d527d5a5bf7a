/// A tokenizer of HTML (WHATWG HTML §13.2.5), and of XML as far as tags go. It builds no tree.
///
/// It never fails: every input is some sequence of tokens. Time is proportional to the input, and no token takes more memory than its text.
package final class MarkupTokenizer {
  /// An attribute of a start tag.
  package struct Attribute {
    /// The name, in lower case.
    package let name: String
    /// The value, with character references replaced and line breaks normalised.
    package let value: String
  }

  package enum Token {
    /// A start tag. An attribute that occurs twice is there once, as it was first.
    case start(name: String, attributes: [Attribute], isSelfClosing: Bool)
    case end(name: String)
    /// Text between tags, not decoded. A text may come in several pieces.
    case text(Range<Int>)
  }

  /// The kinds of content that has no tags except its own end tag.
  package enum RawContent {
    /// `title` and `textarea`, `style` and the like: the first end tag with the name ends it.
    case plain
    /// `script`, whose end tags may be escaped.
    case script
    /// `plaintext`: nothing ends it.
    case endless
  }

  package let bytes: [UInt8]
  /// The position of the next token.
  private(set) package var index = 0
  /// The position of the last token.
  private(set) package var start = 0
  /// Whether `<![CDATA[` starts a text: in XML, and inside `svg` and `math`.
  package var hasSections = false

  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
  }

  /// Returns the next token, or nil at the end. A tag that the end of the input cuts off is no token.
  package func next() -> Token? {
    while index < bytes.count {
      start = index
      guard bytes[index] == UInt8(ascii: "<") else {
        index = position(of: UInt8(ascii: "<"), from: index)
        return .text(start..<index)
      }
      switch byte(at: index + 1) {
      case UInt8(ascii: "!")?: if let section = skipDeclaration() { return .text(section) }
      case UInt8(ascii: "?")?: index = after(UInt8(ascii: ">"), from: index + 1)
      case UInt8(ascii: "/")?:
        guard let second = byte(at: index + 2) else {
          index = bytes.count
          return .text(start..<index)
        }
        if isLetter(second) {
          index += 2
          if let tag = tag(isEnd: true) { return tag }
        } else {
          index = after(UInt8(ascii: ">"), from: index + 2)
        }
      case let first? where isLetter(first):
        index += 1
        if let tag = tag(isEnd: false) { return tag }
      default:
        index += 1
        return .text(start..<index)
      }
    }
    start = index
    return nil
  }

  /// Skips the content of an element whose start tag was the last token, up to its end tag, and returns its range.
  package func skipContent(of name: String, _ kind: RawContent) -> Range<Int> {
    let first = index
    switch kind {
    case .plain: while index < bytes.count, !isEndTag(name, at: index) { index = position(of: UInt8(ascii: "<"), from: index + 1) }
    case .script: skipScript()
    case .endless: index = bytes.count
    }
    return first..<index
  }

  // MARK: Bytes

  private func byte(at index: Int) -> UInt8? { index < bytes.count ? bytes[index] : nil }

  private func position(of byte: UInt8, from: Int) -> Int {
    var index = from
    while index < bytes.count, bytes[index] != byte { index += 1 }
    return min(index, bytes.count)
  }

  private func after(_ byte: UInt8, from: Int) -> Int { min(position(of: byte, from: from) + 1, bytes.count) }

  /// Whether a word in lower case is at a position, in any case.
  private func has(_ word: String, at index: Int) -> Bool { isWord(bytes[min(index, bytes.count)...].prefix(word.utf8.count), word) }

  /// Whether the name that ends at a position is that of a tag.
  private func endsName(at index: Int) -> Bool { byte(at: index).map { isSpace($0) || $0 == 0x2F || $0 == 0x3E } ?? false }

  private func isEndTag(_ name: String, at index: Int) -> Bool {
    byte(at: index) == UInt8(ascii: "<") && byte(at: index + 1) == UInt8(ascii: "/") && has(name, at: index + 2)
      && endsName(at: index + 2 + name.utf8.count)
  }

  // MARK: Declarations and comments

  /// Skips a comment, a document type or the like. Returns the range of the text if it is a CDATA section.
  private func skipDeclaration() -> Range<Int>? {
    index += 2
    if has("--", at: index) {
      index += 2
      skipComment()
    } else if hasSections, bytes[index...].starts(with: Array("[CDATA[".utf8)) {
      let first = index + 7
      index = first
      while index < bytes.count, !has("]]>", at: index) { index = position(of: UInt8(ascii: "]"), from: index + 1) }
      let section = first..<index
      index = min(index + 3, bytes.count)
      return section
    } else {
      // A document type ends here too: even inside quotes.
      index = after(UInt8(ascii: ">"), from: index)
    }
    return nil
  }

  /// Skips the rest of a comment (§13.2.5.43 to §13.2.5.52).
  private func skipComment() {
    for abrupt in [">", "->"] where has(abrupt, at: index) {
      index += abrupt.utf8.count
      return
    }
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "-") {
        for end in ["-->", "--!>"] where has(end, at: index) {
          index += end.utf8.count
          return
        }
      }
      index = position(of: UInt8(ascii: "-"), from: index + 1)
    }
  }

  // MARK: Scripts

  /// Skips the content of a script (§13.2.5.15 to §13.2.5.31): inside `<!--`, a second `<script>` hides the end tag.
  private func skipScript() {
    var isEscaped = false
    var isDoubleEscaped = false
    var dashes = 0
    while index < bytes.count {
      let byte = bytes[index]
      if byte == UInt8(ascii: "<") {
        dashes = 0
        if !isEscaped, has("<!--", at: index) {
          (isEscaped, dashes) = (true, 2)
          index += 4
          continue
        }
        if isDoubleEscaped, isEndTag("script", at: index) {
          isDoubleEscaped = false
          index += 9
          continue
        }
        if isEndTag("script", at: index) { return }
        if isEscaped, !isDoubleEscaped, has("<script", at: index), endsName(at: index + 7) {
          isDoubleEscaped = true
          index += 8
          continue
        }
      } else if byte == UInt8(ascii: "-") {
        dashes += 1
      } else {
        if byte == UInt8(ascii: ">"), dashes >= 2 { (isEscaped, isDoubleEscaped) = (false, false) }
        dashes = 0
        if !isEscaped {
          index = position(of: UInt8(ascii: "<"), from: index + 1)
          continue
        }
      }
      index += 1
    }
  }

  // MARK: Tags

  /// Reads a tag from its name on (§13.2.5.8 to §13.2.5.40). Returns nil if the input ends in it.
  private func tag(isEnd: Bool) -> Token? {
    let name = name { $0 == 0x2F || $0 == 0x3E }
    var attributes: [Attribute] = []
    // Only for tags with many attributes.
    var names: Set<String> = []
    while let byte = byte(at: index) {
      switch byte {
      case UInt8(ascii: ">"):
        index += 1
        return isEnd ? .end(name: name) : .start(name: name, attributes: attributes, isSelfClosing: false)
      case UInt8(ascii: "/"):
        index += 1
        guard self.byte(at: index) == UInt8(ascii: ">") else { continue }
        index += 1
        return isEnd ? .end(name: name) : .start(name: name, attributes: attributes, isSelfClosing: true)
      case _ where isSpace(byte):
        index += 1
      default:
        let attribute = attribute()
        guard !isEnd else { continue }
        if attributes.count == 8 { names = Set(attributes.map(\.name)) }
        let isKnown = attributes.count < 8 ? attributes.contains { $0.name == attribute.name } : !names.insert(attribute.name).inserted
        if !isKnown { attributes.append(attribute) }
      }
    }
    return nil
  }

  /// Reads a name up to a space or another byte that ends it.
  private func name(_ isEnd: (UInt8) -> Bool) -> String {
    var name: [UInt8] = []
    while let byte = byte(at: index), !isSpace(byte), !isEnd(byte) {
      switch byte {
      case 0x41...0x5A: name.append(byte | 0x20)
      case 0: name += [0xEF, 0xBF, 0xBD]
      default: name.append(byte)
      }
      index += 1
    }
    return String(decoding: name, as: UTF8.self)
  }

  private func attribute() -> Attribute {
    var isFirst = true
    let name = name { byte in
      defer { isFirst = false }
      return byte == 0x2F || byte == 0x3E || byte == UInt8(ascii: "=") && !isFirst
    }
    skipSpaces()
    guard byte(at: index) == UInt8(ascii: "=") else { return Attribute(name: name, value: "") }
    index += 1
    skipSpaces()
    var first = index
    switch byte(at: index) {
    case UInt8(ascii: "\"")?, UInt8(ascii: "'")?:
      first += 1
      index = position(of: bytes[index], from: first)
      let value = CharacterReferences.value(of: bytes[first..<index])
      index = min(index + 1, bytes.count)
      return Attribute(name: name, value: value)
    default:
      while let byte = byte(at: index), !isSpace(byte), byte != UInt8(ascii: ">") { index += 1 }
      return Attribute(name: name, value: CharacterReferences.value(of: bytes[first..<index]))
    }
  }

  private func skipSpaces() {
    while let byte = byte(at: index), isSpace(byte) { index += 1 }
  }
}

/// Whether a byte is a space of HTML, CSS or URLs: a blank, tab, line feed, form feed or carriage return.
func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x09 || byte == 0x0D || byte == 0x0C }

/// Whether bytes are a word that is given in lower case, in any case.
@inline(never)
func isWord(_ bytes: ArraySlice<UInt8>, _ word: String) -> Bool {
  var index = bytes.startIndex
  for letter in word.utf8 {
    guard index < bytes.endIndex, bytes[index] == letter || isLetter(bytes[index]) && bytes[index] | 0x20 == letter else { return false }
    index += 1
  }
  return index == bytes.endIndex
}

func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

/// Returns the value of a hexadecimal digit in any case.
func hexValue(_ byte: UInt8) -> UInt32? {
  switch byte {
  case 0x30...0x39: UInt32(byte) - 0x30
  case 0x41...0x46, 0x61...0x66: UInt32(byte | 0x20) - 0x57
  default: nil
  }
}
