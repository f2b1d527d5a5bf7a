/// Text for Markdown documents.
package enum MarkdownText {
  /// Returns a text with the escapes for one cell of a table: without line breaks and markup.
  package static func cell(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar {
      case "|", "\\", "`", "*", "_", "[", "]", "#", "~": result += "\\\(scalar)"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "&": result += "&amp;"
      case "\n", "\r": result += " "
      default: result.unicodeScalars.append(scalar)
      }
    }
  }
}
