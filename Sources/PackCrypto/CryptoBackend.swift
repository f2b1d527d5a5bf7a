package import PackFormat

/// The cryptographic operations a pack needs, as one library offers them.
///
/// A value may be used from any thread. The contexts it makes belong to one worker at a time.
package protocol CryptoBackend: Sendable {
  /// The library and its version, for people.
  var name: String { get }

  /// A reusable SHA-256.
  func makeDigest() throws(PackError) -> any DigestContext

  /// AES-256-GCM under a key of exactly 32 bytes.
  func makeCipher(key: borrowing SecretBytes) throws(PackError) -> any CipherContext

  /// HMAC-SHA256 of a message, 32 bytes.
  func authenticationCode(of message: Span<UInt8>, key: borrowing SecretBytes) throws(PackError) -> [UInt8]

  /// HKDF-SHA256, extract and expand. An empty salt stands for HKDF's default of 32 zero bytes.
  ///
  /// - Throws: ``PackError/Code/internalError`` where `count` is beyond the 8160 bytes that HKDF-SHA256 can give.
  func derive(
    from secret: borrowing SecretBytes, salt: Span<UInt8>, info: Span<UInt8>, count: Int
  ) throws(PackError) -> SecretBytes

  /// The public key of an Ed25519 seed of exactly 32 bytes.
  func signingPublicKey(ofSeed seed: borrowing SecretBytes) throws(PackError) -> [UInt8]

  /// The Ed25519 signature of a message (RFC 8032, pure), 64 bytes. CryptoKit on Apple platforms makes another one each time; every one holds.
  func signature(of message: Span<UInt8>, seed: borrowing SecretBytes) throws(PackError) -> [UInt8]

  /// Whether the library takes a signature of 64 bytes under a public key of 32.
  ///
  /// Libraries differ in the encodings they take: ``Ed25519/isValid(_:of:publicKey:backend:)`` refuses all those first.
  func isAccepted(
    _ signature: Span<UInt8>, of message: Span<UInt8>, publicKey: Span<UInt8>
  ) throws(PackError) -> Bool

  /// Fills a buffer from the system's cryptographic random source.
  func fillRandom(_ bytes: inout MutableSpan<UInt8>) throws(PackError)
}

/// A running SHA-256, owned by one worker.
package protocol DigestContext: AnyObject {
  /// Takes more of the message.
  func update(_ bytes: Span<UInt8>) throws(PackError)

  /// Writes the 32 bytes of the digest and starts anew.
  func finish(into digest: inout MutableSpan<UInt8>) throws(PackError)
}

extension DigestContext {
  /// The 32 bytes of the digest; the context starts anew.
  package func finish() throws(PackError) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: DigestSize.sha256)
    var span = digest.mutableSpan
    try finish(into: &span)
    return digest
  }
}

/// AES-256-GCM under one key, owned by one worker.
///
/// A nonce has exactly 12 bytes and a tag 16; anything else is a programming error.
package protocol CipherContext: AnyObject {
  /// Encrypts, and appends the tag: `ciphertext` must be exactly 16 bytes longer than `plaintext`.
  func seal(
    _ plaintext: Span<UInt8>, nonce: Span<UInt8>, into ciphertext: inout MutableSpan<UInt8>
  ) throws(PackError)

  /// Checks the tag and decrypts: `plaintext` must be exactly 16 bytes shorter than `ciphertext`.
  ///
  /// - Throws: ``PackError/Code/authenticationFailed`` where the ciphertext is not what was sealed. `plaintext` then holds zeros.
  func open(
    _ ciphertext: Span<UInt8>, nonce: Span<UInt8>, into plaintext: inout MutableSpan<UInt8>
  ) throws(PackError)

  /// Begins the tag of associated data alone (GMAC). Until it is finished, the context does nothing else.
  func beginAuthentication(nonce: Span<UInt8>) throws(PackError)

  /// Takes more of the associated data.
  func authenticate(_ associatedData: Span<UInt8>) throws(PackError)

  /// The 16 bytes of the tag.
  func finishAuthentication() throws(PackError) -> [UInt8]
}

extension CipherContext {
  /// The 16-byte tag of associated data alone (GMAC).
  package func authenticate(_ associatedData: Span<UInt8>, nonce: Span<UInt8>) throws(PackError) -> [UInt8] {
    try beginAuthentication(nonce: nonce)
    try authenticate(associatedData)
    return try finishAuthentication()
  }
}

/// The back ends of this build.
package enum CryptoBackends {
  /// The back end that is used unless another one is named: OpenSSL on Linux, CryptoKit on Apple platforms.
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
    return all
  }()
}

enum DigestSize {
  /// Bytes of a SHA-256.
  static let sha256 = 32
}

enum GCM {
  static let keySize = 32
  static let nonceSize = 12
  static let tagSize = SegmentLayout.tagSize

  /// What every back end throws where a tag does not match; callers add the place.
  static let refusal = PackError(.authenticationFailed, "ciphertext is not what the key's holder sealed")
}

enum HKDFLimit {
  /// RFC 5869 gives at most 255 blocks of the hash.
  static let outputSize = 255 * DigestSize.sha256

  static func check(_ count: Int) throws(PackError) {
    guard count > 0, count <= outputSize else {
      throw PackError(.internalError, "HKDF-SHA256 was asked for \(count) bytes, and gives 1 to \(outputSize)")
    }
  }
}
