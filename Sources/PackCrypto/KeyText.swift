/// The texts of all keys: five characters that name the kind, 64 digits, `-`, 8 digits that detect typing errors (FORMAT.md §2.5).
enum KeyText {
  /// The kind of a key.
  enum Kind: CaseIterable {
    case content
    case signing
    case publicKey
    case recipient
    case recipientPublic
    case root
    case rootPublic

    var prefix: [UInt8] {
      switch self {
      case .content: Array("pkk1-".utf8)
      case .signing: Array("pks1-".utf8)
      case .publicKey: Array("pkp1-".utf8)
      case .recipient: Array("pkx1-".utf8)
      case .recipientPublic: Array("pkw1-".utf8)
      case .root: Array("pkt1-".utf8)
      case .rootPublic: Array("pkq1-".utf8)
      }
    }

    var prefixText: String { String(decoding: prefix, as: UTF8.self) }

    /// The label of the checksum. It differs by kind, so that a text of one kind is not accepted as another.
    var label: Label {
      switch self {
      case .content: .keyText
      case .signing: .signingKeyText
      case .publicKey: .signingPublicText
      case .recipient: .recipientKeyText
      case .recipientPublic: .recipientPublicText
      case .root: .rootKeyText
      case .rootPublic: .rootPublicText
      }
    }

    /// The kind for people, with its article and prefix.
    var name: String {
      switch self {
      case .content: "a pack key (pkk1-)"
      case .signing: "a signing key (pks1-)"
      case .publicKey: "a public key (pkp1-)"
      case .recipient: "a recipient's secret key (pkx1-)"
      case .recipientPublic: "a recipient's public key (pkw1-)"
      case .root: "a root signing key (pkt1-)"
      case .rootPublic: "a public root key (pkq1-)"
      }
    }
  }

  static let keySize = 32
  static let checksumSize = 4
  static let prefixSize = 5
  static let size = prefixSize + 2 * keySize + 1 + 2 * checksumSize

  /// Reads the 32 bytes of a key. White space around the text is ignored.
  ///
  /// - Throws: ``PackError/Code/malformedKey``, with a message that quotes nothing of the text.
  static func read(_ text: Span<UInt8>, _ kind: Kind, backend: any CryptoBackend) throws(PackError) -> SecretBytes {
    let text = text.extracting(range(in: text))
    let digits = try digits(of: text, kind)
    var secret = SecretBytes(count: keySize)
    try secret.withMutableSpan { (bytes) throws(PackError) in
      try decode(text.extracting(digits), at: digits.lowerBound, into: &bytes)
    }
    if digits.lowerBound > 0 {
      var checksum = [UInt8](repeating: 0, count: checksumSize)
      var span = checksum.mutableByteSpan
      let start = digits.upperBound + 1
      try decode(text.extracting(start..<text.count), at: start, into: &span)
      let expected = try secret.withSpan { (secret) throws(PackError) in
        try Self.checksum(of: secret, kind, backend: backend)
      }
      guard equalInConstantTime(checksum.byteSpan, expected.byteSpan) else {
        throw PackError(
          .malformedKey, "key text does not match its checksum: a character of it was changed",
          advice: .copyKeyAgain)
      }
    }
    return secret
  }

  /// Whether the text, without white space around it, starts as the text of a kind does.
  static func starts(_ text: Span<UInt8>, as kind: Kind) -> Bool {
    starts(text.extracting(range(in: text)), with: kind.prefix)
  }

  /// Returns the text of a key, in memory that is wiped on release.
  static func write(_ secret: borrowing SecretBytes, checksum: [UInt8], _ kind: Kind) -> SecretBytes {
    var text = SecretBytes(count: size)
    let prefix = kind.prefix
    text.withMutableSpan { text in
      for index in prefix.indices { text[index] = prefix[index] }
      secret.withSpan { encode($0, at: prefix.count, into: &text) }
      text[size - 2 * checksumSize - 1] = UInt8(ascii: "-")
      encode(checksum.byteSpan, at: size - 2 * checksumSize, into: &text)
    }
    return text
  }

