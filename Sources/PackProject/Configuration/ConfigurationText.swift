/// The nodes of a YAML text. JSON is YAML too.
///
/// Accepts only the part of YAML that a configuration needs: one document, no anchors, no tags.
struct ConfigurationText: Sendable {
  /// The root of the document; nil if it could not be read.
  private(set) var root: ConfigurationNode?
  private(set) var mistakes: [ConfigurationMistake] = []

  /// The maximum size of a file in bytes (32 MiB): more than 100 000 packs.
  static let largestSize = 32 << 20
  /// The maximum nesting depth of values. A configuration has five levels.
  private static let greatestDepth = 64
  /// The maximum nesting depth that is skipped to report mistakes further on. Deeper values end the reading.
  private static let greatestSkippedDepth = 1000

  /// Reads a whole file.
  static func bytes(of path: String, files: any FileSystem) throws(PackError) -> [UInt8] {
    let file: OpenFile
    let size: UInt64
    do throws(PackError) {
      let (opened, status) = try files.openFile(path)
      (file, size) = (opened, status.size)
    } catch {
      guard error.code == .missingInput else { throw error }
      if let other = PackerConfiguration.otherSpelling(of: path, files: files) {
        throw PackError(
          .missingInput, "\(path) does not exist, but \(other) does", hint: "rename it, or name it with -c \(ShellWord.path(other))")
      }
      let option = path == PackerConfiguration.defaultPath ? "" : " -o \(ShellWord.path(path))"
      throw PackError(.missingInput, "\(path) does not exist", hint: "packer init\(option)")
    }
    guard size <= largestSize else {
      throw PackError(.invalidConfiguration, "\(path) is larger than \(largestSize) bytes")
    }
    var bytes = [UInt8](repeating: 0, count: Int(size))
    var buffer = bytes.mutableByteSpan
    let count = try files.read(file, at: 0, filling: &buffer, name: path)
    // It may have become shorter since it was opened.
    bytes.removeLast(bytes.count - count)
    return bytes
  }

  init(_ bytes: [UInt8]) {
    var bytes = bytes[...]
    // Some editors start a file with a byte order mark.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
    guard let text = String(validUTF8: bytes) else {
      mistakes.append(ConfigurationMistake(Self.firstInvalid(in: bytes), "the file is not UTF-8"))
      return
    }
    do throws(YAMLFault) {
      var reader = try YAMLEventReader(Self.joiningSurrogates(bytes)[...])
      root = try document(&reader)
    } catch {
      // If values are nested without end, other mistakes are not worth reporting.
      if error.kind == .depth { mistakes = [] }
      mistakes.append(Self.mistake(error, in: text))
    }
  }

