/// The secret half of an Ed25519 key that signs documents: a seed of 32 random bytes (FORMAT.md §9.2, §9.6).
///
/// It cannot be copied, is wiped on release, and has no printable description.
public struct SecretKey<Role: SignerRole>: ~Copyable, Sendable {
  /// The public half, which apps embed or keys documents list.
  public let publicKey: PublicKey<Role>

  private let seed: SecretBytes
  /// The checksum at the end of the key's text.
  private let checksum: [UInt8]
  private let backend: any CryptoBackend

  /// Takes ownership of a seed, which must have 32 bytes.
  package init(
    seed: consuming SecretBytes, backend: any CryptoBackend = CryptoBackends.standard
  ) throws(PackError) {
    precondition(seed.count == Ed25519.seedSize)
    let publicKey = try PublicKey<Role>(bytes: backend.signingPublicKey(ofSeed: seed), backend: backend)
    let checksum = try seed.withSpan { (seed) throws(PackError) in
      try KeyText.checksum(of: seed, Role.secretText, backend: backend)
    }
    self.publicKey = publicKey
    self.checksum = checksum
    self.seed = seed
    self.backend = backend
  }

  /// Makes a new key from the system's random source.
  public static func random() throws(PackError) -> SecretKey {
    let backend = CryptoBackends.standard
    var seed = SecretBytes(count: Ed25519.seedSize)
    try seed.withMutableSpan { (bytes) throws(PackError) in try backend.fillRandom(&bytes) }
    return try SecretKey(seed: seed, backend: backend)
  }

  /// Reads a key text, which starts with `pks1-`, or with `pkt1-` for a root signing key. White space around it is ignored. Digits must be lower
  /// case.
  ///
  /// - Throws: ``PackError/Code/malformedKey``, with a message that quotes nothing of the text.
  public init(text: Span<UInt8>) throws(PackError) {
    let backend = CryptoBackends.standard
    try self.init(seed: KeyText.read(text, Role.secretText, backend: backend), backend: backend)
  }

  /// Calls `body` with the key as text, 78 bytes of ASCII without a line end, and wipes the text afterwards.
  public func withText<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
    let text = KeyText.write(seed, checksum: checksum, Role.secretText)
    return try text.withSpan(body)
  }

  /// Returns the signature of a message, 64 bytes. It is deterministic, except with CryptoKit on Apple platforms, which adds randomness.
  ///
  /// The signature is verified before it is returned, because a single hardware fault could reveal the key.
  public func signature(of message: Span<UInt8>) throws(PackError) -> [UInt8] {
    let signature = try backend.signature(of: message, seed: seed)
    guard try publicKey.isValid(signature.byteSpan, of: message, backend: backend) else {
      throw PackError(.internalError, "\(backend.name) made an invalid signature")
    }
    return signature
  }
}
