import CWeb

/// Secret bytes, or a key that stays with the host: WebCrypto has it, and does not give it away.
@safe
package struct SecretBytes: ~Copyable, @unchecked Sendable {
  /// The number of bytes.
  package let count: Int
  /// The host's number of the key; nil if the bytes are here.
  let key: Int?
  // Not an array, of which a copy would be wiped.
  private let bytes: UnsafeMutableBufferPointer<UInt8>

  /// Makes `count` zero bytes.
  package init(count: Int) {
    (self.count, key) = (count, nil)
    unsafe bytes = .allocate(capacity: count)
    unsafe bytes.initialize(repeating: 0)
  }

  /// Copies `bytes`. The caller must wipe its own bytes.
  package init(copying bytes: Span<UInt8>) {
    self.init(count: bytes.count)
    for index in bytes.indices { unsafe self.bytes[index] = bytes[index] }
  }

  /// - Parameter key: the host's number of a key.
  init(key: Int, count: Int) {
    (self.count, self.key) = (count, key)
    unsafe bytes = .allocate(capacity: 0)
  }

  deinit {
    unsafe packer_wipe(bytes.baseAddress, bytes.count)
    unsafe bytes.deallocate()
  }

  /// Returns the same bytes in memory of their own, or the same key.
  package borrowing func copy() -> SecretBytes { key.map { SecretBytes(key: $0, count: count) } ?? withSpan { SecretBytes(copying: $0) } }

  /// Calls `body` with the bytes: with none if the host has them.
  package borrowing func withSpan<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
    try unsafe body(Span(_unsafeElements: UnsafeBufferPointer(bytes)))
  }

  /// Calls `body` with the bytes for writing.
  package mutating func withMutableSpan<R: ~Copyable, E: Error>(_ body: (inout MutableSpan<UInt8>) throws(E) -> R) throws(E) -> R {
    var span = unsafe MutableSpan(_unsafeElements: bytes)
    return try body(&span)
  }
}

/// Overwrites a buffer with zeros.
package func wipe(_ bytes: inout [UInt8]) {
  unsafe bytes.withUnsafeMutableBytes { unsafe packer_wipe($0.baseAddress, $0.count) }
}

/// Overwrites memory with zeros.
package func wipe(_ bytes: inout MutableSpan<UInt8>) {
  unsafe bytes.withUnsafeMutableBytes { unsafe packer_wipe($0.baseAddress, $0.count) }
}

/// The host's cryptography, which ``Conversation`` asks for. SHA-256 is computed here, because WebCrypto takes whole messages.
final class HostBackend: CryptoBackend {
  var name: String { "WebCrypto" }

  func makeDigest() throws(PackError) -> any DigestContext { SHA256() }

  func makeCipher(key: borrowing SecretBytes) throws(PackError) -> any CipherContext { HostCipher(Self.text(of: key)) }

  func authenticationCode(of message: Span<UInt8>, key: borrowing SecretBytes) throws(PackError) -> [UInt8] {
    let code = try Self.ask("hmac", Self.text(of: key)) { $0.hex("message", message) }
    guard case .bytes(let code) = code else { throw Self.missing("HMAC") }
    return code
  }

  func derive(
    from secret: borrowing SecretBytes, salt: Span<UInt8>, info: Span<UInt8>, count: Int
  ) throws(PackError) -> SecretBytes {
    try HKDFLimit.check(count)
    let use = Self.use(ofInfo: info)
    let answer = try Self.ask("derive", Self.text(of: secret)) { text in
      text.hex("salt", salt)
      text.hex("info", info)
      text.integer("count", UInt64(count))
      text.string("use", use)
    }
    switch answer {
    case .bytes(let bytes): return SecretBytes(copying: bytes.byteSpan)
    case .key(let key): return SecretBytes(key: key, count: count)
    case .refused: throw Self.missing("HKDF")
    }
  }