  /// Returns a text in JSON with pairs of surrogates such as `\ud83c\udfae` as one escape, `\U0001F3AE`, which YAML has instead. Other texts are
  /// unchanged. After such a pair, columns on its line are two less.
  private static func joiningSurrogates(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    let text = Array(bytes)
    let backslash = UInt8(ascii: "\\")
    guard text.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) == UInt8(ascii: "{"), text.contains(backslash) else { return text }
    func unit(at index: Int) -> UInt32? {
      guard index + 6 <= text.count, text[index] == backslash, text[index + 1] == UInt8(ascii: "u") else { return nil }
      let digits = text[(index + 2)..<(index + 6)]
      guard digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else { return nil }
      return UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    }
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var index = 0
    while index < text.count {
      guard text[index] == backslash else {
        result.append(text[index])
        index += 1
        continue
      }
      if let high = unit(at: index), (0xD800...0xDBFF).contains(high), let low = unit(at: index + 6), (0xDC00...0xDFFF).contains(low) {
        let digits = String(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00), radix: 16, uppercase: true)
        result += "\\U\(String(repeating: "0", count: 8 - digits.count))\(digits)".utf8
        index += 12
      } else {
        // An escaped backslash starts no escape.
        result += text[index..<min(index + 2, text.count)]
        index += 2
      }
    }
    return result
  }

  // MARK: Nodes

  /// Returns the root of the document; nil if there is no document or more than one.
  private mutating func document(_ reader: inout YAMLEventReader) throws(YAMLFault) -> ConfigurationNode? {
    _ = try reader.next()
    guard case .documentStart = try reader.next().kind else {
      mistakes.append(ConfigurationMistake(SourcePosition(line: 1, column: 1), "the file is empty", hint: "packer init"))
      return nil
    }
    let root = try node(try reader.next(), depth: 1, &reader)
    _ = try reader.next()
    let next = try reader.next()
    guard case .documentStart = next.kind else { return root }
    refuse(next.position, "a second document starts here, but a configuration has only one")
    return nil
  }

  /// Reads the value that starts with an event, up to its end.
  private mutating func node(
    _ event: YAMLEvent, depth: Int, _ reader: inout YAMLEventReader
  ) throws(YAMLFault) -> ConfigurationNode {
    let position = event.position
    var refusal: String?
    if depth > Self.greatestDepth { refusal = Self.tooDeep } else if event.isShared { refusal = Self.noAliases }
    if let refusal {
      refuse(position, refusal)
      try skip(event, depth: depth, &reader)
      return ConfigurationNode(position: position, content: .refused)
    }
    if event.hasTag { refuse(position, "tags (words that start with '!') are not supported") }
    switch event.kind {
    case .scalar(let text, let isPlain):
      return ConfigurationNode(position: position, content: .scalar(isPlain ? .init(plain: text) : .init(quoted: text)))
    case .listStart:
      var items: [ConfigurationNode] = []
      while true {
        let next = try reader.next()
        if case .listEnd = next.kind { return ConfigurationNode(position: position, content: .list(items)) }
        items.append(try node(next, depth: depth + 1, &reader))
      }
    default:
      return ConfigurationNode(position: position, content: .map(try fields(depth: depth, &reader)))
    }
  }

  /// Reads the keys and values of a map up to its end. If a key is refused, its value is skipped.
  private mutating func fields(depth: Int, _ reader: inout YAMLEventReader) throws(YAMLFault) -> [ConfigurationNode.Field] {
    var fields: [ConfigurationNode.Field] = []
    while true {
      let key = try reader.next()
      if case .mapEnd = key.kind { return fields }
      guard !key.isShared, case .scalar(let text, _) = key.kind else {
        refuse(key.position, key.isShared ? Self.noAliases : "a key is not text")
        try skip(key, depth: depth + 1, &reader)
        try skip(try reader.next(), depth: depth + 1, &reader)
        continue
      }
      let value = try node(try reader.next(), depth: depth + 1, &reader)
      fields.append(ConfigurationNode.Field(key: text, keyPosition: key.position, value: value))
    }
  }

  /// Skips the value that starts with an event.
  private func skip(_ event: YAMLEvent, depth: Int, _ reader: inout YAMLEventReader) throws(YAMLFault) {
    var (event, open) = (event, 0)
    while true {
      switch event.kind {
      case .listStart, .mapStart: open += 1
      case .listEnd, .mapEnd: open -= 1
      default: break
      }
      guard open > 0 else { return }
      guard depth + open <= Self.greatestSkippedDepth else {
        throw YAMLFault(kind: .depth, problem: Self.tooDeep, position: event.position)
      }
      event = try reader.next()
    }
  }

  private static let tooDeep = "values are nested too deeply"
  private static let noAliases = "anchors and aliases are not supported: repeat the value instead"

  private mutating func refuse(_ position: SourcePosition, _ message: String) {
    mistakes.append(ConfigurationMistake(position, message))
  }

  // MARK: Errors

  private static func mistake(_ fault: YAMLFault, in text: String) -> ConfigurationMistake {
    guard fault.kind == .syntax else { return ConfigurationMistake(fault.position, fault.problem) }
    // For an unclosed quote libyaml reports the end of the file. Its start is more useful.
    if fault.problem == "found unexpected end of stream", let start = fault.start {
      return ConfigurationMistake(start, "a quote is not closed")
    }
    var words = words(for: fault.problem, at: fault.position, in: text)
    if let start = fault.start, fault.problem.hasPrefix("did not find expected ','") {
      words += ", for the bracket in line \(start.line), column \(start.column)"
    }
    return ConfigurationMistake(fault.position, words)
  }

  /// Returns libyaml's message in words for the author of the file.
  private static func words(for problem: String, at position: SourcePosition, in text: String) -> String {
    switch problem {
    case "found character that cannot start any token":
      let line = text.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(position.line - 1).first ?? ""
      switch line.unicodeScalars.dropFirst(position.column - 1).first {
      case "\t": return "a tab cannot be used here: indent with spaces"
      case let scalar?: return "'\(scalar)' cannot start a value: put the value in quotes"
      case nil: return problem
      }
    case "mapping values are not allowed in this context":
      return "unexpected ':': put the value in quotes, or check the indentation"
    case "could not find expected ':'":
      return "a ':' is missing after a key"
    case "did not find expected key":
      return "expected a key here: check the indentation, and look for an unclosed quote or bracket"
    case "did not find expected '-' indicator":
      return "expected '-' here: check the indentation of the list"
    case "did not find expected ',' or '}'":
      return "expected ',' or '}' here"
    case "did not find expected ',' or ']'":
      return "expected ',' or ']' here"
    case "did not find expected alphabetic or numeric character":
      return "'*' and '&' have a special meaning at the start of a value: put the value in quotes"
    default:
      return problem
    }
  }

  private static func firstInvalid(in bytes: ArraySlice<UInt8>) -> SourcePosition {
    var position = SourcePosition(line: 1, column: 1)
    var decoder = UTF8()
    var iterator = bytes.makeIterator()
    while case .scalarValue(let scalar) = decoder.decode(&iterator) {
      if scalar == "\n" {
        position = SourcePosition(line: position.line + 1, column: 1)
      } else {
        position.column += 1
      }
    }
    return position
  }
}

extension YAMLEvent {
  /// Whether the value has an anchor or is an alias.
  fileprivate var isShared: Bool {
    if case .alias = kind { return true }
    return hasAnchor
  }
}
