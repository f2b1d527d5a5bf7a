import PackFiles
import PackFormat
import Yams

/// Reads YAML into nodes. JSON is YAML too.
///
/// Of YAML only what a person would write for one configuration is taken: one document, no anchors, no tags.
struct ConfigurationText {
  /// The root of the document; nil where there is none that could be read.
  private(set) var root: ConfigurationNode?
  private(set) var mistakes: [ConfigurationMistake] = []

  /// The largest file that is read, in bytes (1 MiB): some 5 000 packs.
  static let largestSize = 1 << 20
  /// Keys that stand twice and are told before the rest waits for the next reading.
  private static let mostDuplicates = 50

  /// Reads a file to its end.
  static func bytes(of path: String, files: any FileSystem) throws(PackError) -> [UInt8] {
    let file: OpenFile
    do throws(FileFailure) {
      file = try files.open(path, .read, in: nil)
      guard try files.status(of: file).kind != .directory else {
        throw FileFailure.isDirectory
      }
    } catch {
      guard error.isMissing else { throw error.reading(path) }
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
    parse(text)
  }

  // MARK: Yams

  /// Yams stops at a key that stands twice, and tells where it stands first. So that both places and all other mistakes are found, the
  /// first one is given another name and the text is read again.
  private mutating func parse(_ text: String) {
    var text = text
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
        withExtendedLifetime(parser) { self.root = node(root, renamed: renamed) }
        return
      } catch let error as YamlError {
        if case .duplicatedKeysInMapping(let keys, let context) = error, let key = keys.first, number < Self.mostDuplicates,
          let place = Self.rename(&text, at: context.mark, number: number)
        {
          renamed[place] = key
          continue
        }
        mistakes.append(Self.mistake(error, in: text))
        return
      } catch {
        mistakes.append(ConfigurationMistake(SourcePosition(line: 1, column: 1), "the file is not YAML"))
        return
      }
    }
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

  private mutating func node(_ node: Node, renamed: [SourcePosition: String]) -> ConfigurationNode {
    let position = SourcePosition(node.mark)
    if node.anchor != nil {
      refuse(position, "anchors and aliases are not read here: write the value out where it is wanted")
      return ConfigurationNode(position: position, content: .refused)
    }
    switch node {
    case .scalar(let scalar):
      let isPlain = scalar.style == .plain
      // What stands in quotes has the tag of texts, without anybody's having written it.
      if scalar.tag.rawValue != (isPlain ? Tag.Name.implicit : .str).rawValue { refuseTag(position) }
      return ConfigurationNode(
        position: position, content: .scalar(isPlain ? .init(plain: scalar.string) : .init(quoted: scalar.string)))
    case .sequence(let sequence):
      if !sequence.tag.rawValue.isEmpty { refuseTag(position) }
      return ConfigurationNode(position: position, content: .list(sequence.map { self.node($0, renamed: renamed) }))
    case .mapping(let mapping):
      if !mapping.tag.rawValue.isEmpty { refuseTag(position) }
      var fields: [ConfigurationNode.Field] = []
      for (key, value) in mapping {
        let keyPosition = SourcePosition(key.mark)
        if key.anchor != nil {
          refuse(keyPosition, "anchors and aliases are not read here: write the value out where it is wanted")
          continue
        }
        guard case .scalar(let scalar) = key else {
          refuse(keyPosition, "a key is no text")
          continue
        }
        fields.append(
          ConfigurationNode.Field(
            key: renamed[keyPosition] ?? scalar.string, keyPosition: keyPosition, value: self.node(value, renamed: renamed)))
      }
      return ConfigurationNode(position: position, content: .map(fields))
    case .alias:
      refuse(position, "anchors and aliases are not read here: write the value out where it is wanted")
      return ConfigurationNode(position: position, content: .refused)
    }
  }

  private mutating func refuseTag(_ position: SourcePosition) {
    refuse(position, "tags (words that start with '!') are not read here")
  }

  /// Notes a mistake, once: what an alias repeats has one place.
  private mutating func refuse(_ position: SourcePosition, _ message: String) {
    let mistake = ConfigurationMistake(position, message)
    if !mistakes.contains(mistake) { mistakes.append(mistake) }
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
        : problem == "found undefined alias" ? "anchors and aliases are not read here: write the value out where it is wanted" : problem
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
      return "values are too deep inside each other"
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
