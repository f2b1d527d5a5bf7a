#if canImport(COpenSSL)
  import COpenSSL

  /// A SHA-256 computation with OpenSSL.
  final class OpenSSLDigestContext: DigestContext {
    private let context: OpenSSLObject
    private let algorithms: OpenSSLAlgorithms

    init(_ algorithms: OpenSSLAlgorithms) throws(PackError) {
      let context = try unsafe OpenSSLObject(EVP_MD_CTX_new(), "a digest context") { unsafe EVP_MD_CTX_free($0) }
      try OpenSSLFailure.check(unsafe EVP_DigestInit_ex2(context.raw, algorithms.digest.raw, nil), "start SHA-256")
      self.context = context
      self.algorithms = algorithms
    }

    func update(_ bytes: Span<UInt8>) throws(PackError) {
      guard !bytes.isEmpty else { return }
      let status = unsafe bytes.withUnsafeBufferPointer {
        unsafe EVP_DigestUpdate(context.raw, $0.baseAddress, $0.count)
      }
      try OpenSSLFailure.check(status, "compute SHA-256")
    }

    func finish(into digest: inout MutableSpan<UInt8>) throws(PackError) {
      precondition(digest.count == DigestSize.sha256)
      let status = unsafe digest.withUnsafeMutableBufferPointer {
        unsafe EVP_DigestFinal_ex(context.raw, $0.baseAddress, nil)
      }
      try OpenSSLFailure.check(status, "finish SHA-256")
      // Without an algorithm, the context reuses its own and allocates nothing.
      try OpenSSLFailure.check(unsafe EVP_DigestInit_ex2(context.raw, nil, nil), "start SHA-256")
    }
  }
#endif
