/// Wraps the file key of a pack for a recipient, and unwraps it (FORMAT.md §2.6). Equal inputs give equal stanzas.
enum KeyWrap {
  private static let fileKeySize = 32

  /// Wraps FK for someone who has `key`, an application key.
  static func seal(
    _ fileKey: borrowing SecretBytes, for key: borrowing PackKey, core: Span<UInt8>, backend: any CryptoBackend
  ) throws(PackError) -> KeyStanzas.Wrap {
    let nonce = try nonce(of: fileKey, for: key.id, core: core, backend: backend)
    let wrapping = try wrappingKey(of: key, core: core, backend: backend)
    let sealed = try seal(fileKey, wrapping, nonce: nonce, backend: backend)
    return KeyStanzas.Wrap(.symmetric, for: key.id, content: nonce + sealed)
  }

  /// Wraps FK for the holder of a public key's secret half.
  static func seal(
    _ fileKey: borrowing SecretBytes, for recipient: RecipientPublicKey, core: Span<UInt8>, backend: any CryptoBackend
  ) throws(PackError) -> KeyStanzas.Wrap {
    let secret = try ephemeralSecret(of: fileKey, for: recipient, core: core, backend: backend)
    let ephemeral = try backend.agreementPublicKey(of: secret)
    let shared = try X25519.sharedSecret(of: secret, with: recipient.bytes.byteSpan, failing: .malformedKey, backend: backend)
    let wrapping = try wrappingKey(of: shared, ephemeral: ephemeral, recipient: recipient, core: core, backend: backend)
    return KeyStanzas.Wrap(
      .x25519, for: recipient.id, content: ephemeral + (try seal(fileKey, wrapping, nonce: zeroNonce, backend: backend)))
  }

  /// Unwraps FK.
  ///
  /// - Throws: ``PackError/Code/damagedHeader`` if the stanza was changed, or is not the one that a writer makes.
  static func open(
    _ wrap: KeyStanzas.Wrap, key: borrowing PackKey, core: Span<UInt8>, backend: any CryptoBackend
  ) throws(PackError) -> SecretBytes {
    do throws(PackError) {
      guard wrap.kind == .x25519 else { return try openSymmetric(wrap, key: key, core: core, backend: backend) }
      guard let recipient = key.recipient else { preconditionFailure("a stanza for a recipient, and another kind of key") }
      return try openX25519(wrap, key: key, recipient: recipient, core: core, backend: backend)
    } catch {
      guard error.code == .authenticationFailed else { throw error }
      throw PackError(
        .damagedHeader, "key stanza for key \(wrap.keyID) was changed after it was made: it does not open", advice: .fetchAgain)
    }
  }

  private static func openSymmetric(
    _ wrap: KeyStanzas.Wrap, key: borrowing PackKey, core: Span<UInt8>, backend: any CryptoBackend
  ) throws(PackError) -> SecretBytes {
    let nonce = Array(wrap.content.prefix(GCM.nonceSize))
    let wrapping = try wrappingKey(of: key, core: core, backend: backend)
    let fileKey = try open(Array(wrap.content.dropFirst(GCM.nonceSize)), wrapping, nonce: nonce, backend: backend)
    guard try Self.nonce(of: fileKey, for: key.id, core: core, backend: backend) == nonce else {
      throw PackError(.damagedHeader, "key stanza for key \(wrap.keyID) has a nonce that is not derived from the file key")
    }
    return fileKey
  }

  private static func openX25519(
    _ wrap: KeyStanzas.Wrap, key: borrowing PackKey, recipient: RecipientPublicKey, core: Span<UInt8>, backend: any CryptoBackend
  ) throws(PackError) -> SecretBytes {
    let ephemeral = Array(wrap.content.prefix(X25519.keySize))
    let shared = try X25519.sharedSecret(of: key.secret, with: ephemeral.byteSpan, failing: .damagedHeader, backend: backend)
    let wrapping = try wrappingKey(of: shared, ephemeral: ephemeral, recipient: recipient, core: core, backend: backend)
    let fileKey = try open(Array(wrap.content.dropFirst(X25519.keySize)), wrapping, nonce: zeroNonce, backend: backend)
    let secret = try ephemeralSecret(of: fileKey, for: recipient, core: core, backend: backend)
    guard try backend.agreementPublicKey(of: secret) == ephemeral else {
      throw PackError(.damagedHeader, "key stanza for key \(wrap.keyID) has an ephemeral key that is not derived from the file key")
    }
    return fileKey
  }

  /// The nonce under a wrapping key that serves one stanza only.
  private static let zeroNonce = [UInt8](repeating: 0, count: GCM.nonceSize)

  /// Derives the nonce of WRAP-SYM from what is wrapped: one wrapping key may serve several FKs if headers with the same core were made with
  /// different keys.
  private static func nonce(
    of fileKey: borrowing SecretBytes, for id: KeyID, core: Span<UInt8>, backend: any CryptoBackend
  ) throws(PackError) -> [UInt8] {
    let nonce = try backend.derive(
      .wrapSymmetricNonce, from: fileKey, salt: core.extracting(KeySchedule.saltRange), context: id.bytes, count: GCM.nonceSize)
    return nonce.withSpan { [UInt8](copying: $0) }
  }

  private static func wrappingKey(
    of key: borrowing PackKey, core: Span<UInt8>, backend: any CryptoBackend
  ) throws(PackError) -> SecretBytes {
    try backend.derive(
      .wrapSymmetric, from: key.secret, salt: core.extracting(KeySchedule.saltRange), context: [UInt8](copying: core), count: GCM.keySize)
  }

  private static func ephemeralSecret(
    of fileKey: borrowing SecretBytes, for recipient: RecipientPublicKey, core: Span<UInt8>, backend: any CryptoBackend
  ) throws(PackError) -> SecretBytes {
    try backend.derive(
      .wrapEphemeral, from: fileKey, salt: core.extracting(KeySchedule.saltRange), context: recipient.bytes, count: X25519.keySize)
  }

  private static func wrappingKey(
    of shared: borrowing SecretBytes, ephemeral: [UInt8], recipient: RecipientPublicKey, core: Span<UInt8>, backend: any CryptoBackend
  ) throws(PackError) -> SecretBytes {
    try backend.derive(
      .wrapX25519, from: shared, salt: core.extracting(KeySchedule.saltRange),
      context: [UInt8](copying: core) + ephemeral + recipient.bytes, count: GCM.keySize)
  }

  private static func seal(
    _ fileKey: borrowing SecretBytes, _ wrapping: borrowing SecretBytes, nonce: [UInt8], backend: any CryptoBackend
  ) throws(PackError) -> [UInt8] {
    let cipher = try backend.makeCipher(key: wrapping)
    var sealed = [UInt8](repeating: 0, count: fileKeySize + GCM.tagSize)
    var target = sealed.mutableByteSpan
    try fileKey.withSpan { (plaintext) throws(PackError) in
      try cipher.seal(plaintext, nonce: nonce.byteSpan, into: &target)
    }
    return sealed
  }

  private static func open(
    _ sealed: [UInt8], _ wrapping: borrowing SecretBytes, nonce: [UInt8], backend: any CryptoBackend
  ) throws(PackError) -> SecretBytes {
    let cipher = try backend.makeCipher(key: wrapping)
    var fileKey = SecretBytes(count: fileKeySize)
    try fileKey.withMutableSpan { (plaintext) throws(PackError) in
      try cipher.open(sealed.byteSpan, nonce: nonce.byteSpan, into: &plaintext)
    }
    return fileKey
  }
}
