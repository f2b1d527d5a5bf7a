#if canImport(COpenSSL)
  import COpenSSL
  import PackFormat

  /// The operations as OpenSSL 3 offers them, through its EVP interface.
  struct OpenSSLBackend: CryptoBackend {
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
      var parameters = unsafe [
        OSSL_PARAM_construct_utf8_string(OpenSSLText.digest, OpenSSLText.sha256, 0), OSSL_PARAM_construct_end(),
      ]
      let status = key.withSpan { key in
        unsafe key.withUnsafeBufferPointer { key in
          unsafe EVP_MAC_init(context.raw, key.baseAddress, key.count, &parameters)
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
      let status = secret.withSpan { secret in
        unsafe secret.withUnsafeBufferPointer { secret in
          unsafe salt.withUnsafeBufferPointer { salt in
            unsafe info.withUnsafeBufferPointer { info in
              var parameters = unsafe [
                OSSL_PARAM_construct_utf8_string(OpenSSLText.digest, OpenSSLText.sha256, 0),
                parameter(OpenSSLText.key, secret),
              ]
              // OpenSSL takes a missing salt for zeros, and a missing info for an empty one.
              if salt.count > 0 { unsafe parameters.append(parameter(OpenSSLText.salt, salt)) }
              if info.count > 0 { unsafe parameters.append(parameter(OpenSSLText.info, info)) }
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
      try OpenSSLFailure.check(status, "derive a key")
      return output
    }

    func fillRandom(_ bytes: inout MutableSpan<UInt8>) throws(PackError) {
      guard !bytes.isEmpty else { return }
      precondition(bytes.count <= Int(CInt.max))
      // The private generator: what it gives out never leaves the process by another way.
      let status = unsafe bytes.withUnsafeMutableBufferPointer {
        unsafe RAND_priv_bytes($0.baseAddress, CInt($0.count))
      }
      try OpenSSLFailure.check(status, "get random bytes")
    }

    /// OpenSSL's parameters are not const, but it only reads those that are set.
    @unsafe
    private func parameter(_ name: UnsafePointer<CChar>, _ bytes: UnsafeBufferPointer<UInt8>) -> OSSL_PARAM {
      unsafe OSSL_PARAM_construct_octet_string(name, UnsafeMutablePointer(mutating: bytes.baseAddress), bytes.count)
    }
  }
#endif
