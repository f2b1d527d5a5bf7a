/// The references of a script: imports, and calls that load a file with a literal address.
///
/// It finds comments, strings, templates and regular expressions as JavaScript does, but no statements. What it does not understand gives no reference.
final class ScriptReferences {
  private let bytes: [UInt8]
  private let end: Int
  private var index: Int
  private let place: Int?
  private let isModule: Bool?
  private let isCertain: Bool
  private var list: WebReferences

  /// What the last token allows a slash to be: a division after an operand, otherwise the start of a regular expression.
  private var isOperand = false
  /// The last token, if it is a byte.
  private var last: UInt8 = 0
  /// Whether a parenthesis that opens now is that of `if` and the like.
  private var isCondition = false
  private var open: [Bracket] = []
  /// Where the line ends that has no end of a regular expression.
  private var noPatternBefore = 0
  private var state = State.other

  private enum Bracket {
    case parenthesis
    /// Of `if`, `while`, `for` or `with`: a statement follows.
    case condition
    case square
    case block
    /// An object, after which a slash divides.
    case value
    /// `${` of a template.
    case template
  }

  private enum Call {
    case load
    case importing
    /// `new URL`, which matters only with `import.meta.url`.
    case url
    case scripts
  }

  private enum State {
    case other
    case importing
    case exporting
    /// Inside the names of an import or export.
    case names
    case from
    case new
    case callee(Call)
    case argument(Call)
    /// After `.serviceWorker`, where `.register` may follow.
    case serviceWorkers
    case registering
    /// After `.src` and the like, where an equals sign may follow.
    case property
    case assigning
  }

  private enum Token {
    case word(Word, Range<Int>)
    /// A string, with its quotes.
    case string(Range<Int>)
    case byte(UInt8)
    case other
  }

  private enum Word {
    case name
    /// A keyword before an operand.
    case beforeOperand
    /// `if`, `while`, `for` and `with`.
    case condition
    case importing, exporting, from, new, fetch, url, worker, scripts
  }

  private init(_ bytes: [UInt8], _ range: Range<Int>, _ list: WebReferences, isModule: Bool?, isCertain: Bool, place: Int?) {
    (self.bytes, end, index, self.list) = (bytes, range.upperBound, range.lowerBound, list)
    (self.isModule, self.isCertain, self.place) = (isModule, isCertain, place)
  }

  /// - Parameters:
  ///   - isModule: whether it is a module; nil if that depends on who loads the file.
  ///   - isCertain: whether it is run if its file is loaded.
  ///   - place: the place of the whole text; if nil, `bytes` are those of the file.
  static func add(
    to list: inout WebReferences, _ bytes: [UInt8], _ range: Range<Int>, isModule: Bool? = nil, isCertain: Bool = true, at place: Int? = nil
  ) {
    // Moved, because a shared list would be copied.
    let reader = ScriptReferences(bytes, range, WebReferences(), isModule: isModule, isCertain: isCertain, place: place)
    swap(&reader.list, &list)
    reader.run()
    swap(&reader.list, &list)
  }

  private func run() {
    if has("#!", at: index) { skipLine() }
    while let token = next() { follow(token) }
  }

  // MARK: Statements

  private func follow(_ token: Token) {
    let before = state
    state = .other
    switch token {
    case .word(let word, let range): follow(word, range, after: before)
    case .string(let range): follow(range, after: before)
    case .byte(let byte): follow(byte, after: before)
    case .other: break
    }
  }

  private func follow(_ word: Word, _ range: Range<Int>, after before: State) {
    let isMember = last == UInt8(ascii: ".")
    last = 0
    guard !isMember else {
      if case .serviceWorkers = before {
        if bytes[range].elementsEqual("register".utf8) { state = .registering }
      } else if bytes[range].elementsEqual("serviceWorker".utf8) {
        state = .serviceWorkers
      } else if ["src", "href", "poster"].contains(where: { bytes[range].elementsEqual($0.utf8) }) {
        state = .property
      }
      return
    }
    switch (word, before) {
    case (.importing, _): state = .importing
    case (.exporting, _): state = .exporting
    case (.from, .names), (.from, .from), (.from, .importing): state = .from
    case (_, .importing), (_, .names): state = .names
    case (_, .from): state = .names
    case (.new, _): state = .new
    case (.url, .new): state = .callee(.url)
    case (.worker, .new): state = .callee(.load)
    case (.fetch, _): state = .callee(.load)
    case (.scripts, _): state = .callee(.scripts)
    default: break
    }
  }

