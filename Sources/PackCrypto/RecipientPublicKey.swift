public import PackFormat

/// The public half of a recipient's key: packs are wrapped for it, and opened with the secret half, a ``PackKey`` (FORMAT.md §2.6).
public struct RecipientPublicKey: Hashable, Sendable, CustomStringConvertible {
  /// The key, 32 bytes.
  public let bytes: [UInt8]
  /// The identifier of the key in packs and messages.
  public let id: KeyID
  /// The key as text: `pkw1-`, 64 digits, `-`, 8 digits that detect typing errors (FORMAT.md §2.5).
  public let text: String

  /// Makes a public key from its 32 bytes.
  ///
  /// - Throws: ``PackError/Code/malformedKey`` if the bytes are not a valid public key. What is wrapped for some encodings, anyone can open.
  public init(bytes: [UInt8]) throws(PackError) {
    try self.init(bytes: bytes, backend: CryptoBackends.standard)
  }

  package init(bytes: [UInt8], backend: any CryptoBackend) throws(PackError) {
    guard bytes.count == X25519.keySize else {
      throw PackError(.malformedKey, "recipient's public key is \(bytes.count) bytes, not \(X25519.keySize)")
    }
    if let problem = X25519.problem(ofPublicKey: bytes.byteSpan) {
      throw PackError(
        .malformedKey, "recipient's public key \(problem); no secret key has such a public key",
        advice: .copyKeyAgain)
    }
    let message = Label.recipientKeyID.bytes + bytes
    self.bytes = bytes
    id = KeyID(Array(try backend.digest(of: message.byteSpan).prefix(KeyID.size)))
    let checksum = try KeyText.checksum(of: bytes.byteSpan, .recipientPublic, backend: backend)
    text = KeyText.Kind.recipientPublic.prefixText + bytes.hex + "-" + checksum.hex
  }

  /// Reads a key text. White space around it is ignored. Digits must be lower case.
  ///
  /// - Throws: ``PackError/Code/malformedKey``, with a message that quotes nothing of the text: it may be the secret half, given by mistake.
  public init(text: String) throws(PackError) {
    let bytes = Array(text.utf8)
    let backend = CryptoBackends.standard
    let key = try KeyText.read(bytes.byteSpan, .recipientPublic, backend: backend)
    try self.init(bytes: key.withSpan { [UInt8](copying: $0) }, backend: backend)
  }

  /// The key as text.
  public var description: String { text }

  public static func == (left: RecipientPublicKey, right: RecipientPublicKey) -> Bool { left.bytes == right.bytes }

  public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}
