#if canImport(COpenSSL)
  import COpenSSL

  /// The algorithms of the suite, fetched once because a fetch costs as much as a small segment.
  ///
  /// OpenSSL allows any thread to use fetched algorithms. They are not changed after they were fetched.
  final class OpenSSLAlgorithms: @unchecked Sendable {
    let cipher: OpenSSLObject
    let digest: OpenSSLObject
    let mac: OpenSSLObject
    let kdf: OpenSSLObject

    static let shared: Result<OpenSSLAlgorithms, PackError> = Result { () throws(PackError) in
      try OpenSSLAlgorithms()
    }

    private init() throws(PackError) {
      let cipher = try unsafe OpenSSLObject(EVP_CIPHER_fetch(nil, "AES-256-GCM", nil), "AES-256-GCM") {
        unsafe EVP_CIPHER_free($0)
      }
      let digest = try unsafe OpenSSLObject(EVP_MD_fetch(nil, "SHA256", nil), "SHA-256") { unsafe EVP_MD_free($0) }
      let mac = try unsafe OpenSSLObject(EVP_MAC_fetch(nil, "HMAC", nil), "HMAC") { unsafe EVP_MAC_free($0) }
      let kdf = try unsafe OpenSSLObject(EVP_KDF_fetch(nil, "HKDF", nil), "HKDF") { unsafe EVP_KDF_free($0) }
      self.cipher = cipher
      self.digest = digest
      self.mac = mac
      self.kdf = kdf
    }
  }
#endif
