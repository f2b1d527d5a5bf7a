#if canImport(CryptoKit) || SwiftCrypto
  // CryptoKit's interface takes Foundation's protocols for bytes.
  #if canImport(CryptoKit)
    import CryptoKit
    import Foundation
  #else
    import Crypto
    import FoundationEssentials
  #endif

  /// The operations implemented with CryptoKit, or with swift-crypto on Linux.
  final class CryptoKitBackend: CryptoBackend {
    var name: String {
      #if canImport(CryptoKit)
        "CryptoKit"
      #else
        "CryptoKit (swift-crypto)"
      #endif
    }

    func makeDigest() throws(PackError) -> any DigestContext {
      CryptoKitDigestContext()
    }

    func makeCipher(key: borrowing SecretBytes) throws(PackError) -> any CipherContext {
      CryptoKitCipherContext(key: key)
    }

    func authenticationCode(of message: Span<UInt8>, key: borrowing SecretBytes) throws(PackError) -> [UInt8] {
      let key = key.symmetricKey
      return unsafe message.withUnsafeBytes { message in
        unsafe Array(HMAC<SHA256>.authenticationCode(for: message, using: key))
      }
    }

    func derive(
      from secret: borrowing SecretBytes, salt: Span<UInt8>, info: Span<UInt8>, count: Int
    ) throws(PackError) -> SecretBytes {
      try HKDFLimit.check(count)
      let secret = secret.symmetricKey
      let output = unsafe salt.withUnsafeBytes { salt in
        unsafe info.withUnsafeBytes { info in
          unsafe HKDF<SHA256>.deriveKey(inputKeyMaterial: secret, salt: salt, info: info, outputByteCount: count)
        }
      }
      var derived = SecretBytes(count: count)
      derived.withMutableSpan { derived in
        unsafe output.withUnsafeBytes { output in
          for index in output.indices {
            unsafe derived[index] = output[index]
          }
        }
      }
      return derived
    }

    func signingPublicKey(ofSeed seed: borrowing SecretBytes) throws(PackError) -> [UInt8] {
      Array(try privateKey(seed).publicKey.rawRepresentation)
    }

    func signature(of message: Span<UInt8>, seed: borrowing SecretBytes) throws(PackError) -> [UInt8] {
      let key = try privateKey(seed)
      do {
        return try unsafe message.withUnsafeBytes { try unsafe Array(key.signature(for: $0)) }
      } catch {
        throw PackError(.internalError, "CryptoKit could not sign: \(error)")
      }
    }

    func isAccepted(
      _ signature: Span<UInt8>, of message: Span<UInt8>, publicKey: Span<UInt8>
    ) throws(PackError) -> Bool {
      // The library refuses a key that is not a point on the curve here or later.
      guard
        let key = unsafe publicKey.withUnsafeBytes({
          unsafe try? Curve25519.Signing.PublicKey(rawRepresentation: $0)
        })
      else { return false }
      return unsafe signature.withUnsafeBytes { signature in
        unsafe message.withUnsafeBytes { unsafe key.isValidSignature(signature, for: $0) }
      }
    }

    private func privateKey(_ seed: borrowing SecretBytes) throws(PackError) -> Curve25519.Signing.PrivateKey {
      precondition(seed.count == Ed25519.seedSize)
      do {
        return try seed.withSpan { seed in
          try unsafe seed.withUnsafeBytes { try unsafe Curve25519.Signing.PrivateKey(rawRepresentation: $0) }
        }
      } catch {
        throw PackError(.internalError, "CryptoKit could not take a signing key: \(error)")
      }
    }

    func agreementPublicKey(of secret: borrowing SecretBytes) throws(PackError) -> [UInt8] {
      Array(try agreementKey(secret).publicKey.rawRepresentation)
    }

    func sharedSecret(of secret: borrowing SecretBytes, with publicKey: Span<UInt8>) throws(PackError) -> SecretBytes? {
      precondition(publicKey.count == X25519.keySize)
      let key = try agreementKey(secret)
      // The library refuses a zero result on some platforms. Everything else that could fail was checked.
      guard
        let other = unsafe publicKey.withUnsafeBytes({ unsafe try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: $0) }),
        let agreed = try? key.sharedSecretFromKeyAgreement(with: other)
      else { return nil }
      var shared = SecretBytes(count: X25519.keySize)
      shared.withMutableSpan { shared in
        unsafe agreed.withUnsafeBytes { agreed in
          for index in agreed.indices { unsafe shared[index] = agreed[index] }
        }
      }
      guard !X25519.isZero(shared) else { return nil }
      return shared
    }

    private func agreementKey(_ secret: borrowing SecretBytes) throws(PackError) -> Curve25519.KeyAgreement.PrivateKey {
      precondition(secret.count == X25519.keySize)
      do {
        return try secret.withSpan { secret in
          try unsafe secret.withUnsafeBytes { try unsafe Curve25519.KeyAgreement.PrivateKey(rawRepresentation: $0) }
        }
      } catch {
        throw PackError(.internalError, "CryptoKit could not take a key for X25519: \(error)")
      }
    }

    func fillRandom(_ bytes: inout MutableSpan<UInt8>) throws(PackError) {
      // The system's generator on every platform: arc4random_buf on Apple's, getrandom on Linux.
      var generator = SystemRandomNumberGenerator()
      for index in bytes.indices {
        bytes[index] = UInt8.random(in: .min ... .max, using: &generator)
      }
    }
  }

  extension SecretBytes {
    /// The secret as CryptoKit's type: a copy, which CryptoKit wipes.
    fileprivate var symmetricKey: SymmetricKey {
      withSpan { bytes in
        unsafe bytes.withUnsafeBytes { unsafe SymmetricKey(data: $0) }
      }
    }
  }

  /// A SHA-256 computation with CryptoKit.
  final class CryptoKitDigestContext: DigestContext {
    private var digest = SHA256()

    func update(_ bytes: Span<UInt8>) throws(PackError) {
      unsafe bytes.withUnsafeBytes { unsafe digest.update(bufferPointer: $0) }
    }

    func finish(into output: inout MutableSpan<UInt8>) throws(PackError) {
      precondition(output.count == DigestSize.sha256)
      unsafe digest.finalize().withUnsafeBytes { result in
        for index in result.indices {
          unsafe output[index] = result[index]
        }
      }
      digest = SHA256()
    }
  }

  /// AES-256-GCM with CryptoKit.
  final class CryptoKitCipherContext: CipherContext {
    private let key: SymmetricKey
    /// Nonce and ciphertext, the form that CryptoKit opens without copying. Reused from call to call.
    private var combined = Data()
    /// The associated data so far: CryptoKit takes it in one piece.
    private var pending = Data()
    private var pendingNonce: AES.GCM.Nonce?

    init(key: borrowing SecretBytes) {
      precondition(key.count == GCM.keySize)
      self.key = key.symmetricKey
    }

    func seal(
      _ plaintext: Span<UInt8>, nonce: Span<UInt8>, into ciphertext: inout MutableSpan<UInt8>
    ) throws(PackError) {
      precondition(ciphertext.count == plaintext.count + GCM.tagSize)
      let sealed: AES.GCM.SealedBox
      do {
        let nonce = try Self.nonce(nonce)
        sealed = try unsafe plaintext.withUnsafeBytes { try unsafe AES.GCM.seal($0, using: key, nonce: nonce) }
      } catch {
        wipe(&ciphertext)
        throw PackError(.internalError, "CryptoKit could not encrypt: \(error)")
      }
      Self.copy(sealed.ciphertext, into: &ciphertext, at: 0)
      Self.copy(sealed.tag, into: &ciphertext, at: plaintext.count)
    }

    func open(
      _ ciphertext: Span<UInt8>, nonce: Span<UInt8>, into plaintext: inout MutableSpan<UInt8>
    ) throws(PackError) {
      precondition(nonce.count == GCM.nonceSize && plaintext.count + GCM.tagSize == ciphertext.count)
      combined.removeAll(keepingCapacity: true)
      unsafe nonce.withUnsafeBytes { unsafe combined.append(contentsOf: $0) }
      unsafe ciphertext.withUnsafeBytes { unsafe combined.append(contentsOf: $0) }
      do {
        let opened = try AES.GCM.open(AES.GCM.SealedBox(combined: combined), using: key)
        Self.copy(opened, into: &plaintext, at: 0)
      } catch {
        wipe(&plaintext)
        throw GCM.refusal
      }
    }

    func beginAuthentication(nonce: Span<UInt8>) throws(PackError) {
      do {
        pendingNonce = try Self.nonce(nonce)
      } catch {
        throw PackError(.internalError, "CryptoKit could not authenticate: \(error)")
      }
      pending.removeAll(keepingCapacity: true)
    }

    func authenticate(_ associatedData: Span<UInt8>) throws(PackError) {
      unsafe associatedData.withUnsafeBytes { unsafe pending.append(contentsOf: $0) }
    }

    func finishAuthentication() throws(PackError) -> [UInt8] {
      precondition(pendingNonce != nil)
      do {
        return try Array(AES.GCM.seal(Data(), using: key, nonce: pendingNonce, authenticating: pending).tag)
      } catch {
        throw PackError(.internalError, "CryptoKit could not authenticate: \(error)")
      }
    }

    private static func nonce(_ bytes: Span<UInt8>) throws -> AES.GCM.Nonce {
      precondition(bytes.count == GCM.nonceSize)
      return try unsafe bytes.withUnsafeBytes { try unsafe AES.GCM.Nonce(data: $0) }
    }

    private static func copy(_ data: Data, into bytes: inout MutableSpan<UInt8>, at offset: Int) {
      let count = data.count
      precondition(offset + count <= bytes.count)
      unsafe bytes.withUnsafeMutableBytes { output in
        unsafe output[offset..<offset + count].copyBytes(from: data)
      }
    }
  }
#endif
