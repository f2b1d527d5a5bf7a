/// Text for Markdown documents.
package enum MarkdownText {
  /// Returns a text with the escapes for one cell of a table: without line breaks and markup.
  package static func cell(_ text: String) -> String {
    MarkupText.element(text).unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar {
      case "|", "\\", "`", "*", "_", "[", "]", "#", "~": result += "\\\(scalar)"
      case "\n", "\r": result += " "
      default: result.unicodeScalars.append(scalar)
      }
    }
  }

  /// Returns a text as code in one cell of a table, so that nothing in it is a name, a link or markup.
  package static func code(_ text: String) -> String {
    var longest = 0
    var run = 0
    var line = ""
    for scalar in text.unicodeScalars {
      run = scalar == "`" ? run + 1 : 0
      longest = max(longest, run)
      switch scalar {
      case "|": line += "\\|"
      case "\n", "\r": line += " "
      default: line.unicodeScalars.append(scalar)
      }
    }
    guard longest > 0 else { return "`\(line)`" }
    let fence = String(repeating: "`", count: longest + 1)
    return "\(fence) \(line) \(fence)"
  }
}
