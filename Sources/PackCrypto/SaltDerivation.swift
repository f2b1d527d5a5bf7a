package import PackFormat

/// Makes the salt of a pack from its finished payload (FORMAT.md §2). One value per worker.
///
/// The payload is tagged in pieces of ``PackFormat/Limits/saltPiece`` bytes, on any worker and in any order; the salt takes the tags
/// in the order of the pieces. Tags and random bytes must never be stored or logged.
package struct SaltDerivation: ~Copyable {
  /// The bytes of a piece's tag.
  package static let tagSize = GCM.tagSize

  private let backend: any CryptoBackend
  private let key: SecretBytes
  private let hasDeterministicSalt: Bool
  /// SHA-256 of the core with zeros as salt.
  private let coreDigest: [UInt8]
  private let cipher: any CipherContext
  private let nonce = [UInt8](repeating: 0, count: GCM.nonceSize)

  /// Prepares for one pack.
  ///
  /// - Parameter header: its fields and flags as they will be written. Its salt is not looked at.
  package init(
    key: borrowing PackKey, header: PackHeader, backend: any CryptoBackend = CryptoBackends.standard
  ) throws(PackError) {
    var header = header
    header.salt = [UInt8](repeating: 0, count: 32)
    let core = header.bytes
    let coreDigest = try backend.digest(of: core.span)
    let tagKey = try Self.tagKey(key: key, backend: backend)
    let cipher = try backend.makeCipher(key: tagKey)
    self.backend = backend
    self.key = key.secret.withSpan { SecretBytes(copying: $0) }
    self.coreDigest = coreDigest
    self.cipher = cipher
    hasDeterministicSalt = header.hasDeterministicSalt
  }

  /// KD, which nothing but tags may ever be made with.
  static func tagKey(key: borrowing PackKey, backend: any CryptoBackend) throws(PackError) -> SecretBytes {
    try backend.derive(.saltTagKey, from: key.secret, count: GCM.keySize)
  }

  /// The tag of one piece of the payload, 16 bytes. Every piece but the last has ``PackFormat/Limits/saltPiece`` bytes, and none is
  /// empty.
  package func tag(of piece: Span<UInt8>) throws(PackError) -> [UInt8] {
    precondition(!piece.isEmpty && piece.count <= Limits.saltPiece)
    return try cipher.authenticate(piece, nonce: nonce.span)
  }

  /// The salt, 32 bytes.
  ///
  /// - Parameters:
  ///   - tags: the tags of all pieces, end to end, in the order of the payload.
  ///   - payloadSize: the length of the payload in bytes.
  ///   - random: 32 random bytes where the header says that the salt is not deterministic, otherwise nil.
  package func salt(tags: [UInt8], payloadSize: UInt64, random: [UInt8]?) throws(PackError) -> [UInt8] {
    let piece = UInt64(Limits.saltPiece)
    precondition(UInt64(tags.count) == (payloadSize + piece - 1) / piece * UInt64(GCM.tagSize))
    precondition((random == nil) == hasDeterministicSalt && (random == nil || random?.count == 32))
    let digest = try backend.makeDigest()
    try digest.update(tags.span)
    var length: [UInt8] = []
    length.append(littleEndian: payloadSize)
    try digest.update(length.span)
    var context = coreDigest + (try digest.finish()) + (random ?? [])
    defer { wipe(&context) }
    let salt = try backend.derive(
      random == nil ? .deterministicSalt : .randomSalt, from: key, context: context, count: 32)
    return salt.withSpan { [UInt8](copying: $0) }
  }
}
