extension PackName {
  /// The name as a file's. Capital letters become `+` and the small one: some volumes take both for the same name.
  package var fileName: String { Self.fileName(of: text) }

  /// The same, of the text of a name that was found legal before.
  package static func fileName(of text: String) -> String {
    String(decoding: text.utf8.flatMap { (65...90).contains($0) ? [UInt8(ascii: "+"), $0 | 0x20] : [$0] }, as: UTF8.self)
  }

  /// The pack that a file is named after.
  ///
  /// - Returns: nil where ``fileName`` of no pack is that name.
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
    // A capital that stands as itself would be a second name for the same pack.
    guard !isCapital, let name = try? PackName(String(decoding: bytes, as: UTF8.self)), name.fileName == fileName else { return nil }
    self = name
  }
}
