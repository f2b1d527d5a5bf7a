public import PackFormat

/// The secret half of an Ed25519 key that signs keys documents: a seed of 32 random bytes (FORMAT.md §9.6).
///
/// It is used on a machine without a network, and never lies on a build machine. It cannot be copied, is wiped on release, and has no printable
/// description.
public struct RootSigningKey: ~Copyable, Sendable {
  /// The public half, which keys documents list.
  public let publicKey: RootSigningPublicKey

  private let key: SigningKey
  /// The checksum at the end of the key's text.
  private let checksum: [UInt8]

  /// Takes ownership of a seed, which must have 32 bytes.
  package init(
    seed: consuming SecretBytes, backend: any CryptoBackend = CryptoBackends.standard
  ) throws(PackError) {
    let checksum = try seed.withSpan { (seed) throws(PackError) in
      try KeyText.checksum(of: seed, .root, backend: backend)
    }
    let key = try SigningKey(seed: seed, backend: backend)
    publicKey = try RootSigningPublicKey(bytes: key.publicKey.bytes, backend: backend)
    self.checksum = checksum
    self.key = key
  }

  /// Makes a new key from the system's random source.
  public static func random() throws(PackError) -> RootSigningKey {
    let backend = CryptoBackends.standard
    var seed = SecretBytes(count: Ed25519.seedSize)
    try seed.withMutableSpan { (bytes) throws(PackError) in try backend.fillRandom(&bytes) }
    return try RootSigningKey(seed: seed, backend: backend)
  }

  /// Reads a key text, which starts with `pkt1-`. White space around it is ignored. Digits must be lower case.
  ///
  /// - Throws: ``PackError/Code/malformedKey``, with a message that quotes nothing of the text.
  public init(text: Span<UInt8>) throws(PackError) {
    let backend = CryptoBackends.standard
    try self.init(seed: KeyText.read(text, .root, backend: backend), backend: backend)
  }

  /// Calls `body` with the key as text, 78 bytes of ASCII without a line end, and wipes the text afterwards.
  public func withText<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
    let text = KeyText.write(key.seed, checksum: checksum, .root)
    return try text.withSpan(body)
  }

  /// Returns the signature of a message, 64 bytes, which is verified before it is returned.
  public func signature(of message: Span<UInt8>) throws(PackError) -> [UInt8] { try key.signature(of: message) }
}
