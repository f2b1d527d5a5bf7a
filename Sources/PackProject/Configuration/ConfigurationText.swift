import PackFiles
import PackFormat
import Yams

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
  /// What stands in the place of each `*` that could begin an alias.
  private var aliasMark: Unicode.Scalar?
  /// Keys that stand twice and are told before the rest waits for the next reading.
  private static let mostDuplicates = 50

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
    self = DeepStack.run {
      var read = ConfigurationText()
      read.parse(text)
      return read
    }
  }

  private init() {}

  // MARK: Yams

  /// Yams stops at a key that stands twice, and tells where it stands first. So that both places and all other mistakes are found, the
  /// first one is given another name and the text is read again.
  private mutating func parse(_ original: String) {
    let (withoutAliases, mark) = Self.withoutAliases(original)
    var text = withoutAliases
    aliasMark = mark
    var renamed: [SourcePosition: String] = [:]
    for number in 0...Self.mostDuplicates {
      do {
        let parser = try Parser(yaml: text, resolver: .basic, constructor: .default, encoding: .utf8)
        guard let root = try parser.singleRoot() else {
          mistakes.append(
            ConfigurationMistake(
              SourcePosition(line: 1, column: 1), "the file is empty", hint: "packer init"))
          return
        }
        // The parser keeps the anchors, of which nodes know only as long as it is there.
        withExtendedLifetime(parser) { self.root = node(root, depth: 1, renamed: renamed) }
        return
      } catch let error as YamlError {
        if case .duplicatedKeysInMapping(let keys, let context) = error, let key = keys.first, number < Self.mostDuplicates,
          let place = Self.rename(&text, at: context.mark, number: number)
        {
          renamed[place] = key
          continue
        }
        let mistake = Self.mistake(error, in: text)
        mistakes.append(ConfigurationMistake(mistake.position, written(mistake.message), hint: mistake.hint))
        return
      } catch {
        mistakes.append(ConfigurationMistake(SourcePosition(line: 1, column: 1), "the file is not YAML"))
        return
      }
    }
  }

  /// The text with another character in the place of every `*` that could begin an alias, and that character; nil where there is no such `*`.
  ///
  /// Yams puts in the place of an alias what its anchor names, and compares the keys of a map with all that is in them. A few lines in which each anchor names the one
  /// before ten times would take it longer than anybody waits. Aliases are refused anyway, so it never gets to see one: what stands there is a text
  /// that begins with the character. In quotes, comments and longer texts a `*` is no alias, and is put back.
  private static func withoutAliases(_ text: String) -> (String, mark: Unicode.Scalar?) {
    let scalars = Array(text.unicodeScalars)
    let places = scalars.indices.dropLast().filter { scalars[$0] == "*" && isOfAlias(scalars[$0 + 1]) }
    guard !places.isEmpty else { return (text, nil) }
    let taken = Set(scalars)
    // There are more of these than a file has room for.
    let mark =
      (0x10000...0x10FFFD).reversed().lazy.compactMap { Unicode.Scalar($0 as UInt32) }.first { !taken.contains($0) } ?? "\u{10FFFD}"
    var changed = scalars
    for place in places { changed[place] = mark }
    var view = String.UnicodeScalarView()
    view.append(contentsOf: changed)
    return (String(view), mark)
  }

  /// What the name of an alias is made of for libyaml.
  private static func isOfAlias(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "_", "-": true
    default: false
    }
  }

  /// A text as it was written.
  private func written(_ text: String) -> String {
    guard let aliasMark, text.unicodeScalars.contains(aliasMark) else { return text }
    var view = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { view.append(scalar == aliasMark ? "*" : scalar) }
    return String(view)
  }

  /// Whether a scalar would have been an alias.
  private func isAlias(_ scalar: Node.Scalar) -> Bool {
    guard let aliasMark else { return false }
    return scalar.style == .plain && scalar.string.unicodeScalars.first == aliasMark
  }

  /// Puts a character of nobody's in the place of a key's first one.
  private static func rename(_ text: inout String, at mark: Mark, number: Int) -> SourcePosition? {
    var scalars = Array(text.unicodeScalars)
    var index = 0
    for _ in 1..<max(1, mark.line) {
      guard let end = scalars[index...].firstIndex(where: isLineBreak) else { return nil }
      index = end + (scalars[end] == "\r" && end + 1 < scalars.count && scalars[end + 1] == "\n" ? 2 : 1)
    }
    index += mark.column - 1
    if index < scalars.count, scalars[index] == "\"" || scalars[index] == "'" { index += 1 }
    guard index < scalars.count, !":\"'\n".unicodeScalars.contains(scalars[index]),
      let replacement = Unicode.Scalar(0xE000 + UInt32(number))
    else { return nil }
    scalars[index] = replacement
    var changed = String.UnicodeScalarView()
    changed.append(contentsOf: scalars)
    text = String(changed)
    return SourcePosition(mark)
  }

  /// What ends a line for libyaml.
  private static func isLineBreak(_ scalar: Unicode.Scalar) -> Bool {
    ["\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"].contains(scalar)
  }

  private mutating func node(_ node: Node, depth: Int, renamed: [SourcePosition: String]) -> ConfigurationNode {
    let position = SourcePosition(node.mark)
    guard depth <= Self.greatestDepth else {
      refuse(position, Self.tooDeep)
      return ConfigurationNode(position: position, content: .refused)
    }
    if node.anchor != nil {
      refuse(position, Self.noAliases)
      return ConfigurationNode(position: position, content: .refused)
    }
    switch node {
    case .scalar(let scalar) where isAlias(scalar):
      refuse(position, Self.noAliases)
      return ConfigurationNode(position: position, content: .refused)
    case .scalar(let scalar):
      let isPlain = scalar.style == .plain
      // What stands in quotes has the tag of texts, without anybody's having written it.
      if scalar.tag.rawValue != (isPlain ? Tag.Name.implicit : .str).rawValue { refuseTag(position) }
      return ConfigurationNode(
        position: position, content: .scalar(isPlain ? .init(plain: written(scalar.string)) : .init(quoted: written(scalar.string))))
    case .sequence(let sequence):
      if !sequence.tag.rawValue.isEmpty { refuseTag(position) }
      return ConfigurationNode(position: position, content: .list(sequence.map { self.node($0, depth: depth + 1, renamed: renamed) }))
    case .mapping(let mapping):
      if !mapping.tag.rawValue.isEmpty { refuseTag(position) }
      var fields: [ConfigurationNode.Field] = []
      for (key, value) in mapping {
        let keyPosition = SourcePosition(key.mark)
        if key.anchor != nil {
          refuse(keyPosition, Self.noAliases)
          continue
        }
        guard case .scalar(let scalar) = key else {
          refuse(keyPosition, "a key is no text")
          continue
        }
        guard !isAlias(scalar) else {
          refuse(keyPosition, Self.noAliases)
          continue
        }
        fields.append(
          ConfigurationNode.Field(
            key: written(renamed[keyPosition] ?? scalar.string), keyPosition: keyPosition,
            value: self.node(value, depth: depth + 1, renamed: renamed)))
      }
      return ConfigurationNode(position: position, content: .map(fields))
    case .alias:
      refuse(position, Self.noAliases)
      return ConfigurationNode(position: position, content: .refused)
    }
  }

  private static let tooDeep = "values are too deep inside each other"
  private static let noAliases = "anchors and aliases are not read here: write the value out where it is wanted"

  private mutating func refuseTag(_ position: SourcePosition) {
    refuse(position, "tags (words that start with '!') are not read here")
  }

  private mutating func refuse(_ position: SourcePosition, _ message: String) {
    mistakes.append(ConfigurationMistake(position, message))
  }

  // MARK: Errors

  private static func mistake(_ error: YamlError, in text: String) -> ConfigurationMistake {
    switch error {
    case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _):
      // Of a quote the end of the file is known, where its start is of interest.
      if problem == "found unexpected end of stream", let context {
        return ConfigurationMistake(SourcePosition(context.mark), "a quote is not closed")
      }
      var words = words(for: problem, at: mark, in: text)
      if let context, problem.hasPrefix("did not find expected ','") {
        words += ", for the bracket in line \(context.mark.line), column \(context.mark.column)"
      }
      return ConfigurationMistake(SourcePosition(mark), words)
    case .composer(_, let problem, let mark, _):
      let words =
        problem == "but found another document"
        ? "a second document starts here, and a configuration is one"
        : problem == "found undefined alias" ? Self.noAliases : problem
      return ConfigurationMistake(SourcePosition(mark), words)
    case .reader(let problem, let offset, _, _):
      return ConfigurationMistake(position(of: offset ?? 0, in: text), problem)
    case .duplicatedKeysInMapping(let keys, let context):
      return ConfigurationMistake(SourcePosition(context.mark), "the key '\(keys.first ?? "")' stands here more than once")
    default:
      return ConfigurationMistake(SourcePosition(line: 1, column: 1), "the file is not YAML")
    }
  }

  /// What libyaml says, in words for who wrote the file.
  private static func words(for problem: String, at mark: Mark, in text: String) -> String {
    switch problem {
    case "found character that cannot start any token":
      let line = text.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(mark.line - 1).first ?? ""
      switch line.unicodeScalars.dropFirst(mark.column - 1).first {
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
    case _ where problem.hasPrefix("Maximum nesting level reached"):
      return tooDeep
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

  private static func position(of offset: Int, in text: String) -> SourcePosition {
    let before = text.prefix(offset)
    let lines = before.split(separator: "\n", omittingEmptySubsequences: false)
    return SourcePosition(line: lines.count, column: (lines.last?.count ?? 0) + 1)
  }
}

extension SourcePosition {
  fileprivate init(_ mark: Mark?) {
    self.init(line: mark?.line ?? 1, column: mark?.column ?? 1)
  }
}
