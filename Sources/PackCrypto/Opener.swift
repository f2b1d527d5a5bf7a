/// The file that opens one edition of a pack: its edition key, wrapped for holders of the pack's key (FORMAT.md §2.8).
///
/// It reveals nothing to others, and is not secret itself. Who makes it holds the root key.
package struct Opener: Hashable, Sendable {
  /// The edition that an opener is for.
  package struct Edition: Hashable, Sendable {
    /// The version of the pack.
    package var version: UInt64
    /// The 32 bytes that identify the pack in its header.
    package var packID: [UInt8]
    /// The SHA-256 of the pack file, 32 bytes.
    package var sha256: [UInt8]

    package init(version: UInt64, packID: [UInt8], sha256: [UInt8]) {
      precondition(packID.count == 32 && sha256.count == 32)
      (self.version, self.packID, self.sha256) = (version, packID, sha256)
    }
  }

  /// The edition that it opens.
  package let edition: Edition
  /// The id of the key that unwraps the edition key.
  package let holderID: KeyID
  /// The whole file.
  package let bytes: [UInt8]

  /// The size of the file in bytes.
  package static let size = 156
  private static let magic: [UInt8] = [0x89, 0x4F, 0x50, 0x4E, 0x0D, 0x0A, 0x1A, 0x0A]
  /// What the wrapping key and the nonce are bound to: everything from the version of the form to the id of the key.
  private static let context = 8..<96
  private static let nonce = 96..<96 + GCM.nonceSize
  private static let sealed = 96 + GCM.nonceSize..<size

  // MARK: Making

  /// Wraps the key of an edition for holders of the pack's key. Equal inputs give equal bytes.
  ///
  /// - Parameter root: the root key, from which both keys are derived.
  package init(
    of edition: Edition, root: borrowing PackKey, backend: any CryptoBackend = CryptoBackends.standard
  ) throws(PackError) {
    let holder = try root.packKey(forPackID: edition.packID, backend: backend)
    let key = try root.editionKey(forPackID: edition.packID, version: edition.version, backend: backend)
    var bytes = Self.magic
    bytes += [PackHeader.major, 0]
    bytes.append(littleEndian: PackHeader.suite)
    bytes.append(littleEndian: UInt32(0))
    bytes.append(littleEndian: edition.version)
    bytes += edition.packID + edition.sha256 + holder.id.bytes
    let context = Array(bytes[Self.context])
    let nonce = try Self.nonce(of: key.secret, context, backend: backend)
    let cipher = try backend.makeCipher(key: Self.wrappingKey(of: holder, context, backend: backend))
    var sealed = [UInt8](repeating: 0, count: Self.sealed.count)
    var target = sealed.mutableByteSpan
    try key.secret.withSpan { (plaintext) throws(PackError) in
      try cipher.seal(plaintext, nonce: nonce.byteSpan, into: &target)
    }
    self.bytes = bytes + nonce + sealed
    self.edition = edition
    holderID = holder.id
  }

  // MARK: Reading

  /// Reads an opener. Nothing in it is authenticated before ``open(_:with:backend:)``.
  ///
  /// - Throws: ``PackError/Code/truncated``, ``PackError/Code/damagedOpener``, or ``PackError/Code/unsupported``.
  package init(parsing bytes: [UInt8]) throws(PackError) {
    let shared = min(bytes.count, Self.magic.count)
    guard Array(bytes.prefix(shared)) == Array(Self.magic.prefix(shared)) else {
      throw Self.damaged("the file does not start like an opener")
    }
    let span = bytes.byteSpan
    var cursor = FieldCursor(at: shared, failure: .truncated)
    guard bytes.count >= Self.size else {
      throw PackError(.truncated, "opener ends at byte \(bytes.count) instead of \(Self.size)", advice: .fetchAgain)
    }
    guard bytes.count == Self.size else { throw Self.damaged("opener is \(bytes.count) bytes instead of \(Self.size)") }
    let (major, zero) = (try cursor.uint8("opener", in: span), try cursor.uint8("opener", in: span))
    let suite = try cursor.uint16("opener", in: span)
    guard major == PackHeader.major, suite == PackHeader.suite else {
      throw PackError(.unsupported, "opener has version \(major) and suite \(suite), which this build does not read", advice: .updateApp)
    }
    let reserved = try cursor.uint32("opener", in: span)
    let version = try cursor.uint64("opener", in: span)
    guard zero == 0, reserved == 0, version <= Limits.packVersion else { throw Self.damaged("opener has a field that no writer makes") }
    edition = Edition(
      version: version, packID: try cursor.bytes("opener", count: 32, in: span), sha256: try cursor.bytes("opener", count: 32, in: span))
    holderID = KeyID(try cursor.bytes("opener", count: KeyID.size, in: span))
    self.bytes = bytes
  }

  /// Unwraps the key of the edition.
  ///
  /// - Parameters:
  ///   - wanted: the id of the key that the pack was made with.
  ///   - holder: the pack's key.
  /// - Throws: ``PackError/Code/wrongKey`` for another key than the one it is wrapped for, ``PackError/Code/damagedOpener`` if it was changed, or is not
  ///   the one that a writer makes.
  package func open(
    _ wanted: KeyID, with holder: borrowing PackKey, backend: any CryptoBackend = CryptoBackends.standard
  ) throws(PackError) -> PackKey {
    guard holder.id == holderID, holder.kind == .application else {
      throw PackError(
        .wrongKey, "opener is for key \(holderID), but the key given is \(holder.id)", advice: .giveKey(holderID))
    }
    let (context, nonce) = (Array(bytes[Self.context]), Array(bytes[Self.nonce]))
    let cipher = try backend.makeCipher(key: Self.wrappingKey(of: holder, context, backend: backend))
    var secret = SecretBytes(count: PackKey.size)
    let sealed = Array(bytes[Self.sealed])
    do throws(PackError) {
      try secret.withMutableSpan { (plaintext) throws(PackError) in
        try cipher.open(sealed.byteSpan, nonce: nonce.byteSpan, into: &plaintext)
      }
    } catch {
      guard error.code == .authenticationFailed else { throw error }
      throw Self.damaged("opener was changed after it was made: it does not open")
    }
    guard try Self.nonce(of: secret, context, backend: backend) == nonce else {
      throw Self.damaged("opener has a nonce that is not derived from its key")
    }
    let key = try PackKey(secret: secret, backend: backend)
    guard key.id == wanted else { throw Self.damaged("opener has key \(key.id), but the pack was made with key \(wanted)") }
    return key
  }

  private static func damaged(_ fault: String) -> PackError { PackError(.damagedOpener, fault, advice: .fetchAgain) }

  private static func wrappingKey(
    of holder: borrowing PackKey, _ context: [UInt8], backend: any CryptoBackend
  ) throws(PackError) -> SecretBytes {
    try backend.derive(.opener, from: holder.secret, context: context, count: GCM.keySize)
  }

  /// Derives the nonce from what is wrapped: one wrapping key may serve several edition keys if root keys with the same pack key differ.
  private static func nonce(
    of key: borrowing SecretBytes, _ context: [UInt8], backend: any CryptoBackend
  ) throws(PackError) -> [UInt8] {
    let nonce = try backend.derive(.openerNonce, from: key, context: context, count: GCM.nonceSize)
    return nonce.withSpan { [UInt8](copying: $0) }
  }
}