  private func follow(_ byte: UInt8, after before: State) {
    last = byte
    switch (byte, before) {
    case (UInt8(ascii: "."), .serviceWorkers), (UInt8(ascii: "?"), .serviceWorkers): state = .serviceWorkers
    case (UInt8(ascii: "("), .registering): list.addServiceWorker(at: place ?? index - 1)
    case (UInt8(ascii: "="), .property): state = .assigning
    case (UInt8(ascii: "("), .importing): state = .argument(.importing)
    case (UInt8(ascii: "("), .callee(let call)): state = .argument(call)
    case (UInt8(ascii: "{"), .importing), (UInt8(ascii: "*"), .importing), (UInt8(ascii: "{"), .exporting), (UInt8(ascii: "*"), .exporting):
      state = .names
    case (UInt8(ascii: "{"), .names), (UInt8(ascii: "}"), .names), (UInt8(ascii: ","), .names), (UInt8(ascii: "*"), .names),
      (UInt8(ascii: "}"), .from), (UInt8(ascii: ","), .from):
      state = .names
    default: break
    }
  }

  private func follow(_ string: Range<Int>, after before: State) {
    last = 0
    switch before {
    case .importing, .from:
      // Only at the top level of a module.
      guard open.isEmpty, isModule != false else { return }
      add(string, .specifier, isCertain: true)
    case .names: state = .names
    case .assigning: add(string, .mention, isCertain: false)
    case .argument(let call): argument(string, of: call)
    default: break
    }
  }

  private func argument(_ string: Range<Int>, of call: Call) {
    // An expression that only starts with the string is no literal.
    var position = string.upperBound
    while position < end, isSpace(bytes[position]) { position += 1 }
    guard position < end, bytes[position] == UInt8(ascii: ")") || bytes[position] == UInt8(ascii: ",") else { return }
    switch call {
    case .importing: add(string, .specifier, isCertain: false)
    case .load, .scripts: add(string, .address, isCertain: false)
    case .url:
      guard bytes[position] == UInt8(ascii: ",") else { return }
      position += 1
      while position < end, isSpace(bytes[position]) { position += 1 }
      guard has("import.meta.url", at: position) else { return }
      let text = Self.text(of: bytes[string])
      // Relative to the module, as a specifier with a dot is.
      list.add(
        text.hasPrefix("/") || text.hasPrefix(".") || text.utf8.contains(UInt8(ascii: ":")) ? text : "./" + text, .specifier,
        isCertain: false,
        at: place ?? string.lowerBound)
    }
  }

  private func add(_ string: Range<Int>, _ use: WebReference.Use, isCertain: Bool) {
    list.add(Self.text(of: bytes[string]), use, isCertain: isCertain && self.isCertain, at: place ?? string.lowerBound)
  }