  /// Returns the first bytes of SHA-256 over label and key.
  static func checksum(of key: Span<UInt8>, _ kind: Kind, backend: any CryptoBackend) throws(PackError) -> [UInt8] {
    let digest = try backend.makeDigest()
    let label = kind.label.bytes
    try digest.update(label.byteSpan)
    try digest.update(key)
    return Array(try digest.finish().prefix(checksumSize))
  }

  /// Returns the range of the text without surrounding white space.
  private static func range(in text: Span<UInt8>) -> Range<Int> {
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
    var start = 0
    var end = text.count
    while start < end, isSpace(text[start]) { start += 1 }
    while end > start, isSpace(text[end - 1]) { end -= 1 }
    return start..<end
  }

  /// Returns the range of the key's digits in the text. It starts at 0 only if the text is bare digits.
  private static func digits(of text: Span<UInt8>, _ kind: Kind) throws(PackError) -> Range<Int> {
    guard !text.isEmpty else { throw PackError(.malformedKey, "key text is empty") }
    for other in Kind.allCases where other != kind && starts(text, with: other.prefix) {
      throw PackError(
        .malformedKey, "text is \(other.name), not \(kind.name)", advice: .giveKeyText(prefix: kind.prefixText, insteadOf: other.prefixText)
      )
    }
    guard starts(text, with: kind.prefix) else {
      // Bare digits do not show their kind, so they are accepted for pack keys only.
      if kind == .content, text.count == 2 * keySize { return 0..<text.count }
      let bare = kind == .content ? ", or is \(2 * keySize) hexadecimal digits" : ""
      throw PackError(
        .malformedKey, "text of \(text.count) bytes is not \(kind.name)",
        advice: .developer(wrapping(text) ?? "a key starts with \(kind.prefixText) and has \(size) bytes\(bare)"))
    }
    guard text.count >= size else {
      throw PackError(
        .malformedKey, "key text is too short: \(text.count) bytes, not \(size)",
        advice: .copyKeyAgain)
    }
    guard text.count == size else {
      throw PackError(
        .malformedKey, "key text is too long: \(text.count) bytes, not \(size)",
        advice: .developer("give one key and nothing else"))
    }
    let digits = prefixSize..<prefixSize + 2 * keySize
    guard text[digits.upperBound] == UInt8(ascii: "-") else {
      throw PackError(.malformedKey, "key text has no hyphen before its checksum, at byte \(digits.upperBound)")
    }
    return digits
  }

  /// Returns what to do if another program wrote quotes or a byte order mark before a key; nil if there are none.
  private static func wrapping(_ text: Span<UInt8>) -> String? {
    switch text[0] {
    case 0xEF, 0xFE, 0xFF: "save the key as plain ASCII, without a byte order mark"
    case UInt8(ascii: "\""), UInt8(ascii: "'"): "write the key without quotes"
    default: nil
    }
  }

  /// Reads lower-case hexadecimal digits. `offset` is their position in the whole text, for messages.
  private static func decode(_ digits: Span<UInt8>, at offset: Int, into bytes: inout MutableSpan<UInt8>) throws(PackError) {
    for index in bytes.indices {
      var byte: UInt8 = 0
      for position in [2 * index, 2 * index + 1] {
        byte = byte << 4 | (try value(of: digits[position], at: offset + position))
      }
      bytes[index] = byte
    }
  }

  /// Writes lower-case hexadecimal digits, starting at `offset`.
  private static func encode(_ bytes: Span<UInt8>, at offset: Int, into text: inout MutableSpan<UInt8>) {
    func digit(_ value: UInt8) -> UInt8 { value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10 }
    for index in bytes.indices {
      text[offset + 2 * index] = digit(bytes[index] >> 4)
      text[offset + 2 * index + 1] = digit(bytes[index] & 15)
    }
  }

  private static func value(of digit: UInt8, at offset: Int) throws(PackError) -> UInt8 {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"):
      return digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"):
      return digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"):
      throw PackError(.malformedKey, "key text has an upper-case digit, at byte \(offset); its digits are lower case")
    default:
      throw PackError(.malformedKey, "key text has something other than a hexadecimal digit, at byte \(offset)")
    }
  }

  private static func starts(_ text: Span<UInt8>, with prefix: [UInt8]) -> Bool {
    text.count >= prefix.count && equal(text.extracting(0..<prefix.count), prefix.byteSpan)
  }
}
