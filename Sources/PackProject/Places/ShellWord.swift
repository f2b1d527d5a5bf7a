/// Text as a word of a command line, for hints that people copy into a shell.
package enum ShellWord {
  /// Returns a text as one word of a shell: in quotes, unless all its characters are safe.
  ///
  /// Control characters, and others that could break a line or reorder the text, are written as octal escapes in `$'…'`, which bash and zsh read.
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

  /// Returns a path as one word of a shell that cannot be taken for an option.
  package static func path(_ path: String) -> String {
    quoted(path.utf8.first == UInt8(ascii: "-") ? "./" + path : path)
  }

  /// Whether a byte has no special meaning for any shell, anywhere in a word.
  private static func isSafe(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: "_-./:,+@".utf8.contains(byte)
    }
  }
}