  /// The value of a string with its quotes.
  static func text(of string: ArraySlice<UInt8>) -> String {
    let content = string.dropFirst().dropLast()
    guard content.contains(UInt8(ascii: "\\")) else { return String(decoding: content, as: UTF8.self) }
    var text: [UInt8] = []
    var rest = content
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() else {
        text.append(byte)
        continue
      }
      switch escaped {
      case UInt8(ascii: "n"): text.append(0x0A)
      case UInt8(ascii: "t"): text.append(0x09)
      case 0x0A: break
      case 0x0D: if rest.first == 0x0A { rest = rest.dropFirst() }
      case UInt8(ascii: "x"), UInt8(ascii: "u"):
        var digits = rest.prefix(escaped == UInt8(ascii: "x") ? 2 : 4)
        if digits.first == UInt8(ascii: "{") { digits = rest.dropFirst().prefix(6).prefix { $0 != UInt8(ascii: "}") } }
        let number = digits.reduce(0 as UInt32) { $0 << 4 | (hexValue($1) ?? 0) }
        text += Array(String(Unicode.Scalar(number) ?? "\u{FFFD}").utf8)
        rest = rest[digits.endIndex...]
        if rest.first == UInt8(ascii: "}"), digits.startIndex > content.startIndex, content[digits.startIndex - 1] == UInt8(ascii: "{") {
          rest = rest.dropFirst()
        }
      default: text.append(escaped)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  // MARK: Tokens

  private func has(_ word: String, at index: Int) -> Bool { isWord(bytes[min(index, end)..<end].prefix(word.utf8.count), word) }

  private func isNamePart(_ byte: UInt8) -> Bool {
    isLetter(byte) || isDigit(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$") || byte >= 0x80 || byte == UInt8(ascii: "#")
  }

  private func skipLine() {
    while index < end, bytes[index] != 0x0A, bytes[index] != 0x0D { index += 1 }
  }

  private func next() -> Token? {
    while index < end {
      let byte = bytes[index]
      switch byte {
      case _ where isSpace(byte): index += 1
      case UInt8(ascii: "/"):
        if let token = slash() { return token }
      case UInt8(ascii: "<") where has("<!--", at: index): skipLine()
      case UInt8(ascii: "\""), UInt8(ascii: "'"):
        isOperand = true
        return string(byte)
      case UInt8(ascii: "`"):
        index += 1
        template()
        return .other
      case _ where isDigit(byte):
        index += 1
        while index < end, isNamePart(bytes[index]) || bytes[index] == UInt8(ascii: ".") { index += 1 }
        isOperand = true
        last = 0
        return .other
      case _ where isNamePart(byte): return word()
      default: return punctuation(byte)
      }
    }
    return nil
  }

  private func word() -> Token {
    let first = index
    while index < end, isNamePart(bytes[index]) { index += 1 }
    let range = first..<index
    let word = last == UInt8(ascii: ".") ? .name : word(range)
    isCondition = word == .condition
    isOperand = !(word == .condition || word == .beforeOperand || word == .new)
    return .word(word, range)
  }

  private static let words: [[(text: [UInt8], word: Word)]] = {
    var words = [[(text: [UInt8], word: Word)]](repeating: [], count: 14)
    func add(_ texts: String, _ word: Word) {
      for text in Array(texts.utf8).split(separator: 0x20) { words[text.count].append((Array(text), word)) }
    }
    add("return typeof instanceof in of delete void throw case do else yield await", .beforeOperand)
    add("if while for with", .condition)
    add("import", .importing)
    add("export", .exporting)
    add("from", .from)
    add("new", .new)
    add("fetch", .fetch)
    add("URL", .url)
    add("Worker SharedWorker", .worker)
    add("importScripts", .scripts)
    return words
  }()

  private func word(_ range: Range<Int>) -> Word {
    guard range.count < Self.words.count else { return .name }
    for (text, word) in Self.words[range.count] where text[0] == bytes[range.lowerBound] && bytes[range].elementsEqual(text) { return word }
    return .name
  }

  private func punctuation(_ byte: UInt8) -> Token {
    index += 1
    let isBehindOperand = isOperand
    isOperand = false
    switch byte {
    case UInt8(ascii: "("): open.append(isCondition ? .condition : .parenthesis)
    case UInt8(ascii: "["): open.append(.square)
    case UInt8(ascii: "{"):
      // After an operator a value is expected, so this is an object.
      let isValue = !isBehindOperand && "=(,:[?&|+!".utf8.contains(last)
      open.append(isValue ? .value : .block)
    case UInt8(ascii: ")"):
      isOperand = open.popLast() != .condition
    case UInt8(ascii: "]"):
      _ = open.popLast()
      isOperand = true
    case UInt8(ascii: "}"):
      switch open.popLast() {
      case .template?:
        template()
        return .other
      case .value?: isOperand = true
      default: break
      }
    case UInt8(ascii: "+"), UInt8(ascii: "-"):
      // After x++ a slash divides.
      if index < end, bytes[index] == byte {
        index += 1
        isOperand = isBehindOperand
      }
    default: break
    }
    isCondition = false
    return .byte(byte)
  }

  private func string(_ quote: UInt8) -> Token {
    let first = index
    index += 1
    while index < end {
      switch bytes[index] {
      case quote:
        index += 1
        return .string(first..<index)
      case UInt8(ascii: "\\"):
        index += has("\\\r\n", at: index) ? 3 : 2
      case 0x0A, 0x0D:
        // Not closed: no string.
        last = 0
        return .other
      default: index += 1
      }
    }
    index = min(index, end)
    return .other
  }

  /// Skips a template up to its end or to `${`.
  private func template() {
    last = 0
    while index < end {
      switch bytes[index] {
      case UInt8(ascii: "`"):
        index += 1
        isOperand = true
        return
      case UInt8(ascii: "\\"): index += 2
      case UInt8(ascii: "$") where index + 1 < end && bytes[index + 1] == UInt8(ascii: "{"):
        index += 2
        open.append(.template)
        isOperand = false
        return
      default: index += 1
      }
    }
    index = min(index, end)
  }

  /// Skips a comment, or reads a regular expression or a division.
  private func slash() -> Token? {
    let second = index + 1 < end ? bytes[index + 1] : 0
    if second == UInt8(ascii: "/") {
      skipLine()
      return nil
    }
    if second == UInt8(ascii: "*") {
      index += 2
      while index < end, !(bytes[index] == UInt8(ascii: "*") && index + 1 < end && bytes[index + 1] == UInt8(ascii: "/")) { index += 1 }
      index = min(index + 2, end)
      return nil
    }
    if !isOperand, index >= noPatternBefore, let patternEnd = patternEnd() {
      index = patternEnd
      while index < end, isLetter(bytes[index]) { index += 1 }
      isOperand = true
      last = 0
      return .other
    }
    index += 1
    isOperand = false
    return .byte(UInt8(ascii: "/"))
  }

  /// The position after the slash that ends a regular expression in this line; nil if there is none.
  private func patternEnd() -> Int? {
    var position = index + 1
    var isClass = false
    while position < end {
      switch bytes[position] {
      case 0x0A, 0x0D:
        noPatternBefore = position
        return nil
      case UInt8(ascii: "\\"): position += 1
      case UInt8(ascii: "["): isClass = true
      case UInt8(ascii: "]"): isClass = false
      case UInt8(ascii: "/") where !isClass: return position + 1
      default: break
      }
      position += 1
    }
    noPatternBefore = end
    return nil
  }
}