  /// What is derived, by its label: a key of one algorithm, or bytes that are in the pack for everybody to read.
  private static func use(ofInfo info: Span<UInt8>) -> String {
    let label = Label.allCases.first { label in
      let bytes = label.bytes
      return info.count >= bytes.count && equal(info.extracting(first: bytes.count), bytes.byteSpan)
    }
    return switch label {
    case .packKey, .fileKey, .streamKey: "HKDF"
    case .headerMAC: "HMAC"
    case .wrapEphemeral: "X25519"
    // Tink's derivation has no label.
    case .wrapSymmetric, .wrapX25519, nil: "AES-GCM"
    default: "bytes"
    }
  }

  func signingPublicKey(ofSeed seed: borrowing SecretBytes) throws(PackError) -> [UInt8] { throw Self.missing("signing") }

  func signature(of message: Span<UInt8>, seed: borrowing SecretBytes) throws(PackError) -> [UInt8] { throw Self.missing("signing") }

  func isAccepted(_ signature: Span<UInt8>, of message: Span<UInt8>, publicKey: Span<UInt8>) throws(PackError) -> Bool {
    let answer = try Self.ask("verify", nil) { text in
      text.hex("publicKey", publicKey)
      text.hex("signature", signature)
      text.hex("message", message)
    }
    if case .refused = answer { return false }
    return true
  }

  func agreementPublicKey(of secret: borrowing SecretBytes) throws(PackError) -> [UInt8] {
    guard case .bytes(let key) = try Self.ask("public", Self.text(of: secret), { _ in }) else { throw Self.missing("X25519") }
    return key
  }

  func sharedSecret(of secret: borrowing SecretBytes, with publicKey: Span<UInt8>) throws(PackError) -> SecretBytes? {
    let answer = try Self.ask("agree", Self.text(of: secret)) { $0.hex("publicKey", publicKey) }
    return switch answer {
    case .bytes(let bytes): SecretBytes(copying: bytes.byteSpan)
    case .key(let key): SecretBytes(key: key, count: X25519.keySize)
    case .refused: nil
    }
  }

  func fillRandom(_ bytes: inout MutableSpan<UInt8>) throws(PackError) { throw Self.missing("random bytes") }

  private static func missing(_ operation: String) -> PackError {
    PackError(.internalError, "the host has no \(operation)")
  }

  /// A key as the host knows it: its number, or its bytes in hexadecimal.
  static func text(of secret: borrowing SecretBytes) -> String { secret.key.map { "#\($0)" } ?? secret.withSpan { $0.hex } }

  static func ask(_ operation: String, _ key: String?, _ fields: (inout CanonicalWriter) -> Void) throws(PackError) -> Conversation.Answer {
    guard let conversation = Conversation.running.conversation else { throw missing(operation) }
    return try conversation.ask(
      CanonicalWriter { text in
        text.string("op", operation)
        if let key { text.string("key", key) }
        fields(&text)
      })
  }
}

/// AES-256-GCM of the host, for wrapped keys. Segments are opened by the host before they come here.
private final class HostCipher: CipherContext {
  private let key: String

  init(_ key: String) {
    self.key = key
  }

  func open(_ ciphertext: Span<UInt8>, nonce: Span<UInt8>, into plaintext: inout MutableSpan<UInt8>) throws(PackError) {
    let answer = try HostBackend.ask("open", key) { text in
      text.hex("nonce", nonce)
      text.hex("ciphertext", ciphertext)
    }
    guard case .bytes(let bytes) = answer, bytes.count == plaintext.count else { throw GCM.refusal }
    copy(bytes.byteSpan, to: &plaintext)
  }

  func seal(_ plaintext: Span<UInt8>, nonce: Span<UInt8>, into ciphertext: inout MutableSpan<UInt8>) throws(PackError) {
    throw PackError(.internalError, "nothing is encrypted here")
  }

  func beginAuthentication(nonce: Span<UInt8>) throws(PackError) { throw PackError(.internalError, "nothing is encrypted here") }
  func authenticate(_ associatedData: Span<UInt8>) throws(PackError) {}
  func finishAuthentication() throws(PackError) -> [UInt8] { [] }
}

extension Span<UInt8> {
  /// The bytes in lower-case hexadecimal.
  var hex: String { [UInt8](copying: self).hex }
}
