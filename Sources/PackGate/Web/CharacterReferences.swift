/// Character references in attributes (WHATWG HTML §13.2.5.72 to §13.2.5.80).
///
/// Of the 2231 names, it knows those of ASCII characters and of letters in German and French, because others hardly occur in addresses. The rest stays
/// as it is, and a value with one is recognised by its ampersand and semicolon.
package enum CharacterReferences {
  /// The characters of names. A star follows those that need no semicolon.
  private static let table: [String: String] = {
    let names = """
      amp &* AMP &* lt <* LT <* gt >* GT >* quot "* QUOT "* apos ' sol / colon : period . comma , num # quest ? equals = lowbar _ UnderBar _ percnt % \
      plus + excl ! ast * midast * lpar ( rpar ) semi ; lsqb [ lbrack [ rsqb ] rbrack ] lcub { lbrace { rcub } rbrace } bsol \\ vert | verbar | commat @ \
      dollar $ grave ` Hat ^ auml ä* ouml ö* uuml ü* Auml Ä* Ouml Ö* Uuml Ü* szlig ß* eacute é* egrave è* agrave à* ccedil ç* copy ©* reg ®* times ×* \
      para ¶* sect §* not ¬* deg °*
      """
    var table = ["nbsp": "\u{A0}*", "Tab": "\t", "NewLine": "\n"]
    let words = Array(names.utf8).split(separator: 0x20).map { String(decoding: $0, as: UTF8.self) }
    for index in stride(from: 0, to: words.count - 1, by: 2) { table[words[index]] = words[index + 1] }
    return table
  }()

  /// The scalars of numbers 0x80 to 0x9F, which stand for those of Windows-1252. Zero leaves the number as it is.
  private static let windows: [UInt32] = [
    0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017D, 0, 0, 0x2018, 0x2019,
    0x201C,
    0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E, 0x0178,
  ]

  /// Returns the value of an attribute from its bytes.
  package static func value(of bytes: ArraySlice<UInt8>) -> String {
    guard bytes.contains(where: { $0 == 0x26 || $0 == 0x0D || $0 == 0 }) else { return String(decoding: bytes, as: UTF8.self) }
    var value: [UInt8] = []
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let byte = bytes[index]
      index += 1
      switch byte {
      case 0x0D:
        value.append(0x0A)
        if index < bytes.endIndex, bytes[index] == 0x0A { index += 1 }
      case 0: value += [0xEF, 0xBF, 0xBD]
      case 0x26: value += reference(in: bytes, at: &index)
      default: value.append(byte)
      }
    }
    return String(decoding: value, as: UTF8.self)
  }

  /// Reads what follows an ampersand. Returns the bytes of the character, or the ampersand.
  private static func reference(in bytes: ArraySlice<UInt8>, at index: inout Int) -> [UInt8] {
    let ampersand: [UInt8] = [0x26]
    guard index < bytes.endIndex else { return ampersand }
    if bytes[index] == UInt8(ascii: "#") { return number(in: bytes, at: &index) ?? ampersand }
    // No name in the table is longer.
    let name = bytes[index...].prefix(8).prefix { isLetter($0) || isDigit($0) }
    for count in stride(from: name.count, to: 1, by: -1) {
      guard let found = table[String(decoding: name.prefix(count), as: UTF8.self)] else { continue }
      let needsSemicolon = found.utf8.count == 1 || found.utf8.last != UInt8(ascii: "*")
      let character = Array(found.utf8).dropLast(needsSemicolon ? 0 : 1)
      let end = index + count
      let next = end < bytes.endIndex ? bytes[end] : 0
      if next == UInt8(ascii: ";") {
        index = end + 1
        return Array(character)
      }
      // In attributes, "&copy=1" is no character.
      guard !needsSemicolon, next != UInt8(ascii: "="), !isLetter(next), !isDigit(next) else { continue }
      index = end
      return Array(character)
    }
    return ampersand
  }

  private static func number(in bytes: ArraySlice<UInt8>, at index: inout Int) -> [UInt8]? {
    var end = index + 1
    let isHex = end < bytes.endIndex && bytes[end] | 0x20 == UInt8(ascii: "x")
    if isHex { end += 1 }
    let first = end
    var number: UInt32 = 0
    while end < bytes.endIndex, let digit = hexValue(bytes[end]), isHex || digit < 10 {
      number = min(number * (isHex ? 16 : 10) + digit, 0x11_0000)
      end += 1
    }
    guard end > first else { return nil }
    if end < bytes.endIndex, bytes[end] == UInt8(ascii: ";") { end += 1 }
    index = end
    if (0x80...0x9F).contains(number), windows[Int(number - 0x80)] != 0 { number = windows[Int(number - 0x80)] }
    let scalar = number == 0 ? nil : Unicode.Scalar(number)
    return Array(String(scalar ?? "\u{FFFD}").utf8)
  }
}
