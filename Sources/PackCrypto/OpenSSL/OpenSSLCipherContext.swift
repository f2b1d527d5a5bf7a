#if canImport(COpenSSL)
  import COpenSSL

  /// AES-256-GCM with OpenSSL. The key is expanded once. Each call sets only the nonce and allocates nothing.
  ///
  /// The expanded key, which starts with the key itself, is on OpenSSL's ordinary heap, and is wiped with the context.
  final class OpenSSLCipherContext: CipherContext {
    private let context: OpenSSLObject

    init(key: borrowing SecretBytes, _ algorithms: OpenSSLAlgorithms) throws(PackError) {
      precondition(key.count == GCM.keySize)
      let context = try unsafe OpenSSLObject(EVP_CIPHER_CTX_new(), "a cipher context") {
        unsafe EVP_CIPHER_CTX_free($0)
      }
      // GCM expands a key the same way for both directions, so one context serves both.
      let status = key.withSpan { key in
        unsafe key.withUnsafeBufferPointer {
          unsafe EVP_EncryptInit_ex2(context.raw, algorithms.cipher.raw, $0.baseAddress, nil, nil)
        }
      }
      try OpenSSLFailure.check(status, "set an AES key")
      self.context = context
    }

    func seal(
      _ plaintext: Span<UInt8>, nonce: Span<UInt8>, into ciphertext: inout MutableSpan<UInt8>
    ) throws(PackError) {
      precondition(ciphertext.count == plaintext.count + GCM.tagSize)
      try start(nonce: nonce, isSealing: true)
      let count = plaintext.count
      let status = unsafe plaintext.withUnsafeBufferPointer { plaintext in
        unsafe ciphertext.withUnsafeMutableBufferPointer { ciphertext in
          let start = ciphertext.baseAddress
          let status = unsafe update(plaintext, into: start)
          return status == 1 ? unsafe finish(tagInto: start.map { unsafe $0 + count }) : status
        }
      }
      guard status == 1 else {
        wipe(&ciphertext)
        throw OpenSSLFailure.error("encrypt")
      }
    }

    func open(
      _ ciphertext: Span<UInt8>, nonce: Span<UInt8>, into plaintext: inout MutableSpan<UInt8>
    ) throws(PackError) {
      precondition(plaintext.count + GCM.tagSize == ciphertext.count)
      try start(nonce: nonce, isSealing: false)
      let count = plaintext.count
      let isAuthentic = unsafe ciphertext.withUnsafeBufferPointer { ciphertext in
        unsafe plaintext.withUnsafeMutableBufferPointer { plaintext in
          let tag = unsafe UnsafeMutableRawPointer(mutating: ciphertext.baseAddress.map { unsafe $0 + count })
          var written: CInt = 0
          return unsafe EVP_CIPHER_CTX_ctrl(context.raw, EVP_CTRL_AEAD_SET_TAG, CInt(GCM.tagSize), tag) == 1
            && update(UnsafeBufferPointer(rebasing: ciphertext[..<count]), into: plaintext.baseAddress) == 1
            && EVP_DecryptFinal_ex(context.raw, nil, &written) == 1
        }
      }
      guard isAuthentic else {
        // OpenSSL decrypts before it knows the tag.
        wipe(&plaintext)
        ERR_clear_error()
        throw GCM.refusal
      }
    }

    func beginAuthentication(nonce: Span<UInt8>) throws(PackError) {
      try start(nonce: nonce, isSealing: true)
    }

    func authenticate(_ associatedData: Span<UInt8>) throws(PackError) {
      // Without an output, OpenSSL treats the input as associated data.
      let status = unsafe associatedData.withUnsafeBufferPointer { unsafe update($0, into: nil) }
      try OpenSSLFailure.check(status, "authenticate")
    }

    func finishAuthentication() throws(PackError) -> [UInt8] {
      var tag = [UInt8](repeating: 0, count: GCM.tagSize)
      try OpenSSLFailure.check(unsafe finish(tagInto: &tag), "authenticate")
      return tag
    }

    private func start(nonce: Span<UInt8>, isSealing: Bool) throws(PackError) {
      precondition(nonce.count == GCM.nonceSize)
      let status = unsafe nonce.withUnsafeBufferPointer {
        unsafe EVP_CipherInit_ex2(context.raw, nil, nil, $0.baseAddress, isSealing ? 1 : 0, nil)
      }
      try OpenSSLFailure.check(status, "set a nonce")
    }

    @unsafe
    private func update(_ input: UnsafeBufferPointer<UInt8>, into output: UnsafeMutablePointer<UInt8>?) -> CInt {
      guard input.count > 0 else { return 1 }
      precondition(input.count <= Int(CInt.max))
      var written: CInt = 0
      return unsafe EVP_CipherUpdate(context.raw, output, &written, input.baseAddress, CInt(input.count))
    }

    @unsafe
    private func finish(tagInto tag: UnsafeMutablePointer<UInt8>?) -> CInt {
      var written: CInt = 0
      guard unsafe EVP_EncryptFinal_ex(context.raw, nil, &written) == 1 else { return 0 }
      return unsafe EVP_CIPHER_CTX_ctrl(context.raw, EVP_CTRL_AEAD_GET_TAG, CInt(GCM.tagSize), tag)
    }
  }
#endif
