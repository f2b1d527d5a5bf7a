public import PackFormat

/// A key as text: `pkk1-`, 64 digits, `-`, 8 digits that catch a typing error (FORMAT.md §2).
extension PackKey {
  /// Reads a key text, or 64 bare hexadecimal digits. White space around it is passed over; digits are lower case.
  ///
  /// - Throws: ``PackError/Code/malformedKey``, with a message that says what is wrong and quotes nothing of the text.
  public init(text: Span<UInt8>) throws(PackError) {
    let text = text.extracting(KeyText.range(in: text))
    let digits = try KeyText.digits(of: text)
    var secret = SecretBytes(count: Self.size)
    try secret.withMutableSpan { (bytes) throws(PackError) in
      try KeyText.decode(text.extracting(digits), at: digits.lowerBound, into: &bytes)
    }
    if digits.lowerBound > 0 {
      let backend = CryptoBackends.standard
      var checksum = [UInt8](repeating: 0, count: KeyText.checksumSize)
      var span = checksum.mutableSpan
      let start = digits.upperBound + 1
      try KeyText.decode(text.extracting(start..<text.count), at: start, into: &span)
      let expected = try KeyText.checksum(of: secret, backend: backend)
      guard equalInConstantTime(checksum.span, expected.span) else {
        throw PackError(
          .malformedKey, "key text does not match its checksum: a character of it was changed",
          hint: "copy the key again from where it is kept")
      }
    }
    try self.init(secret: secret)
  }

  /// Lends the key as text, 78 bytes of ASCII without a line end, and wipes it afterwards.
  public func withText<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
    var text = SecretBytes(count: KeyText.size)
    let prefix = KeyText.prefix
    text.withMutableSpan { text in
      for index in prefix.indices { text[index] = prefix[index] }
      secret.withSpan { KeyText.encode($0, at: prefix.count, into: &text) }
      text[KeyText.size - 2 * KeyText.checksumSize - 1] = UInt8(ascii: "-")
      KeyText.encode(checksum.span, at: KeyText.size - 2 * KeyText.checksumSize, into: &text)
    }
    return try text.withSpan(body)
  }
}

/// The layout of key texts.
enum KeyText {
  static let prefix = Array("pkk1-".utf8)
  static let checksumSize = 4
  static let size = prefix.count + 2 * PackKey.size + 1 + 2 * checksumSize

  /// Where the text stands between white space.
  static func range(in text: Span<UInt8>) -> Range<Int> {
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
    var start = 0
    var end = text.count
    while start < end, isSpace(text[start]) { start += 1 }
    while end > start, isSpace(text[end - 1]) { end -= 1 }
    return start..<end
  }

  /// Where the digits of the key stand, by the outer form of the text: from 0 exactly where they are all of it.
  static func digits(of text: Span<UInt8>) throws(PackError) -> Range<Int> {
    guard !text.isEmpty else { throw PackError(.malformedKey, "key text is empty") }
    if starts(text, with: "pks1-") {
      throw PackError(
        .malformedKey, "text is a signing key (pks1-), not a pack key",
        hint: "give the key that starts with pkk1-")
    }
    if starts(text, with: "pkp1-") {
      throw PackError(
        .malformedKey, "text is a public key (pkp1-), which opens no pack",
        hint: "give the key that starts with pkk1-")
    }
    guard starts(text, with: "pkk1-") else {
      guard text.count == 2 * PackKey.size else {
        throw PackError(
          .malformedKey, "text of \(text.count) bytes is not a key",
          hint: "a key is pkk1- and what follows it, \(size) bytes in all, or \(2 * PackKey.size) hexadecimal digits")
      }
      return 0..<text.count
    }
    guard text.count >= size else {
      throw PackError(
        .malformedKey, "key text is too short: \(text.count) bytes, not \(size)",
        hint: "copy the key again from where it is kept; its end is missing")
    }
    guard text.count == size else {
      throw PackError(
        .malformedKey, "key text is too long: \(text.count) bytes, not \(size)",
        hint: "give one key and nothing else")
    }
    let digits = prefix.count..<prefix.count + 2 * PackKey.size
    guard text[digits.upperBound] == UInt8(ascii: "-") else {
      throw PackError(.malformedKey, "key text has no hyphen before its checksum, at byte \(digits.upperBound)")
    }
    return digits
  }

  /// The first bytes of SHA-256 over label and key.
  static func checksum(of secret: borrowing SecretBytes, backend: any CryptoBackend) throws(PackError) -> [UInt8] {
    let digest = try backend.makeDigest()
    let label = Label.keyText.bytes
    try digest.update(label.span)
    try secret.withSpan { (bytes) throws(PackError) in try digest.update(bytes) }
    return Array(try digest.finish().prefix(checksumSize))
  }

  /// Reads lower-case hexadecimal digits; `offset` is where they stand in the whole text, for the message.
  static func decode(_ digits: Span<UInt8>, at offset: Int, into bytes: inout MutableSpan<UInt8>) throws(PackError) {
    for index in bytes.indices {
      var byte: UInt8 = 0
      for position in [2 * index, 2 * index + 1] {
        byte = byte << 4 | (try value(of: digits[position], at: offset + position))
      }
      bytes[index] = byte
    }
  }

  /// Writes lower-case hexadecimal digits from `offset` on.
  static func encode(_ bytes: Span<UInt8>, at offset: Int, into text: inout MutableSpan<UInt8>) {
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

  private static func starts(_ text: Span<UInt8>, with prefix: StaticString) -> Bool {
    let prefix = Array("\(prefix)".utf8)
    return text.count >= prefix.count && equal(text.extracting(0..<prefix.count), prefix.span)
  }
}
