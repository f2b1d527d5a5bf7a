public import PackFormat

/// The public half of a ``SigningKey``: what an app embeds to tell the manifests of its publisher (FORMAT.md §9.2).
public struct SigningPublicKey: Hashable, Sendable, CustomStringConvertible {
  /// The key, 32 bytes.
  public let bytes: [UInt8]
  /// The name of the key in manifests and messages, 16 hexadecimal digits.
  public let id: String
  /// The key as text: `pkp1-`, 64 digits, `-`, 8 digits that catch a typing error (FORMAT.md §2.5).
  public let text: String

  /// Takes the 32 bytes of a key.
  ///
  /// - Throws: ``PackError/Code/malformedKey`` where they cannot be one: signatures under some encodings prove nothing.
  public init(bytes: [UInt8]) throws(PackError) {
    try self.init(bytes: bytes, backend: CryptoBackends.standard)
  }

  package init(bytes: [UInt8], backend: any CryptoBackend) throws(PackError) {
    guard bytes.count == Ed25519.publicKeySize else {
      throw PackError(.malformedKey, "public key is \(bytes.count) bytes, not \(Ed25519.publicKeySize)")
    }
    if let problem = Ed25519.problem(ofPoint: bytes.span) {
      throw PackError(
        .malformedKey, "public key \(problem), and no signing key has such a one",
        advice: .copyKeyAgain)
    }
    let message = Label.signingKeyID.bytes + bytes
    self.bytes = bytes
    id = try backend.digest(of: message.span).prefix(8).hex
    let checksum = try KeyText.checksum(of: bytes.span, .publicKey, backend: backend)
    text = String(decoding: KeyText.Kind.publicKey.prefix, as: UTF8.self) + bytes.hex + "-" + checksum.hex
  }

  /// Reads a key text. White space around it is passed over; digits are lower case.
  ///
  /// - Throws: ``PackError/Code/malformedKey``, which quotes nothing of the text: it may be the secret half, given by mistake.
  public init(text: String) throws(PackError) {
    let bytes = Array(text.utf8)
    let backend = CryptoBackends.standard
    let secret = try KeyText.read(bytes.span, .publicKey, backend: backend)
    try self.init(bytes: secret.withSpan { [UInt8](copying: $0) }, backend: backend)
  }

  /// The key as text.
  public var description: String { text }

  /// Whether a signature of 64 bytes under this key holds, by the one rule of FORMAT.md §9.2.
  package func isValid(
    _ signature: Span<UInt8>, of message: Span<UInt8>, backend: any CryptoBackend = CryptoBackends.standard
  ) throws(PackError) -> Bool {
    try Ed25519.isValid(signature, of: message, publicKey: bytes.span, backend: backend)
  }

  public static func == (left: SigningPublicKey, right: SigningPublicKey) -> Bool { left.bytes == right.bytes }

  public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}
