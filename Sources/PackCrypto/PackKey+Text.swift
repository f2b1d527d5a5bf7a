/// A key as text: `pkk1-` (`pkx1-` for a recipient's key), 64 digits, `-`, 8 digits that detect typing errors (FORMAT.md §2.5).
extension PackKey {
  /// Reads a key text of either kind, or 64 bare hexadecimal digits of an application key. White space around it is ignored. Digits must be
  /// lower case.
  ///
  /// - Throws: ``PackError/Code/malformedKey``, with a message that quotes nothing of the text.
  public init(text: Span<UInt8>) throws(PackError) {
    let kind = KeyText.starts(text, as: .recipient) ? Kind.recipient : .application
    try self.init(secret: KeyText.read(text, kind.text, backend: CryptoBackends.standard), kind: kind)
  }

  /// Reads the same from an array. On systems before iOS 26 and macOS 26, arrays have no span. The caller must wipe its own bytes.
  public init(text: [UInt8]) throws(PackError) {
    try self.init(text: text.byteSpan)
  }

  /// Calls `body` with the key as text, 78 bytes of ASCII without a line end, and wipes the text afterwards.
  public func withText<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
    let text = KeyText.write(secret, checksum: checksum, kind.text)
    return try text.withSpan(body)
  }
}
