/// Text in XML and HTML.
package enum MarkupText {
  /// Returns a text for an element, in which no character begins or ends markup.
  package static func element(_ text: String) -> String { escaped(text, quote: "\"") }

  /// Returns a text for an element, or for an attribute in double quotes.
  package static func attribute(_ text: String) -> String { escaped(text, quote: "&quot;") }

  private static func escaped(_ text: String, quote: String) -> String {
    // Scalars, because a quote and a combining mark after it are a single character.
    text.unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += quote
      default: result.unicodeScalars.append(scalar)
      }
    }
  }
}
