/// The cryptographic operations that packs need, implemented with one library.
///
/// A value may be used from any thread. Each context it makes may be used by one worker at a time.
package protocol CryptoBackend: AnyObject, Sendable {
  /// The name and version of the library, for people.
  var name: String { get }

  /// Makes a reusable SHA-256 context.
  func makeDigest() throws(PackError) -> any DigestContext

  /// Makes an AES-256-GCM context for a key of exactly 32 bytes.
  func makeCipher(key: borrowing SecretBytes) throws(PackError) -> any CipherContext

  /// Returns the HMAC-SHA256 of a message, 32 bytes.
  func authenticationCode(of message: Span<UInt8>, key: borrowing SecretBytes) throws(PackError) -> [UInt8]

  /// Derives a key with HKDF-SHA256 (extract and expand). An empty salt means HKDF's default of 32 zero bytes.
  ///
  /// - Throws: ``PackError/Code/internalError`` if `count` is not from 1 to 8160, the most that HKDF-SHA256 can produce.
  func derive(
    from secret: borrowing SecretBytes, salt: Span<UInt8>, info: Span<UInt8>, count: Int
  ) throws(PackError) -> SecretBytes

  /// Returns the public key of an Ed25519 seed of exactly 32 bytes.
  func signingPublicKey(ofSeed seed: borrowing SecretBytes) throws(PackError) -> [UInt8]

  /// Returns the Ed25519 signature of a message (RFC 8032, pure), 64 bytes. CryptoKit on Apple platforms returns a different one each time; each is
  /// valid.
  func signature(of message: Span<UInt8>, seed: borrowing SecretBytes) throws(PackError) -> [UInt8]

  /// Whether the library accepts a signature of 64 bytes under a public key of 32 bytes.
  ///
  /// Libraries differ in the encodings they accept. ``Ed25519/isValid(_:of:publicKey:backend:)`` refuses those encodings first.
  func isAccepted(
    _ signature: Span<UInt8>, of message: Span<UInt8>, publicKey: Span<UInt8>
  ) throws(PackError) -> Bool

  /// Returns the X25519 public key of a secret of exactly 32 bytes (RFC 7748).
  func agreementPublicKey(of secret: borrowing SecretBytes) throws(PackError) -> [UInt8]

  /// Returns the X25519 shared secret of a secret and a public key of exactly 32 bytes each. Returns nil if it is zero: the public key is of small
  /// order, and anyone knows the result.
  func sharedSecret(of secret: borrowing SecretBytes, with publicKey: Span<UInt8>) throws(PackError) -> SecretBytes?

  /// Fills a buffer from the system's cryptographic random source.
  func fillRandom(_ bytes: inout MutableSpan<UInt8>) throws(PackError)
}

/// A SHA-256 computation, owned by one worker.
package protocol DigestContext: AnyObject {
  /// Adds bytes to the message.
  func update(_ bytes: Span<UInt8>) throws(PackError)

  /// Writes the digest, 32 bytes, and resets the context.
  func finish(into digest: inout MutableSpan<UInt8>) throws(PackError)
}

extension DigestContext {
  /// Returns the digest, 32 bytes, and resets the context.
  package func finish() throws(PackError) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: DigestSize.sha256)
    var span = digest.mutableByteSpan
    try finish(into: &span)
    return digest
  }
}

/// AES-256-GCM under one key, owned by one worker.
///
/// A nonce must have 12 bytes and a tag 16 bytes; other lengths are programming errors.
package protocol CipherContext: AnyObject {
  /// Encrypts, and appends the tag: `ciphertext` must be exactly 16 bytes longer than `plaintext`.
  func seal(
    _ plaintext: Span<UInt8>, nonce: Span<UInt8>, into ciphertext: inout MutableSpan<UInt8>
  ) throws(PackError)

  /// Checks the tag and decrypts: `plaintext` must be exactly 16 bytes shorter than `ciphertext`.
  ///
  /// - Throws: ``PackError/Code/authenticationFailed`` if the ciphertext was changed. `plaintext` then contains zeros.
  func open(
    _ ciphertext: Span<UInt8>, nonce: Span<UInt8>, into plaintext: inout MutableSpan<UInt8>
  ) throws(PackError)

  /// Begins a tag of associated data only (GMAC). The context cannot be used for anything else until it is finished.
  func beginAuthentication(nonce: Span<UInt8>) throws(PackError)

  /// Adds bytes to the associated data.
  func authenticate(_ associatedData: Span<UInt8>) throws(PackError)

  /// Returns the tag, 16 bytes.
  func finishAuthentication() throws(PackError) -> [UInt8]
}

extension CipherContext {
  /// Returns the 16-byte tag of associated data only (GMAC).
  package func authenticate(_ associatedData: Span<UInt8>, nonce: Span<UInt8>) throws(PackError) -> [UInt8] {
    try beginAuthentication(nonce: nonce)
    try authenticate(associatedData)
    return try finishAuthentication()
  }
}

/// The back ends of this build.
package enum CryptoBackends {
  /// The default back end: OpenSSL on Linux, CryptoKit on Apple platforms, WebCrypto in browsers.
  package static var standard: any CryptoBackend { all[0] }

  /// Every back end of this build, the standard one first.
  package static let all: [any CryptoBackend] = {
    var all: [any CryptoBackend] = []
    #if canImport(COpenSSL)
      all.append(OpenSSLBackend())
    #endif
    #if canImport(CryptoKit) || SwiftCrypto
      all.append(CryptoKitBackend())
    #endif
    #if arch(wasm32)
      all.append(HostBackend())
    #endif
    return all
  }()
}

enum DigestSize {
  /// The length of a SHA-256 digest in bytes.
  static let sha256 = 32
}

enum GCM {
  static let keySize = 32
  static let nonceSize = 12
  static let tagSize = SegmentLayout.tagSize

  /// The error that every back end throws if a tag does not match. Callers replace it with one that names the place.
  static let refusal = PackError(.authenticationFailed, "ciphertext fails authentication")
}

enum HKDFLimit {
  /// RFC 5869 gives at most 255 blocks of the hash.
  static let outputSize = 255 * DigestSize.sha256

  static func check(_ count: Int) throws(PackError) {
    guard count > 0, count <= outputSize else {
      throw PackError(.internalError, "HKDF-SHA256 was asked for \(count) bytes, but can produce 1 to \(outputSize)")
    }
  }
}
