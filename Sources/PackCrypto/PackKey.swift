public import PackFormat

/// An application key: the 32 uniformly random bytes that open packs. Never a password (FORMAT.md §2).
///
/// It cannot be copied, is wiped when it goes away, and prints nothing of itself.
public struct PackKey: ~Copyable, Sendable {
  /// The name of the key in packs and messages. It tells nothing about the key.
  public let id: KeyID

  package let secret: SecretBytes
  /// The end of the key's text.
  let checksum: [UInt8]

  static let size = KeyText.keySize

  /// Takes a copy of exactly 32 bytes. The caller's bytes remain with the caller to wipe.
  ///
  /// - Throws: ``PackError/Code/malformedKey`` for any other number of bytes.
  public init(bytes: Span<UInt8>) throws(PackError) {
    guard bytes.count == Self.size else {
      throw PackError(.malformedKey, "key is \(bytes.count) bytes, not \(Self.size)")
    }
    try self.init(secret: SecretBytes(copying: bytes))
  }

  /// Takes a key over. The secret must have 32 bytes.
  package init(
    secret: consuming SecretBytes, backend: any CryptoBackend = CryptoBackends.standard
  ) throws(PackError) {
    precondition(secret.count == Self.size)
    let id = try backend.derive(.keyID, from: secret, count: KeyID.size)
    let checksum = try secret.withSpan { (secret) throws(PackError) in
      try KeyText.checksum(of: secret, .content, backend: backend)
    }
    self.checksum = checksum
    self.id = KeyID(id.withSpan { [UInt8](copying: $0) })
    self.secret = secret
  }

  /// A new key from the system's random source.
  public static func random() throws(PackError) -> PackKey {
    let backend = CryptoBackends.standard
    var secret = SecretBytes(count: size)
    try secret.withMutableSpan { (bytes) throws(PackError) in try backend.fillRandom(&bytes) }
    return try PackKey(secret: secret, backend: backend)
  }

  /// A copy of the key in memory of its own, for a caller that must outlive the first.
  package borrowing func copy() -> PackKey {
    PackKey(id: id, secret: secret.withSpan { SecretBytes(copying: $0) }, checksum: checksum)
  }

  private init(id: KeyID, secret: consuming SecretBytes, checksum: [UInt8]) {
    self.id = id
    self.secret = secret
    self.checksum = checksum
  }

  /// The key of one pack, where this key is a root key from which each pack has its own (FORMAT.md §2.3).
  ///
  /// - Parameter packID: the 32 bytes of the pack's header that name it.
  public func packKey(forPackID packID: [UInt8]) throws(PackError) -> PackKey {
    try packKey(forPackID: packID, backend: CryptoBackends.standard)
  }

  /// The key of the pack that is published under `name`, where this key is a root key.
  public func packKey(for name: PackName) throws(PackError) -> PackKey {
    try packKey(forPackID: PackID.bytes(for: name))
  }

  package func packKey(forPackID packID: [UInt8], backend: any CryptoBackend) throws(PackError) -> PackKey {
    guard packID.count == 32 else {
      throw PackError(.usage, "pack id is \(packID.count) bytes, not 32")
    }
    let secret = try backend.derive(.packKey, from: secret, context: packID, count: Self.size)
    return try PackKey(secret: secret, backend: backend)
  }

  /// The key with the id that a pack names: this one, or the pack's own where this one is its root. Nil where it is neither.
  package func key(
    _ wanted: KeyID, ofPack packID: [UInt8], backend: any CryptoBackend = CryptoBackends.standard
  ) throws(PackError) -> PackKey? {
    if id == wanted { return copy() }
    let own = try packKey(forPackID: packID, backend: backend)
    guard own.id == wanted else { return nil }
    return own
  }
}
