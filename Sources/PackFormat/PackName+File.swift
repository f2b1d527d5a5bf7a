extension PackName {
  /// The name for a file. An upper-case letter becomes `+` and the lower-case letter, because some volumes ignore case.
  package var fileName: String { Self.fileName(of: text) }

  /// Returns the same for the text of a name, which must be legal.
  package static func fileName(of text: String) -> String {
    String(decoding: text.utf8.flatMap { (65...90).contains($0) ? [UInt8(ascii: "+"), $0 | 0x20] : [$0] }, as: UTF8.self)
  }

  /// Reads the name of a pack from the name of a file.
  ///
  /// - Returns: nil if no pack has that ``fileName``.
  package init?(fileName: some StringProtocol) {
    var bytes: [UInt8] = []
    var isCapital = false
    for byte in fileName.utf8 {
      if byte == UInt8(ascii: "+"), !isCapital {
        isCapital = true
      } else {
        guard !isCapital || (97...122).contains(byte) else { return nil }
        bytes.append(isCapital ? byte & ~0x20 : byte)
        isCapital = false
      }
    }
    // An upper-case letter without `+` would be a second name for the same pack.
    guard !isCapital, let name = try? PackName(String(decoding: bytes, as: UTF8.self)), name.fileName == fileName else { return nil }
    self = name
  }
}
