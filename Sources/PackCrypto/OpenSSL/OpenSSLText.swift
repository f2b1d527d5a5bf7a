#if canImport(COpenSSL)
  import COpenSSL

  /// C strings that OpenSSL's parameters point to.
  ///
  /// A parameter keeps the pointer it is made from, while a Swift string lends one for a single call only. So each text is copied
  /// once and kept for as long as the process runs.
  @safe
  enum OpenSSLText {
    nonisolated(unsafe) static let digest = unsafe permanent(OSSL_KDF_PARAM_DIGEST)
    nonisolated(unsafe) static let key = unsafe permanent(OSSL_KDF_PARAM_KEY)
    nonisolated(unsafe) static let salt = unsafe permanent(OSSL_KDF_PARAM_SALT)
    nonisolated(unsafe) static let info = unsafe permanent(OSSL_KDF_PARAM_INFO)
    nonisolated(unsafe) static let sha256 = unsafe permanent("SHA256")

    private static func permanent(_ text: String) -> UnsafeMutablePointer<CChar> {
      guard let copy = unsafe CRYPTO_strdup(text, nil, 0) else { fatalError("out of memory for a name") }
      return unsafe copy
    }
  }
#endif
