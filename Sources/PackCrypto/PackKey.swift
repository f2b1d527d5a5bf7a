public import PackFormat

/// An application key: 32 uniformly random bytes that open packs, never a password (FORMAT.md §2).
///
/// It cannot be copied implicitly, is wiped on release, and has no printable description.
public struct PackKey: ~Copyable, Sendable {
  /// The identifier of the key in packs and messages. It reveals nothing about the key.
  public let id: KeyID

  package let secret: SecretBytes
  /// The checksum at the end of the key's text.
  let checksum: [UInt8]

  static let size = KeyText.keySize

  /// Copies a key of exactly 32 bytes. The caller must wipe its own bytes.
  ///
  /// - Throws: ``PackError/Code/malformedKey`` for any other number of bytes.
  public init(bytes: Span<UInt8>) throws(PackError) {
    guard bytes.count == Self.size else {
      throw PackError(.malformedKey, "key is \(bytes.count) bytes, not \(Self.size)")
    }
    try self.init(secret: SecretBytes(copying: bytes))
  }

  /// Copies the same from an array. On systems before iOS 26 and macOS 26, arrays have no span.
  public init(bytes: [UInt8]) throws(PackError) {
    try self.init(bytes: bytes.byteSpan)
  }

  /// Takes ownership of a key. The secret must have 32 bytes.
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

  /// Makes a new key from the system's random source.
  public static func random() throws(PackError) -> PackKey {
    let backend = CryptoBackends.standard
    var secret = SecretBytes(count: size)
    try secret.withMutableSpan { (bytes) throws(PackError) in try backend.fillRandom(&bytes) }
    return try PackKey(secret: secret, backend: backend)
  }

  /// Returns a copy of the key in its own memory, for callers that outlive this one.
  package borrowing func copy() -> PackKey {
    PackKey(id: id, secret: secret.withSpan { SecretBytes(copying: $0) }, checksum: checksum)
  }

  private init(id: KeyID, secret: consuming SecretBytes, checksum: [UInt8]) {
    self.id = id
    self.secret = secret
    self.checksum = checksum
  }

  /// Derives the key of one pack from this key as the root key (FORMAT.md §2.3).
  ///
  /// - Parameter packID: the 32 bytes that identify the pack in its header.
  public func packKey(forPackID packID: [UInt8]) throws(PackError) -> PackKey {
    try packKey(forPackID: packID, backend: CryptoBackends.standard)
  }

  /// Derives the key of the pack that is published under `name` from this key as the root key.
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

  /// Returns the key with the id that a pack names: this key, or the pack's key derived from it. Returns nil if neither has that id.
  package func key(
    _ wanted: KeyID, ofPack packID: [UInt8], backend: any CryptoBackend = CryptoBackends.standard
  ) throws(PackError) -> PackKey? {
    if id == wanted { return copy() }
    let own = try packKey(forPackID: packID, backend: backend)
    guard own.id == wanted else { return nil }
    return own
  }
}
