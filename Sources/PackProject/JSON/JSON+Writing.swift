extension JSON {
  /// How a value is written.
  private enum Layout {
    case compact, line, document, tree, columns
  }

  /// The value in one line without spaces, with the keys of each object in ascending byte order.
  package var compact: String { text(.compact) }

  /// The value in one line.
  package var line: String { text(.line) }

  /// The bytes of a document. Each list item takes one line, so that independent changes touch different lines.
  package var document: [UInt8] { Array((text(.document) + "\n").utf8) }

  /// The value with a line for each member and each list item.
  package var tree: String { text(.tree) }

  /// The value as indented text. What fits into 100 columns is on one line.
  package var columns: String { text(.columns) }

  private func text(_ layout: Layout) -> String {
    var text = ""
    write(to: &text, layout, indent: 0)
    return text
  }

  private func write(to text: inout String, _ layout: Layout, indent: Int) {
    switch self {
    case .text(let value): Self.quote(value, for: layout, to: &text)
    case .number(let number): text += "\(number)"
    case .negative(let number): text += "\(number)"
    case .flag(let flag): text += flag ? "true" : "false"
    case .list(let values):
      write(values, "[", "]", to: &text, layout, indent) { value, text in
        value.write(to: &text, layout == .document ? .line : layout, indent: indent + 2)
      }
    case .object(let members):
      write(layout == .compact ? Self.inOrder(members) : members, "{", "}", to: &text, layout, indent) { member, text in
        Self.quote(member.key, for: layout, to: &text)
        text += layout == .compact ? ":" : ": "
        member.value.write(to: &text, layout, indent: indent + 2)
      }
    }
  }

  private func write<Item>(
    _ items: [Item], _ start: String, _ end: String, to text: inout String, _ layout: Layout, _ indent: Int,
    _ write: (Item, inout String) -> Void
  ) {
    let hasLines =
      switch layout {
      case .compact, .line: false
      case .document, .tree: !items.isEmpty
      case .columns: !items.isEmpty && line.count + indent > 100
      }
    let inner = hasLines ? "\n" + String(repeating: " ", count: indent + 2) : ""
    let separator = hasLines || layout == .compact ? "," + inner : ", "
    text += start + inner
    for (number, item) in items.enumerated() {
      if number > 0 { text += separator }
      write(item, &text)
    }
    text += (hasLines ? "\n" + String(repeating: " ", count: indent) : "") + end
  }

  /// Returns a text in quotes. Line breaks and characters that do not print are escaped, so that it is also valid YAML.
  package static func quoted(_ text: String) -> String {
    var result = ""
    quote(text, for: .line, to: &result)
    return result
  }

  private static func quote(_ text: String, for layout: Layout, to result: inout String) {
    let isCompact = layout == .compact
    result += "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case "\u{8}" where isCompact: result += "\\b"
      case "\u{C}" where isCompact: result += "\\f"
      case _ where scalar.value < 0x20, _ where !isCompact && isInvisible(scalar):
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    result += "\""
  }

  /// Whether YAML does not allow a character in a text, or takes it for a line break.
  private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    (0x7F..<0xA0).contains(scalar.value) || scalar.value == 0x2028 || scalar.value == 0x2029
  }
}

extension JSON: Equatable {
  package static func == (left: JSON, right: JSON) -> Bool { left.line == right.line }
}
