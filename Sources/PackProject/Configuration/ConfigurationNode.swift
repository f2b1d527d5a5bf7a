/// A value of a configuration file, with its position.
struct ConfigurationNode: Sendable {
  enum Content: Sendable {
    case scalar(Scalar)
    case list([ConfigurationNode])
    case map([Field])
    /// A value that was refused when it was read. Nothing more is reported about it.
    case refused
  }

  /// A key with its value. A duplicate key has two fields.
  struct Field: Sendable {
    var key: String
    var keyPosition: SourcePosition
    var value: ConfigurationNode
  }

  /// A value without parts, with the type that YAML 1.2 (core schema) gives it.
  struct Scalar: Sendable {
    enum Kind: Sendable {
      case text, number, flag, null
    }

    var kind: Kind
    /// The text as written, without quotes.
    var text: String
  }

  var position: SourcePosition
  var content: Content

  /// The type of the value, for messages.
  var typeName: String {
    switch content {
    case .list: "a list"
    case .map: "a map"
    case .refused: "refused"
    case .scalar(let scalar):
      switch scalar.kind {
      case .text: "text"
      case .number: "a number"
      case .flag: "true or false"
      case .null: "empty"
      }
    }
  }
}

extension ConfigurationNode.Scalar {
  /// Makes a scalar that is written without quotes.
  init(plain text: String) {
    self.text = text
    switch text {
    case "", "~", "null", "Null", "NULL": kind = .null
    case "true", "True", "TRUE", "false", "False", "FALSE": kind = .flag
    default: kind = Self.isNumber(text) ? .number : .text
    }
  }

  /// Makes a scalar that is written in quotes.
  init(quoted text: String) {
    self.text = text
    kind = .text
  }

  /// Whether the text is true, in any case of its letters.
  var isTrue: Bool { text.lowercased() == "true" }

  private static func isNumber(_ text: String) -> Bool {
    // Most values start with a letter, and the regular expressions take longer than the rest of the reading.
    guard let first = text.utf8.first, (0x30...0x39).contains(first) || "+-.".utf8.contains(first) else { return false }
    if text.wholeMatch(of: /[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+/) != nil { return true }
    if text.wholeMatch(of: /[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)/) != nil { return true }
    return text.wholeMatch(of: /[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?/) != nil
  }
}
