#if canImport(COpenSSL)
  import COpenSSL

  /// The operations implemented with the EVP interface of OpenSSL 3.
  final class OpenSSLBackend: CryptoBackend {
    var name: String { unsafe OpenSSL_version(OPENSSL_VERSION).map { unsafe String(cString: $0) } ?? "OpenSSL" }

    func makeDigest() throws(PackError) -> any DigestContext {
      try OpenSSLDigestContext(OpenSSLAlgorithms.shared.get())
    }

    func makeCipher(key: borrowing SecretBytes) throws(PackError) -> any CipherContext {
      try OpenSSLCipherContext(key: key, OpenSSLAlgorithms.shared.get())
    }

    func authenticationCode(of message: Span<UInt8>, key: borrowing SecretBytes) throws(PackError) -> [UInt8] {
      let algorithms = try OpenSSLAlgorithms.shared.get()
      let context = try unsafe OpenSSLObject(EVP_MAC_CTX_new(algorithms.mac.raw), "an HMAC context") {
        unsafe EVP_MAC_CTX_free($0)
      }
      var code = [UInt8](repeating: 0, count: DigestSize.sha256)
      let status = unsafe "SHA256".withMutableCString { hash in
        var parameters = unsafe [
          OSSL_PARAM_construct_utf8_string(ParameterName.digest, hash, 0), OSSL_PARAM_construct_end(),
        ]
        return key.withSpan { key in
          unsafe key.withUnsafeBufferPointer { key in
            unsafe EVP_MAC_init(context.raw, key.baseAddress, key.count, &parameters)
          }
        }
      }
      try OpenSSLFailure.check(status, "start HMAC-SHA256")
      if !message.isEmpty {
        let status = unsafe message.withUnsafeBufferPointer {
          unsafe EVP_MAC_update(context.raw, $0.baseAddress, $0.count)
        }
        try OpenSSLFailure.check(status, "compute HMAC-SHA256")
      }
      var written = 0
      try OpenSSLFailure.check(
        unsafe EVP_MAC_final(context.raw, &code, &written, code.count), "finish HMAC-SHA256")
      return code
    }

    func derive(
      from secret: borrowing SecretBytes, salt: Span<UInt8>, info: Span<UInt8>, count: Int
    ) throws(PackError) -> SecretBytes {
      try HKDFLimit.check(count)
      let algorithms = try OpenSSLAlgorithms.shared.get()
      let context = try unsafe OpenSSLObject(EVP_KDF_CTX_new(algorithms.kdf.raw), "an HKDF context") {
        unsafe EVP_KDF_CTX_free($0)
      }
      var output = SecretBytes(count: count)
      let status = unsafe "SHA256".withMutableCString { hash in
        secret.withSpan { secret in
          unsafe secret.withUnsafeBufferPointer { secret in
            unsafe salt.withUnsafeBufferPointer { salt in
              unsafe info.withUnsafeBufferPointer { info in
                var parameters = unsafe [
                  OSSL_PARAM_construct_utf8_string(ParameterName.digest, hash, 0),
                  parameter(ParameterName.key, secret),
                ]
                // OpenSSL treats a missing salt as zeros, and a missing info as an empty one.
                if salt.count > 0 { unsafe parameters.append(parameter(ParameterName.salt, salt)) }
                if info.count > 0 { unsafe parameters.append(parameter(ParameterName.info, info)) }
                unsafe parameters.append(OSSL_PARAM_construct_end())
                return output.withMutableSpan { output in
                  unsafe output.withUnsafeMutableBufferPointer {
                    unsafe EVP_KDF_derive(context.raw, $0.baseAddress, $0.count, &parameters)
                  }
                }
              }
            }
          }
        }
      }
      try OpenSSLFailure.check(status, "derive a key")
      return output
    }

    func signingPublicKey(ofSeed seed: borrowing SecretBytes) throws(PackError) -> [UInt8] {
      let key = try privateKey(seed)
      var bytes = [UInt8](repeating: 0, count: Ed25519.publicKeySize)
      var count = bytes.count
      try OpenSSLFailure.check(unsafe EVP_PKEY_get_raw_public_key(key.raw, &bytes, &count), "get a public key")
      return bytes
    }

    func signature(of message: Span<UInt8>, seed: borrowing SecretBytes) throws(PackError) -> [UInt8] {
      let key = try privateKey(seed)
      let context = try unsafe OpenSSLObject(EVP_MD_CTX_new(), "a signing context") { unsafe EVP_MD_CTX_free($0) }
      try OpenSSLFailure.check(unsafe EVP_DigestSignInit(context.raw, nil, nil, nil, key.raw), "start Ed25519")
      var signature = [UInt8](repeating: 0, count: Ed25519.signatureSize)
      var count = signature.count
      let status = unsafe message.withUnsafeBufferPointer { message in
        unsafe EVP_DigestSign(context.raw, &signature, &count, message.baseAddress, message.count)
      }
      try OpenSSLFailure.check(status, "sign with Ed25519")
      return signature
    }

    func isAccepted(
      _ signature: Span<UInt8>, of message: Span<UInt8>, publicKey: Span<UInt8>
    ) throws(PackError) -> Bool {
      let key = try unsafe publicKey.withUnsafeBufferPointer { (bytes) throws(PackError) in
        try unsafe OpenSSLObject(
          EVP_PKEY_new_raw_public_key_ex(nil, "ED25519", nil, bytes.baseAddress, bytes.count), "a public key"
        ) { unsafe EVP_PKEY_free($0) }
      }
      let context = try unsafe OpenSSLObject(EVP_MD_CTX_new(), "a signature context") { unsafe EVP_MD_CTX_free($0) }
      try OpenSSLFailure.check(unsafe EVP_DigestVerifyInit(context.raw, nil, nil, nil, key.raw), "start Ed25519")
      let status = unsafe signature.withUnsafeBufferPointer { signature in
        unsafe message.withUnsafeBufferPointer { message in
          unsafe EVP_DigestVerify(context.raw, signature.baseAddress, signature.count, message.baseAddress, message.count)
        }
      }
      // Any status except 1 means an invalid signature. Its errors in the thread's queue would be reported as the reason of a later failure.
      if status != 1 { ERR_clear_error() }
      return status == 1
    }

    func agreementPublicKey(of secret: borrowing SecretBytes) throws(PackError) -> [UInt8] {
      let key = try privateKey(secret, "X25519")
      var bytes = [UInt8](repeating: 0, count: X25519.keySize)
      var count = bytes.count
      try OpenSSLFailure.check(unsafe EVP_PKEY_get_raw_public_key(key.raw, &bytes, &count), "get a public key")
      return bytes
    }

    func sharedSecret(of secret: borrowing SecretBytes, with publicKey: Span<UInt8>) throws(PackError) -> SecretBytes? {
      precondition(publicKey.count == X25519.keySize)
      let key = try privateKey(secret, "X25519")
      let other = try unsafe publicKey.withUnsafeBufferPointer { (bytes) throws(PackError) in
        try unsafe OpenSSLObject(
          EVP_PKEY_new_raw_public_key_ex(nil, "X25519", nil, bytes.baseAddress, bytes.count), "a public key"
        ) { unsafe EVP_PKEY_free($0) }
      }
      let context = try unsafe OpenSSLObject(EVP_PKEY_CTX_new_from_pkey(nil, key.raw, nil), "a key exchange") {
        unsafe EVP_PKEY_CTX_free($0)
      }
      try OpenSSLFailure.check(unsafe EVP_PKEY_derive_init(context.raw), "start X25519")
      try OpenSSLFailure.check(unsafe EVP_PKEY_derive_set_peer(context.raw, other.raw), "take a public key for X25519")
      var shared = SecretBytes(count: X25519.keySize)
      let status = shared.withMutableSpan { shared in
        unsafe shared.withUnsafeMutableBufferPointer { bytes in
          var count = bytes.count
          return unsafe EVP_PKEY_derive(context.raw, bytes.baseAddress, &count)
        }
      }
      // With keys of the right size, this fails only if the result is zero.
      if status != 1 { ERR_clear_error() }
      guard status == 1, !X25519.isZero(shared) else { return nil }
      return shared
    }

    /// - Parameter algorithm: `ED25519` or `X25519`, whose secrets both have 32 bytes.
    private func privateKey(_ secret: borrowing SecretBytes, _ algorithm: String = "ED25519") throws(PackError) -> OpenSSLObject {
      precondition(secret.count == Ed25519.seedSize)
      return try secret.withSpan { (secret) throws(PackError) in
        try unsafe secret.withUnsafeBufferPointer { (bytes) throws(PackError) in
          try unsafe OpenSSLObject(
            EVP_PKEY_new_raw_private_key_ex(nil, algorithm, nil, bytes.baseAddress, bytes.count), "a private key"
          ) { unsafe EVP_PKEY_free($0) }
        }
      }
    }

    func fillRandom(_ bytes: inout MutableSpan<UInt8>) throws(PackError) {
      guard !bytes.isEmpty else { return }
      precondition(bytes.count <= Int(CInt.max))
      // The private generator: its output is never used for public values.
      let status = unsafe bytes.withUnsafeMutableBufferPointer {
        unsafe RAND_priv_bytes($0.baseAddress, CInt($0.count))
      }
      try OpenSSLFailure.check(status, "get random bytes")
    }

    /// OpenSSL's parameters are not const, but OpenSSL only reads the ones that are set.
    @unsafe
    private func parameter(_ name: UnsafePointer<CChar>, _ bytes: UnsafeBufferPointer<UInt8>) -> OSSL_PARAM {
      unsafe OSSL_PARAM_construct_octet_string(name, UnsafeMutablePointer(mutating: bytes.baseAddress), bytes.count)
    }
  }

  /// OpenSSL's names of the parameters in use. A parameter keeps the address of its name, so the name must outlive the call that makes the parameter.
  /// The address of an imported macro does not.
  private enum ParameterName {
    static var digest: UnsafePointer<CChar> { unsafe address("digest") }
    static var key: UnsafePointer<CChar> { unsafe address("key") }
    static var salt: UnsafePointer<CChar> { unsafe address("salt") }
    static var info: UnsafePointer<CChar> { unsafe address("info") }

    private static func address(_ name: StaticString) -> UnsafePointer<CChar> {
      unsafe UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
    }
  }

  extension String {
    /// Calls `body` with the text as OpenSSL requires it: not const, although it is only read.
    @unsafe
    fileprivate func withMutableCString<R>(_ body: (UnsafeMutablePointer<CChar>) -> R) -> R {
      unsafe withCString { unsafe body(UnsafeMutablePointer(mutating: $0)) }
    }
  }
#endif
