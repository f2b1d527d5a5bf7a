public import PackFormat

/// The secret half of an Ed25519 key that signs manifests: a seed of 32 random bytes (FORMAT.md §9.2).
///
/// It cannot be copied, is wiped when it goes away, and prints nothing of itself.
public struct SigningKey: ~Copyable, Sendable {
  /// The half that apps embed.
  public let publicKey: SigningPublicKey

  private let seed: SecretBytes
  /// The end of the key's text.
  private let checksum: [UInt8]
  private let backend: any CryptoBackend

  /// Takes a seed over, which must have 32 bytes.
  package init(
    seed: consuming SecretBytes, backend: any CryptoBackend = CryptoBackends.standard
  ) throws(PackError) {
    precondition(seed.count == Ed25519.seedSize)
    let publicKey = try SigningPublicKey(bytes: backend.signingPublicKey(ofSeed: seed), backend: backend)
    let checksum = try seed.withSpan { (seed) throws(PackError) in
      try KeyText.checksum(of: seed, .signing, backend: backend)
    }
    self.publicKey = publicKey
    self.checksum = checksum
    self.seed = seed
    self.backend = backend
  }

  /// A new key from the system's random source.
  public static func random() throws(PackError) -> SigningKey {
    let backend = CryptoBackends.standard
    var seed = SecretBytes(count: Ed25519.seedSize)
    try seed.withMutableSpan { (bytes) throws(PackError) in try backend.fillRandom(&bytes) }
    return try SigningKey(seed: seed, backend: backend)
  }

  /// Reads a key text, `pks1-` and what follows. White space around it is passed over; digits are lower case.
  ///
  /// - Throws: ``PackError/Code/malformedKey``, with a message that says what is wrong and quotes nothing of the text.
  public init(text: Span<UInt8>) throws(PackError) {
    let backend = CryptoBackends.standard
    try self.init(seed: KeyText.read(text, .signing, backend: backend), backend: backend)
  }

  /// Lends the key as text, 78 bytes of ASCII without a line end, and wipes it afterwards.
  public func withText<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
    let text = KeyText.write(seed, checksum: checksum, .signing)
    return try text.withSpan(body)
  }

  /// The signature of a message, 64 bytes: the same for the same message, except where CryptoKit signs (Apple platforms), which adds
  /// randomness of its own.
  ///
  /// The signature is checked before it is handed out, because a single fault of the machine could give the key away.
  public func signature(of message: Span<UInt8>) throws(PackError) -> [UInt8] {
    let signature = try backend.signature(of: message, seed: seed)
    guard try publicKey.isValid(signature.span, of: message, backend: backend) else {
      throw PackError(.internalError, "\(backend.name) made a signature that does not hold")
    }
    return signature
  }
}
