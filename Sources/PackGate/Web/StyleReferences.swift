/// The references of a style sheet, by the tokenizer of CSS Syntax Level 3 §4.
final class StyleReferences {
  private let bytes: [UInt8]
  private let end: Int
  private var index: Int
  /// The place to name, if it is not that in `bytes`.
  private let place: Int?
  private let isCertain: Bool
  private var list: WebReferences

  private enum Function: Equatable {
    case other
    /// `url("…")` and `src("…")`.
    case address
    /// `image-set(…)`, with its set of alternatives.
    case images(Int)
  }

  private struct Import {
    var value: String?
    var offset = 0
    var isConditional = false
  }

  private var functions: [Function] = []
  private var depth = 0
  /// Imports count only before the first rule.
  private var mayImport = true
  private var pending: Import?
  /// Whether an at-rule without files is skipped up to its end.
  private var isSkipping = false
  private var isFontNext = false
  /// The set of alternatives of `@font-face`, and the depth of its block.
  private var font: (set: Int, depth: Int)?
  private var word: Range<Int> = 0..<0
  private var property: Range<Int> = 0..<0

  private init(_ bytes: [UInt8], _ range: Range<Int>, _ list: WebReferences, isCertain: Bool, place: Int?) {
    (self.bytes, end, index, self.list, self.isCertain, self.place) = (bytes, range.upperBound, range.lowerBound, list, isCertain, place)
  }

  /// - Parameters:
  ///   - isCertain: whether the style sheet is used if its file is.
  ///   - place: the place of the whole text; if nil, `bytes` are those of the file.
  static func add(to list: inout WebReferences, _ bytes: [UInt8], _ range: Range<Int>, isCertain: Bool = true, at place: Int? = nil) {
    // Moved, because a shared list would be copied.
    let reader = StyleReferences(bytes, range, WebReferences(), isCertain: isCertain, place: place)
    swap(&reader.list, &list)
    reader.run()
    swap(&reader.list, &list)
  }

  private func run() {
    while index < end {
      let byte = bytes[index]
      switch byte {
      case UInt8(ascii: "/"):
        if !skipComment() { index += 1 }
      case UInt8(ascii: "\""), UInt8(ascii: "'"):
        let offset = index
        let text = string()
        if let text { use(text, at: offset, isAddress: false) }
      case UInt8(ascii: "@"):
        index += 1
        atRule(name())
      case UInt8(ascii: "{"): open()
      case UInt8(ascii: "}"): close()
      case UInt8(ascii: "("):
        functions.append(.other)
        if pending?.value != nil { pending?.isConditional = true }
        index += 1
      case UInt8(ascii: ")"):
        _ = functions.popLast()
        index += 1
      case UInt8(ascii: ";"):
        index += 1
        finishImport()
        (isSkipping, isFontNext) = (false, false)
        property = 0..<0
      case UInt8(ascii: ":"):
        index += 1
        property = word
      case _ where startsName(byte): wordOrFunction()
      default: index += 1
      }
    }
    finishImport()
  }

  // MARK: Rules

  private func atRule(_ name: Range<Int>) {
    finishImport()
    if matches(name, "import") {
      if depth == 0, mayImport { pending = Import() } else { isSkipping = true }
    } else if matches(name, "namespace") {
      isSkipping = true
    } else {
      isFontNext = matches(name, "font-face")
    }
  }

  private func open() {
    index += 1
    depth += 1
    (pending, mayImport, isSkipping) = (nil, false, false)
    functions.removeAll(keepingCapacity: true)
    if isFontNext { font = (list.makeSet(), depth) }
    isFontNext = false
    property = 0..<0
  }

  private func close() {
    index += 1
    if let font, font.depth >= depth { self.font = nil }
    depth = max(0, depth - 1)
    functions.removeAll(keepingCapacity: true)
    property = 0..<0
  }

  private func finishImport() {
    guard let rule = pending else { return }
    pending = nil
    guard let value = rule.value else { return }
    list.add(value, .style, isCertain: isCertain && !rule.isConditional, at: rule.offset)
  }

  private func wordOrFunction() {
    let offset = index
    let name = name()
    guard index < end, bytes[index] == UInt8(ascii: "(") else {
      word = name
      if pending?.value != nil, functions.isEmpty, !matches(name, "layer"), !matches(name, "all"), !matches(name, "screen") {
        pending?.isConditional = true
      }
      return
    }
    index += 1
    if matches(name, "url") {
      while index < end, isSpace(bytes[index]) { index += 1 }
      if index < end, bytes[index] == UInt8(ascii: "\"") || bytes[index] == UInt8(ascii: "'") {
        functions.append(.address)
      } else if let address = address() {
        use(address, at: offset, isAddress: true)
      }
    } else if matches(name, "src") {
      functions.append(.address)
    } else if matches(name, "image-set") || matches(name, "-webkit-image-set") {
      functions.append(.images(list.makeSet()))
    } else {
      functions.append(.other)
      if pending?.value != nil, !matches(name, "layer") { pending?.isConditional = true }
    }
  }

