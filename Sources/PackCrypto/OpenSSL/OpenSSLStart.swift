#if canImport(COpenSSL)
  import COpenSSL
#endif

/// The start of the process's crypto library.
package enum CryptoLibrary {
  /// Starts OpenSSL with only what the suite needs, before its first use. By default OpenSSL reads the system's configuration and registers every
  /// algorithm by name, which costs a short-lived tool as much as its work.
  ///
  /// Only a program that owns its process may call this. A library must not change how its host starts OpenSSL.
  package static func startForSuite() {
    #if canImport(COpenSSL)
      // If this fails, the first operation reports it.
      _ = OPENSSL_init_crypto(
        UInt64(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ADD_ALL_CIPHERS | OPENSSL_INIT_NO_ADD_ALL_DIGESTS), nil)
    #endif
  }
}
