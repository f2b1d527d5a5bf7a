/// Derives the salt of a pack from its payload in one pass, from the first byte to the last (FORMAT.md §2).
///
/// The payload is tagged in pieces of ``PackFormat/Limits/saltPiece`` bytes. Tags and random bytes never leave this type.
package struct SaltDerivation: ~Copyable {
  private let backend: any CryptoBackend
  private let key: SecretBytes
  private let hasDeterministicSalt: Bool
  /// The SHA-256 of the core with zeros as salt.
  private let coreDigest: [UInt8]
  private let cipher: any CipherContext
  private let nonce = [UInt8](repeating: 0, count: GCM.nonceSize)
  /// A digest of the tags so far, and the bytes of payload so far.
  private let tags: any DigestContext
  private var payloadSize: UInt64 = 0

  /// Prepares for one pack.
  ///
  /// - Parameter header: its fields and flags as they will be written. Its salt is ignored.
  package init(
    key: borrowing PackKey, header: PackHeader, backend: any CryptoBackend = CryptoBackends.standard
  ) throws(PackError) {
    try key.checkMakesPacks()
    var header = header
    header.salt = [UInt8](repeating: 0, count: 32)
    let core = header.bytes
    let coreDigest = try backend.digest(of: core.byteSpan)
    let tagKey = try Self.tagKey(key: key, backend: backend)
    let cipher = try backend.makeCipher(key: tagKey)
    let tags = try backend.makeDigest()
    self.backend = backend
    self.key = key.secret.withSpan { SecretBytes(copying: $0) }
    self.coreDigest = coreDigest
    self.cipher = cipher
    self.tags = tags
    hasDeterministicSalt = header.hasDeterministicSalt
  }

  /// Derives KD, which is used for tags only.
  static func tagKey(key: borrowing PackKey, backend: any CryptoBackend) throws(PackError) -> SecretBytes {
    try backend.derive(.saltTagKey, from: key.secret, count: GCM.keySize)
  }

  /// Adds bytes of the payload.
  package mutating func update(_ payload: Span<UInt8>) throws(PackError) {
    var done = 0
    while done < payload.count {
      let position = Int(payloadSize % UInt64(Limits.saltPiece))
      if position == 0 {
        try finishPiece()
        try cipher.beginAuthentication(nonce: nonce.byteSpan)
      }
      let count = min(Limits.saltPiece - position, payload.count - done)
      try cipher.authenticate(payload.extracting(done..<done + count))
      done += count
      payloadSize += UInt64(count)
    }
  }

  /// Adds the tag of the piece that ends here, if there is one.
  private func finishPiece() throws(PackError) {
    guard payloadSize > 0 else { return }
    var tag = try cipher.finishAuthentication()
    defer { wipe(&tag) }
    try tags.update(tag.byteSpan)
  }

  /// Returns the salt, 32 bytes. Nothing may be added to the payload afterwards.
  ///
  /// - Parameter random: 32 random bytes if the header's salt is not deterministic, otherwise nil.
  package func salt(random: [UInt8]?) throws(PackError) -> [UInt8] {
    precondition((random == nil) == hasDeterministicSalt && (random == nil || random?.count == 32))
    try finishPiece()
    var length: [UInt8] = []
    length.append(littleEndian: payloadSize)
    try tags.update(length.byteSpan)
    var context = coreDigest + (try tags.finish()) + (random ?? [])
    defer { wipe(&context) }
    let salt = try backend.derive(
      random == nil ? .deterministicSalt : .randomSalt, from: key, context: context, count: 32)
    return salt.withSpan { [UInt8](copying: $0) }
  }
}
