import PackFiles
import PackFormat

/// Reads YAML into nodes. JSON is YAML too.
///
/// Of YAML only what a person would write for one configuration is taken: one document, no anchors, no tags.
struct ConfigurationText: Sendable {
  /// The root of the document; nil where there is none that could be read.
  private(set) var root: ConfigurationNode?
  private(set) var mistakes: [ConfigurationMistake] = []

  /// The largest file that is read, in bytes (1 MiB): some 5 000 packs.
  static let largestSize = 1 << 20
  /// The most values, one inside the other, that are read. A configuration has five.
  private static let greatestDepth = 64
  /// The most values, one inside the other, that are passed over to report what stands behind them; the reading ends at the next one.
  private static let greatestSkippedDepth = 1000

  /// Reads a file to its end.
  static func bytes(of path: String, files: any FileSystem) throws(PackError) -> [UInt8] {
    let file: OpenFile
    do throws(PackError) {
      file = try files.openFile(path).file
    } catch {
      guard error.code == .missingInput else { throw error }
      let option = path == PackerConfiguration.defaultPath ? "" : " -o \(ShellWord.path(path))"
      throw PackError(.missingInput, "\(path) does not exist", hint: "packer init\(option)")
    }
    var bytes = [UInt8](repeating: 0, count: largestSize + 1)
    var buffer = bytes.mutableSpan
    let count = try files.read(file, at: 0, filling: &buffer, name: path)
    guard count <= largestSize else {
      throw PackError(.invalidConfiguration, "\(path) is more than \(largestSize) bytes")
    }
    bytes.removeLast(bytes.count - count)
    return bytes
  }

  init(_ bytes: [UInt8]) {
    var bytes = bytes[...]
    // A byte order mark, as some editors put in front.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      mistakes.append(ConfigurationMistake(Self.firstInvalid(in: bytes), "the file is not UTF-8"))
      return
    }
    do throws(YAMLFault) {
      var reader = try YAMLEventReader(bytes)
      root = try document(&reader)
    } catch {
      // Of values without end nothing else is worth reporting.
      if error.kind == .depth { mistakes = [] }
      mistakes.append(Self.mistake(error, in: text))
    }
  }

  // MARK: Nodes

  /// The root of the one document; nil where there is none, or more than one.
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
    refuse(next.position, "a second document starts here, and a configuration is one")
    return nil
  }

  /// The value that an event starts. The reader is behind it afterwards.
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
    if event.hasTag { refuse(position, "tags (words that start with '!') are not read here") }
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

  /// The keys and values of a map up to its end. A key that is refused takes its value with it.
  private mutating func fields(depth: Int, _ reader: inout YAMLEventReader) throws(YAMLFault) -> [ConfigurationNode.Field] {
    var fields: [ConfigurationNode.Field] = []
    while true {
      let key = try reader.next()
      if case .mapEnd = key.kind { return fields }
      guard !key.isShared, case .scalar(let text, _) = key.kind else {
        refuse(key.position, key.isShared ? Self.noAliases : "a key is no text")
        try skip(key, depth: depth + 1, &reader)
        try skip(try reader.next(), depth: depth + 1, &reader)
        continue
      }
      let value = try node(try reader.next(), depth: depth + 1, &reader)
      fields.append(ConfigurationNode.Field(key: text, keyPosition: key.position, value: value))
    }
  }

  /// Reads to the end of the value that an event starts.
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

  private static let tooDeep = "values are too deep inside each other"
  private static let noAliases = "anchors and aliases are not read here: write the value out where it is wanted"

  private mutating func refuse(_ position: SourcePosition, _ message: String) {
    mistakes.append(ConfigurationMistake(position, message))
  }

  // MARK: Errors

  private static func mistake(_ fault: YAMLFault, in text: String) -> ConfigurationMistake {
    guard fault.kind == .syntax else { return ConfigurationMistake(fault.position, fault.problem) }
    // Of a quote the end of the file is known, where its start is of interest.
    if fault.problem == "found unexpected end of stream", let start = fault.start {
      return ConfigurationMistake(start, "a quote is not closed")
    }
    var words = words(for: fault.problem, at: fault.position, in: text)
    if let start = fault.start, fault.problem.hasPrefix("did not find expected ','") {
      words += ", for the bracket in line \(start.line), column \(start.column)"
    }
    return ConfigurationMistake(fault.position, words)
  }

  /// libyaml's message, in words for the author of the file.
  private static func words(for problem: String, at position: SourcePosition, in text: String) -> String {
    switch problem {
    case "found character that cannot start any token":
      let line = text.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(position.line - 1).first ?? ""
      switch line.unicodeScalars.dropFirst(position.column - 1).first {
      case "\t": return "a tab stands here, and YAML indents with spaces"
      case let scalar?: return "'\(scalar)' cannot start a value: put the value in quotes"
      case nil: return problem
      }
    case "mapping values are not allowed in this context":
      return "a ':' stands where no key can end: put the value in quotes, or look at the indentation"
    case "could not find expected ':'":
      return "a ':' is missing behind a key"
    case "did not find expected key":
      return "a key was expected here: look at the indentation, and for a quote or bracket that is not closed"
    case "did not find expected '-' indicator":
      return "a '-' was expected here: look at the indentation of the list"
    case "did not find expected ',' or '}'":
      return "a ',' or '}' was expected here"
    case "did not find expected ',' or ']'":
      return "a ',' or ']' was expected here"
    case "did not find expected alphabetic or numeric character":
      return "a '*' or '&' in front has a meaning of its own: put the value in quotes"
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
  /// Whether the value has a name for aliases, or is one.
  fileprivate var isShared: Bool {
    if case .alias = kind { return true }
    return hasAnchor
  }
}
