/// A check of a document against the table of keys, which records every difference.
struct ConfigurationCheck {
  private(set) var mistakes: [ConfigurationMistake] = []

  /// The place of a value, for messages.
  fileprivate enum Subject {
    case document
    case key(String)
    case item(of: String)

    /// The start of a sentence about the value.
    var phrase: String {
      switch self {
      case .document: "the configuration is"
      case .key(let key): "'\(key)' is"
      case .item(let key): "'\(key)' contains"
      }
    }

    /// The name of the key of the value.
    var name: String {
      switch self {
      case .document: "the configuration"
      case .key(let key), .item(let key): key
      }
    }
  }

  static func run(_ root: ConfigurationNode) -> [ConfigurationMistake] {
    var check = ConfigurationCheck()
    check.check(root, .map(.root), .document)
    return check.mistakes
  }

  private mutating func add(_ position: SourcePosition, _ message: String, hint: String? = nil) {
    mistakes.append(ConfigurationMistake(position, message, hint: hint))
  }

  private mutating func check(_ node: ConfigurationNode, _ shape: ConfigurationShape, _ subject: Subject) {
    switch (shape, node.content) {
    case (_, .refused):
      break
    case (.scalar(let format), .scalar(let scalar)):
      check(scalar, format, subject, at: node.position)
    case (.list(let format, let counts, let isSet), .list(let items)):
      check(items, format, isSet: isSet, subject)
      check(count: items.count, in: counts, subject, at: node.position)
    case (.maps(let map, let smallestCount), .list(let items)):
      for item in items { check(item, .map(map), item.inList(subject.name)) }
      check(count: items.count, in: smallestCount...Int.max, subject, at: node.position)
    case (.map(let map), .map(let fields)):
      check(fields, map, at: node.position)
    case (.either(let left, let right), _):
      check(node, right.takes(node) ? right : left, subject)
    default:
      if refuseSecrets(in: node) { return }
      var advice = ""
      if case .scalar(let scalar) = node.content, case .list = shape, scalar.kind == .text, KeyShape(in: scalar.text).isHarmless {
        advice = ": write [\(JSON.quoted(scalar.text))]"
      }
      add(node.position, "\(subject.phrase) \(node.typeName); expected \(shape.typeName)\(advice)")
    }
  }

  private mutating func check(
    _ scalar: ConfigurationNode.Scalar, _ format: ScalarFormat, _ subject: Subject, at position: SourcePosition
  ) {
    if let kind = scalar.keyKind(format) {
      refuseSecret(kind ?? (subject.name == "signKey" ? .signing : .content), at: position)
    } else if let problem = format.problem(of: scalar) {
      add(position, "\(subject.phrase) \(problem)")
    }
  }

  private mutating func check(_ items: [ConfigurationNode], _ format: ScalarFormat, isSet: Bool, _ subject: Subject) {
    var lines: [String: Int] = [:]
    for item in items {
      check(item, .scalar(format), item.inList(subject.name))
      guard isSet, case .scalar(let scalar) = item.content, scalar.keyKind(format) == nil else { continue }
      if let line = lines[scalar.text] {
        let place = line == item.position.line ? "" : ", first in line \(line)"
        add(item.position, "\(item.inList(subject.name).phrase) \(ScalarFormat.shown(scalar.text)) twice\(place)")
      }
      lines[scalar.text] = lines[scalar.text] ?? item.position.line
    }
  }

  private mutating func check(count: Int, in range: ClosedRange<Int>, _ subject: Subject, at position: SourcePosition) {
    if count < range.lowerBound {
      add(
        position,
        count == 0
          ? "\(subject.phrase) an empty list" : "\(subject.phrase) a list of \(count) items; at least \(range.lowerBound) are required")
    } else if count > range.upperBound {
      add(position, "\(subject.phrase) a list of \(count) items; at most \(range.upperBound) are allowed")
    }
  }

