public import PackFormat

/// The public half of a ``RootSigningKey``, as a keys document lists it (FORMAT.md §9.6).
public struct RootSigningPublicKey: Hashable, Sendable, CustomStringConvertible {
  /// The key, 32 bytes.
  public let bytes: [UInt8]
  /// The identifier of the key in keys documents and messages, 16 hexadecimal digits. It differs from that of a signing key with the same bytes.
  public let id: String
  /// The key as text: `pkq1-`, 64 digits, `-`, 8 digits that detect typing errors (FORMAT.md §2.5).
  public let text: String

  /// Makes a public key from its 32 bytes.
  ///
  /// - Throws: ``PackError/Code/malformedKey`` if the bytes are not a valid public key.
  public init(bytes: [UInt8]) throws(PackError) {
    try self.init(bytes: bytes, backend: CryptoBackends.standard)
  }

  package init(bytes: [UInt8], backend: any CryptoBackend) throws(PackError) {
    try Ed25519.checkPublicKey(bytes)
    let message = Label.rootKeyID.bytes + bytes
    self.bytes = bytes
    id = try backend.digest(of: message.byteSpan).prefix(8).hex
    let checksum = try KeyText.checksum(of: bytes.byteSpan, .rootPublic, backend: backend)
    text = String(decoding: KeyText.Kind.rootPublic.prefix, as: UTF8.self) + bytes.hex + "-" + checksum.hex
  }

  /// Reads a key text. White space around it is ignored. Digits must be lower case.
  ///
  /// - Throws: ``PackError/Code/malformedKey``, with a message that quotes nothing of the text: it may be the secret half, given by mistake.
  public init(text: String) throws(PackError) {
    let bytes = Array(text.utf8)
    let backend = CryptoBackends.standard
    let secret = try KeyText.read(bytes.byteSpan, .rootPublic, backend: backend)
    try self.init(bytes: secret.withSpan { [UInt8](copying: $0) }, backend: backend)
  }

  /// The key as text.
  public var description: String { text }

  /// Whether a signature of 64 bytes is valid under this key, by the rule of FORMAT.md §9.2.
  package func isValid(
    _ signature: Span<UInt8>, of message: Span<UInt8>, backend: any CryptoBackend = CryptoBackends.standard
  ) throws(PackError) -> Bool {
    try Ed25519.isValid(signature, of: message, publicKey: bytes.byteSpan, backend: backend)
  }

  public static func == (left: RootSigningPublicKey, right: RootSigningPublicKey) -> Bool { left.bytes == right.bytes }

  public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}
