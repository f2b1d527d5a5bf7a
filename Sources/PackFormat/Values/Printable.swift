/// Returns a text for a message or a screen. Characters that could disturb a terminal are escaped, as `\u{1b}`, so that no name moves the cursor or
/// adds a line.
package func printable(_ text: String) -> String {
  // Nearly all texts are ASCII.
  if text.utf8.isPrintableASCII || !text.unicodeScalars.contains(where: isDisturbing) { return text }
  var result = ""
  for scalar in text.unicodeScalars {
    if isDisturbing(scalar) {
      result += "\\u{\(String(scalar.value, radix: 16))}"
    } else {
      result.unicodeScalars.append(scalar)
    }
  }
  return result
}

/// Returns the same for bytes that should be UTF-8, such as a path. Invalid bytes become replacement characters.
package func printable(_ bytes: some Sequence<UInt8>) -> String {
  printable(String(decoding: Array(bytes), as: UTF8.self))
}

/// Whether a scalar is a control character, or changes the direction of the text after it.
private func isDisturbing(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.value {
  case 0..<0x20, 0x7F...0x9F, 0x202A...0x202E, 0x2066...0x2069: true
  default: false
  }
}
