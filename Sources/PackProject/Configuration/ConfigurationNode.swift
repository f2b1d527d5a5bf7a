/// A value of a configuration file, and where it stands.
struct ConfigurationNode: Sendable {
  enum Content: Sendable {
    case scalar(Scalar)
    case list([ConfigurationNode])
    case map([Field])
    /// What was refused as it was read: nothing more is said of it.
    case refused
  }

  /// A key with its value. A key that stands twice is here twice.
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
    /// As it was written; without the quotes where it had some.
    var text: String
  }

  var position: SourcePosition
  var content: Content

  /// What the value is, for a person.
  var typeName: String {
    switch content {
    case .list: "a list"
    case .map: "a map"
    case .refused: "refused"
    case .scalar(let scalar):
      switch scalar.kind {
      case .text: "a text"
      case .number: "a number"
      case .flag: "true or false"
      case .null: "empty"
      }
    }
  }
}

extension ConfigurationNode.Scalar {
  /// Takes a scalar that stands without quotes.
  init(plain text: String) {
    self.text = text
    switch text {
    case "", "~", "null", "Null", "NULL": kind = .null
    case "true", "True", "TRUE", "false", "False", "FALSE": kind = .flag
    default: kind = Self.isNumber(text) ? .number : .text
    }
  }

  /// Takes a scalar that stands in quotes.
  init(quoted text: String) {
    self.text = text
    kind = .text
  }

  /// The value of true or false, however it is written.
  var isTrue: Bool { text.lowercased() == "true" }

  private static func isNumber(_ text: String) -> Bool {
    // Most values start with a letter, and matching takes longer than all the rest of the reading.
    guard let first = text.utf8.first, (0x30...0x39).contains(first) || "+-.".utf8.contains(first) else { return false }
    if text.wholeMatch(of: /[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+/) != nil { return true }
    if text.wholeMatch(of: /[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)/) != nil { return true }
    return text.wholeMatch(of: /[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?/) != nil
  }
}
