/// Names of folders as ids of packs. What is not valid as it is becomes lower case, with Latin letters written in ASCII.
enum ProposalName {
  /// The letters for ASCII letters, in the spelling that is usual without the accents.
  private static let spellings: [(ascii: String, letters: String)] = [
    ("a", "àáâãāăąǎȁȃạảấầẩẫậắằẳẵặ"), ("ae", "äæǽ"), ("aa", "å"), ("b", "ḃ"), ("c", "çćĉċč"), ("d", "ďđðḋ"),
    ("e", "èéêëēĕėęěȅȇẹẻẽếềểễệ"), ("f", "ḟƒ"), ("g", "ĝğġģǧ"), ("h", "ĥħ"), ("i", "ìíîïĩīĭįıǐȉȋỉị"), ("ij", "ĳ"), ("j", "ĵ"),
    ("k", "ķĸǩ"), ("l", "ĺļľŀł"), ("m", "ṁ"), ("n", "ñńņňŉŋ"), ("o", "òóôõōŏőơǒȍȏọỏốồổỗộớờởỡợ"), ("oe", "öøœǿ"), ("p", "ṗ"),
    ("r", "ŕŗřȑȓ"), ("s", "śŝşšșſṡ"), ("ss", "ß"), ("t", "ţťŧțṫ"), ("th", "þ"), ("u", "ùúûũūŭůűųưǔȕȗụủứừửữự"), ("ue", "ü"),
    ("w", "ŵẁẃẅ"), ("y", "ýÿŷỳỵỷỹ"), ("z", "źżž"),
  ]
  private static let ascii: [Unicode.Scalar: String] = spellings.reduce(into: [:]) { table, spelling in
    for letter in spelling.letters.unicodeScalars { table[letter] = spelling.ascii }
  }
  private static let longest = 48

  /// Returns a name in characters that are valid in ids, unchanged if it is valid; nil if it has letters or digits of other scripts, or none.
  static func slug(_ name: String) -> String? {
    if name.utf8.count <= longest, (try? PackName(name)) != nil { return name }
    let (text, isWhole) = written(name)
    return isWhole ? text : nil
  }

  /// Returns as much of a name as is valid in ids; nil if nothing is.
  static func title(_ name: String) -> String? { written(name).text }

  private static func written(_ name: String) -> (text: String?, isWhole: Bool) {
    var result = ""
    var isWhole = true
    for scalar in name.lowercased().unicodeScalars {
      let isPlain = ("a"..."z").contains(scalar) || ("0"..."9").contains(scalar) || scalar == "_" || scalar == "."
      if isPlain {
        result.unicodeScalars.append(scalar)
      } else if let text = ascii[scalar] {
        result += text
      } else if ("\u{300}"..."\u{36F}").contains(scalar) {
        // A letter and its mark, as some file systems store them.
        if scalar == "\u{308}", let last = result.last, "aou".contains(last) { result += "e" }
      } else {
        if scalar.properties.isAlphabetic || scalar.properties.numericType != nil { isWhole = false }
        if !result.isEmpty, !result.hasSuffix("-") { result += "-" }
      }
    }
    result = String(result.drop { !$0.isLetter && !$0.isNumber }.prefix(longest))
    while let last = result.last, !last.isLetter, !last.isNumber { result.removeLast() }
    return (result.isEmpty ? nil : result, isWhole)
  }
}

extension PackName {
  /// Returns a valid name that is similar to a text; nil if nothing of it can be kept.
  package static func similar(to text: String) -> String? { ProposalName.title(text) }
}
