/// A key that opens packs: 32 uniformly random bytes, never a password (FORMAT.md §2).
///
/// It is an application key, with which packs are made, or the secret half of a recipient's key, for which packs are wrapped.
///
/// It cannot be copied implicitly, is wiped on release, and has no printable description.
public struct PackKey: ~Copyable, Sendable {
  /// What a key is for.
  public enum Kind: Hashable, Sendable {
    /// Packs are made with it and opened with it (`pkk1-`).
    case application
    /// It opens the packs that are wrapped for its public half, and makes none (`pkx1-`).
    case recipient

    var text: KeyText.Kind { self == .application ? .content : .recipient }
  }

  /// What the key is for.
  public let kind: Kind
  /// The identifier of the key in packs and messages. It reveals nothing about the key.
  public let id: KeyID
  /// The public half of a recipient's key; nil for an application key.
  public let recipient: RecipientPublicKey?

  package let secret: SecretBytes
  /// The checksum at the end of the key's text.
  let checksum: [UInt8]

  static let size = KeyText.keySize

  /// Copies a key of exactly 32 bytes. The caller must wipe its own bytes.
  ///
  /// - Throws: ``PackError/Code/malformedKey`` for any other number of bytes.
  public init(bytes: Span<UInt8>, kind: Kind = .application) throws(PackError) {
    guard bytes.count == Self.size else {
      throw PackError(.malformedKey, "key is \(bytes.count) bytes, not \(Self.size)")
    }
    try self.init(secret: SecretBytes(copying: bytes), kind: kind)
  }

  /// Copies the same from an array. On systems before iOS 26 and macOS 26, arrays have no span.
  public init(bytes: [UInt8], kind: Kind = .application) throws(PackError) {
    try self.init(bytes: bytes.byteSpan, kind: kind)
  }

  /// Takes ownership of a key. The secret must have 32 bytes.
  package init(
    secret: consuming SecretBytes, kind: Kind = .application, backend: any CryptoBackend = CryptoBackends.standard
  ) throws(PackError) {
    precondition(secret.count == Self.size)
    let checksum = try secret.withSpan { (secret) throws(PackError) in
      try KeyText.checksum(of: secret, kind.text, backend: backend)
    }
    switch kind {
    case .application:
      let id = try backend.derive(.keyID, from: secret, count: KeyID.size)
      self.id = KeyID(id.withSpan { [UInt8](copying: $0) })
      recipient = nil
    case .recipient:
      let recipient = try RecipientPublicKey(bytes: backend.agreementPublicKey(of: secret), backend: backend)
      id = recipient.id
      self.recipient = recipient
    }
    self.kind = kind
    self.checksum = checksum
    self.secret = secret
  }

  /// Makes a new key from the system's random source.
  public static func random(_ kind: Kind = .application) throws(PackError) -> PackKey {
    let backend = CryptoBackends.standard
    var secret = SecretBytes(count: size)
    try secret.withMutableSpan { (bytes) throws(PackError) in try backend.fillRandom(&bytes) }
    return try PackKey(secret: secret, kind: kind, backend: backend)
  }

  /// Throws if packs cannot be made with the key, because it is a recipient's.
  package borrowing func checkMakesPacks() throws(PackError) {
    guard kind == .application else {
      throw PackError(
        .malformedKey, "\(kind.text.name) opens packs that are wrapped for it, but no pack is made with it",
        advice: .giveKeyText(prefix: KeyText.Kind.content.prefixText, insteadOf: kind.text.prefixText))
    }
  }

  /// Returns a copy of the key in its own memory, for callers that outlive this one.
  package borrowing func copy() -> PackKey {
    PackKey(kind, id: id, recipient: recipient, secret: secret.copy(), checksum: checksum)
  }

  private init(_ kind: Kind, id: KeyID, recipient: RecipientPublicKey?, secret: consuming SecretBytes, checksum: [UInt8]) {
    self.kind = kind
    self.id = id
    self.recipient = recipient
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
    try checkMakesPacks()
    let secret = try backend.derive(.packKey, from: secret, context: packID, count: Self.size)
    return try PackKey(secret: secret, backend: backend)
  }

  /// Derives the key of one version of a pack from this key as the root key (FORMAT.md §2.7).
  ///
  /// - Parameters:
  ///   - packID: the 32 bytes that identify the pack in its header.
  ///   - version: the version in its header.
  public func editionKey(forPackID packID: [UInt8], version: UInt64) throws(PackError) -> PackKey {
    try editionKey(forPackID: packID, version: version, backend: CryptoBackends.standard)
  }

  package func editionKey(forPackID packID: [UInt8], version: UInt64, backend: any CryptoBackend) throws(PackError) -> PackKey {
    guard packID.count == 32 else {
      throw PackError(.usage, "pack id is \(packID.count) bytes, not 32")
    }
    try checkMakesPacks()
    var context = packID
    context.append(littleEndian: version)
    return try PackKey(secret: backend.derive(.editionKey, from: secret, context: context, count: Self.size), backend: backend)
  }

  /// Returns the key that opens a pack: this key if the pack names it, or the key of the pack or of its version derived from it. Returns nil if none is
  /// named.
  ///
  /// - Parameters:
  ///   - wanted: the id of the key that the pack was made with.
  ///   - recipients: the ids of the keys for which it is wrapped.
  ///   - packID: the 32 bytes that identify the pack in its header.
  ///   - version: the version in its header; nil if it is not known.
  package func key(
    _ wanted: KeyID, recipients: [KeyID] = [], ofPack packID: [UInt8], version: UInt64?,
    backend: any CryptoBackend = CryptoBackends.standard
  ) throws(PackError) -> PackKey? {
    if id == wanted || recipients.contains(id) { return copy() }
    guard kind == .application else { return nil }
    let own = try packKey(forPackID: packID, backend: backend)
    if own.id == wanted { return own }
    guard let version else { return nil }
    let edition = try editionKey(forPackID: packID, version: version, backend: backend)
    guard edition.id == wanted else { return nil }
    return edition
  }
}