  /// Handles a text or an address.
  private func use(_ text: String, at offset: Int, isAddress: Bool) {
    guard !isSkipping else { return }
    let function = functions.last
    if pending != nil {
      guard pending?.value == nil, isAddress || function == nil || function == .address else { return }
      pending = Import(value: text, offset: place ?? offset)
      return
    }
    var set = font?.set
    for case .images(let images) in functions.suffix(2) { set = images }
    switch function {
    case .address?, .images?: break
    case .other?, nil: guard isAddress else { return }
    }
    // Only Internet Explorer loaded what this property names.
    guard !matches(property, "behavior") else { return }
    list.add(text, .content, isCertain: false, alternatives: set, isOptional: set != nil, at: place ?? offset)
  }

  // MARK: Tokens

  private func skipComment() -> Bool {
    guard index + 1 < end, bytes[index + 1] == UInt8(ascii: "*") else { return false }
    index += 2
    while index < end, !(bytes[index] == UInt8(ascii: "*") && index + 1 < end && bytes[index + 1] == UInt8(ascii: "/")) { index += 1 }
    index = min(index + 2, end)
    return true
  }

  private func startsName(_ byte: UInt8) -> Bool {
    isLetter(byte) || byte >= 0x80 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "\\")
  }

  /// Skips a name, and returns its range. Names with escapes are none that matter here.
  private func name() -> Range<Int> {
    let first = index
    while index < end, startsName(bytes[index]) || isDigit(bytes[index]) { index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1 }
    index = min(index, end)
    return first..<index
  }

  private func matches(_ range: Range<Int>, _ word: String) -> Bool { isWord(bytes[range], word) }

  /// Reads a string (§4.3.5). Returns nil if a line ends in it.
  private func string() -> String? {
    let quote = bytes[index]
    index += 1
    var text: [UInt8] = []
    while index < end {
      let byte = bytes[index]
      switch byte {
      case quote:
        index += 1
        return String(decoding: text, as: UTF8.self)
      case 0x0A, 0x0C, 0x0D: return nil
      case UInt8(ascii: "\\"): escape(into: &text)
      default:
        text.append(byte)
        index += 1
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Reads the rest of an address without quotes (§4.3.6). Returns nil if it is malformed.
  private func address() -> String? {
    var text: [UInt8] = []
    while index < end {
      let byte = bytes[index]
      switch byte {
      case UInt8(ascii: ")"):
        index += 1
        return String(decoding: text, as: UTF8.self)
      case _ where isSpace(byte):
        while index < end, isSpace(bytes[index]) { index += 1 }
        guard index < end, bytes[index] != UInt8(ascii: ")") else { continue }
        return skipAddress()
      case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "("), 0..<0x20, 0x7F: return skipAddress()
      case UInt8(ascii: "\\"): escape(into: &text)
      default:
        text.append(byte)
        index += 1
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private func skipAddress() -> String? {
    while index < end, bytes[index] != UInt8(ascii: ")") { index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1 }
    index = min(index + 1, end)
    return nil
  }

  /// Reads an escape (§4.3.7).
  private func escape(into text: inout [UInt8]) {
    index += 1
    guard index < end else { return }
    var number: UInt32 = 0
    var digits = 0
    while digits < 6, index < end, let digit = hexValue(bytes[index]) {
      number = number << 4 | digit
      digits += 1
      index += 1
    }
    guard digits == 0 else {
      if index + 1 < end, bytes[index] == 0x0D, bytes[index + 1] == 0x0A { index += 1 }
      if index < end, isSpace(bytes[index]) { index += 1 }
      let scalar = number == 0 ? nil : Unicode.Scalar(number)
      text += Array(String(scalar ?? "\u{FFFD}").utf8)
      return
    }
    // A line break after the backslash is left out.
    if bytes[index] == 0x0D, index + 1 < end, bytes[index + 1] == 0x0A {
      index += 2
    } else {
      if !(bytes[index] == 0x0A || bytes[index] == 0x0D || bytes[index] == 0x0C) { text.append(bytes[index]) }
      index += 1
    }
  }
}
