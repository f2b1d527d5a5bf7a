/// The public half of a key pair (FORMAT.md §2.5): of a ``SecretKey``, or of a recipient's ``PackKey``.
///
/// An app embeds a ``SigningPublicKey`` to recognise its publisher's manifests, keys documents list that and ``RootSigningPublicKey``, and packs are
/// wrapped for a ``RecipientPublicKey``.
public struct PublicKey<Role: KeyRole>: Hashable, Sendable, CustomStringConvertible {
  /// The key, 32 bytes.
  public let bytes: [UInt8]
  /// The identifier of the key in documents, packs and messages. It differs from that of a key with the same bytes and another role.
  public let id: Role.ID
  /// The key as text: five characters that name the role, 64 digits, `-`, 8 digits that detect typing errors (FORMAT.md §2.5).
  public let text: String

  /// Makes a public key from its 32 bytes.
  ///
  /// - Throws: ``PackError/Code/malformedKey`` if the bytes are not a valid public key. Signatures under some encodings prove nothing, and what is
  ///   wrapped for some, anyone can open.
  public init(bytes: [UInt8]) throws(PackError) {
    try self.init(bytes: bytes, backend: CryptoBackends.standard)
  }

  package init(bytes: [UInt8], backend: any CryptoBackend) throws(PackError) {
    let traits = Role.traits
    try traits.curve.checkPublicKey(bytes)
    let message = traits.idLabel.bytes + bytes
    self.bytes = bytes
    id = traits.makeID(try backend.digest(of: message.byteSpan))
    let checksum = try KeyText.checksum(of: bytes.byteSpan, traits.publicText, backend: backend)
    text = traits.publicText.prefixText + bytes.hex + "-" + checksum.hex
  }

  /// Reads a key text. White space around it is ignored. Digits must be lower case.
  ///
  /// - Throws: ``PackError/Code/malformedKey``, with a message that quotes nothing of the text: it may be the secret half, given by mistake.
  public init(text: String) throws(PackError) {
    let bytes = Array(text.utf8)
    let backend = CryptoBackends.standard
    let key = try KeyText.read(bytes.byteSpan, Role.traits.publicText, backend: backend)
    try self.init(bytes: key.withSpan { [UInt8](copying: $0) }, backend: backend)
  }

  /// The key as text.
  public var description: String { text }

  public static func == (left: Self, right: Self) -> Bool { left.bytes == right.bytes }

  public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

extension PublicKey where Role: SignerRole {
  /// Whether a signature of 64 bytes is valid under this key, by the rule of FORMAT.md §9.2.
  package func isValid(
    _ signature: Span<UInt8>, of message: Span<UInt8>, backend: any CryptoBackend = CryptoBackends.standard
  ) throws(PackError) -> Bool {
    try Ed25519.isValid(signature, of: message, publicKey: bytes.byteSpan, backend: backend)
  }
}
