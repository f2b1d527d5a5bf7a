#if canImport(COpenSSL)
  import COpenSSL
#endif

/// How the process's own crypto library is started.
package enum CryptoLibrary {
  /// Starts OpenSSL with what the suite needs, before its first use. What it does by itself costs a tool that ends soon as much as its
  /// work does: it reads the system's configuration and lists every algorithm that it knows by name.
  ///
  /// This is for a program that owns its process. Where the process is somebody else's, OpenSSL's start is theirs to choose.
  package static func startForSuite() {
    #if canImport(COpenSSL)
      // A failure is told by the first operation.
      _ = OPENSSL_init_crypto(
        UInt64(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ADD_ALL_CIPHERS | OPENSSL_INIT_NO_ADD_ALL_DIGESTS), nil)
    #endif
  }
}
