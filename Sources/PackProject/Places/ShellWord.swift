import PackFormat

/// Texts as words of a command line, for hints that people copy into a shell.
package enum ShellWord {
  /// A text as one word that a shell takes as it is: in quotes, unless all its characters are safe.
  ///
  /// Characters that would break a line or move the text around are written as numbers, in the form of quotes that bash and zsh know for it.
  package static func quoted(_ text: String) -> String {
    if !text.isEmpty, text.utf8.allSatisfy(isSafe) { return text }
    guard printable(text.utf8) != text else { return "'" + text.replacing("'", with: #"'\''"#) + "'" }
    var result = "$'"
    for scalar in text.unicodeScalars {
      switch scalar {
      case "'", "\\":
        result += "\\\(scalar)"
      case _ where printable("\(scalar)".utf8) != "\(scalar)":
        for byte in "\(scalar)".utf8 {
          let digits = String(byte, radix: 8)
          result += "\\" + String(repeating: "0", count: 3 - digits.count) + digits
        }
      default:
        result.unicodeScalars.append(scalar)
      }
    }
    return result + "'"
  }

  /// A path as one word, which is no option whatever it starts with.
  package static func path(_ path: String) -> String {
    quoted(path.utf8.first == UInt8(ascii: "-") ? "./" + path : path)
  }

  /// Whether a byte means nothing to any shell, wherever in a word it stands.
  private static func isSafe(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: "_-./:,+@".utf8.contains(byte)
    }
  }
}