  private mutating func check(_ fields: [ConfigurationNode.Field], _ map: ConfigurationMap, at position: SourcePosition) {
    var places: [String: SourcePosition] = [:]
    for field in fields {
      if let kind = ConfigurationNode.Scalar(quoted: field.key).keyKind() {
        refuseSecret(kind ?? .content, at: field.keyPosition)
        continue
      }
      if let first = places[field.key] {
        let place = first.line == field.keyPosition.line ? "column \(first.column)" : "line \(first.line)"
        add(field.keyPosition, "duplicate key \(ScalarFormat.shown(field.key)) in \(map.noun), first in \(place)")
      }
      places[field.key] = places[field.key] ?? field.keyPosition
      if let key = map.key(field.key) {
        check(field.value, key.shape, .key(key.name))
      } else {
        refuse(field, map)
        _ = refuseSecrets(in: field.value)
      }
    }
    for key in map.keys where key.isRequired && places[key.name] == nil {
      add(position, "\(map.noun) has no '\(key.name)'")
    }
    let chosen = map.alternatives.filter { places[$0] != nil }
    if !map.alternatives.isEmpty, chosen.isEmpty {
      add(position, "\(map.noun) has neither '\(map.alternatives.joined(separator: "' nor '"))'")
    } else if chosen.count > 1, let place = chosen.compactMap({ places[$0] }).max(by: { $0 < $1 }) {
      add(place, "\(map.noun) has both '\(chosen.joined(separator: "' and '"))': use only one")
    }
  }

  private mutating func refuse(_ field: ConfigurationNode.Field, _ map: ConfigurationMap) {
    var advice = ""
    if field.key == "<<" {
      advice = ": merge keys are not supported, put shared settings into 'defaults'"
    } else if let name = SpellingSuggestion.nearest(to: field.key, among: map.keys.map(\.name)) {
      advice = " (did you mean '\(name)'?)"
    } else if let place = ConfigurationShape.map(.root).place(of: field.key, notIn: map.noun) {
      advice = place.isEmpty ? ": it belongs at the top level" : ": it belongs under '\(place.joined(separator: "', '"))'"
    }
    add(
      field.keyPosition, "unknown key \(ScalarFormat.shown(field.key)) in \(map.noun)\(advice)",
      hint: advice.isEmpty ? "'packer init --schema' lists every key" : nil)
  }

  // MARK: Secrets

  private mutating func refuseSecret(_ kind: KeyKind, at position: SourcePosition) {
    add(
      position, "a secret key is written here: everyone with access to the file can read it",
      hint: """
        treat that key as compromised, and make a new one with '\(kind.making)'
        write a key reference instead: \(KeyReference.forms)
        """)
  }

  /// Refuses secret keys anywhere in a value, and returns whether there were any.
  private mutating func refuseSecrets(in node: ConfigurationNode) -> Bool {
    let count = mistakes.count
    switch node.content {
    case .refused:
      break
    case .scalar(let scalar):
      if let kind = scalar.keyKind() { refuseSecret(kind ?? .content, at: node.position) }
    case .list(let items):
      for item in items { _ = refuseSecrets(in: item) }
    case .map(let fields):
      for field in fields { _ = refuseSecrets(in: field.value) }
    }
    return mistakes.count > count
  }
}

extension ConfigurationNode {
  fileprivate func inList(_ key: String) -> ConfigurationCheck.Subject { .item(of: key) }
}

extension ConfigurationNode.Scalar {
  /// The kind of the secret key that the text contains, or an unknown kind if the key has no prefix; nil if it contains none.
  ///
  /// - Parameter format: the format that the text should have; nil if it should not be here.
  fileprivate func keyKind(_ format: ScalarFormat? = nil) -> KeyKind?? {
    let shape = KeyShape(in: text)
    guard shape.isKey else { return nil }
    if let kind = shape.prefixed { return kind }
    switch format {
    case .publicKey: return nil
    // A file or directory may be named after its digest.
    case .baseURL, .manifestURL, .glob, .directory, .directoryPattern: return text.contains { $0 == "/" || $0 == "." } ? nil : .some(nil)
    default: return .some(nil)
    }
  }
}

extension ConfigurationShape {
  /// Whether a value has this type, regardless of its content.
  fileprivate func takes(_ node: ConfigurationNode) -> Bool {
    switch (self, node.content) {
    case (.scalar, .scalar), (.list, .list), (.maps, .list), (.map, .map): true
    case (.either(let left, let right), _): left.takes(node) || right.takes(node)
    default: false
    }
  }

  fileprivate var typeName: String {
    switch self {
    case .scalar(let format): format.typeName
    case .list, .maps: "a list"
    case .map: "a map"
    case .either(let left, let right): "\(left.typeName) or \(right.typeName)"
    }
  }
}

extension SourcePosition: Comparable {
  package static func < (left: SourcePosition, right: SourcePosition) -> Bool {
    (left.line, left.column) < (right.line, right.column)
  }
}
