#if canImport(COpenSSL)
  import COpenSSL

  /// Calls AES-256-GCM and SHA-256 as a C program would: fetched once, one context each, a loop.
  @safe
  final class DirectOpenSSL {
    private let cipher: OpaquePointer
    private let digest: OpaquePointer
    private let encrypting: OpaquePointer
    private let decrypting: OpaquePointer
    private let hashing: OpaquePointer
    private let buffer: UnsafeMutablePointer<UInt8>
    private let capacity: Int
    private var nonce = [UInt8](repeating: 7, count: 12)

    init(segmentSize: Int) throws(PackError) {
      capacity = segmentSize
      let key = [UInt8](repeating: 9, count: 32)
      guard let cipher = unsafe EVP_CIPHER_fetch(nil, "AES-256-GCM", nil), let digest = unsafe EVP_MD_fetch(nil, "SHA256", nil),
        let encrypting = unsafe EVP_CIPHER_CTX_new(), let decrypting = unsafe EVP_CIPHER_CTX_new(), let hashing = unsafe EVP_MD_CTX_new(),
        unsafe EVP_EncryptInit_ex2(encrypting, cipher, key, nil, nil) == 1,
        unsafe EVP_DecryptInit_ex2(decrypting, cipher, key, nil, nil) == 1
      else {
        throw PackError(.internalError, "OpenSSL could not make a context")
      }
      unsafe self.cipher = cipher
      unsafe self.digest = digest
      unsafe self.encrypting = encrypting
      unsafe self.decrypting = decrypting
      unsafe self.hashing = hashing
      unsafe buffer = UnsafeMutablePointer.allocate(capacity: capacity)
      unsafe buffer.initialize(repeating: 0, count: capacity)
    }

    deinit {
      unsafe EVP_CIPHER_CTX_free(encrypting)
      unsafe EVP_CIPHER_CTX_free(decrypting)
      unsafe EVP_MD_CTX_free(hashing)
      unsafe EVP_CIPHER_free(cipher)
      unsafe EVP_MD_free(digest)
      unsafe buffer.deallocate()
    }

    /// Seals each segment of the input into the same buffer, and returns the number of bytes written.
    func seal(_ input: [UInt8]) -> Int {
      let piece = capacity - 16
      return unsafe input.withUnsafeBufferPointer { input in
        var sum = 0
        var place = 0
        while place < input.count, let base = input.baseAddress {
          var written: CInt = 0
          var rest: CInt = 0
          nonce[0] &+= 1
          unsafe EVP_EncryptInit_ex2(encrypting, nil, nil, nonce, nil)
          unsafe EVP_EncryptUpdate(encrypting, buffer, &written, base + place, CInt(min(piece, input.count - place)))
          unsafe EVP_EncryptFinal_ex(encrypting, buffer + Int(written), &rest)
          unsafe EVP_CIPHER_CTX_ctrl(encrypting, EVP_CTRL_AEAD_GET_TAG, 16, buffer + Int(written))
          sum += Int(written) + 16
          place += piece
        }
        return sum
      }
    }

    /// Returns one segment sealed with a fixed nonce, for ``open(_:times:)``.
    func sealed(_ plaintext: [UInt8]) -> [UInt8] {
      var output = [UInt8](repeating: 0, count: plaintext.count + 16)
      let fixed = [UInt8](repeating: 1, count: 12)
      var written: CInt = 0
      var rest: CInt = 0
      unsafe output.withUnsafeMutableBufferPointer { output in
        guard let base = output.baseAddress else { return }
        unsafe EVP_EncryptInit_ex2(encrypting, nil, nil, fixed, nil)
        unsafe EVP_EncryptUpdate(encrypting, base, &written, plaintext, CInt(plaintext.count))
        unsafe EVP_EncryptFinal_ex(encrypting, base + Int(written), &rest)
        unsafe EVP_CIPHER_CTX_ctrl(encrypting, EVP_CTRL_AEAD_GET_TAG, 16, base + Int(written))
      }
      return output
    }

    /// Opens the same segment `times` times, and returns whether its tag was valid each time.
    func open(_ segment: [UInt8], times: Int) -> Bool {
      let fixed = [UInt8](repeating: 1, count: 12)
      return unsafe segment.withUnsafeBufferPointer { segment in
        guard let base = segment.baseAddress else { return false }
        let count = segment.count - 16
        var isAuthentic = true
        for _ in 0..<times {
          var written: CInt = 0
          var rest: CInt = 0
          unsafe EVP_DecryptInit_ex2(decrypting, nil, nil, fixed, nil)
          unsafe EVP_CIPHER_CTX_ctrl(decrypting, EVP_CTRL_AEAD_SET_TAG, 16, UnsafeMutableRawPointer(mutating: base + count))
          unsafe EVP_DecryptUpdate(decrypting, buffer, &written, base, CInt(count))
          isAuthentic = unsafe EVP_DecryptFinal_ex(decrypting, buffer + Int(written), &rest) == 1 && isAuthentic
        }
        return isAuthentic
      }
    }

    /// Computes the digests of all pieces of `size` bytes, into the same buffer.
    func digest(_ input: [UInt8], size: Int) {
      unsafe input.withUnsafeBytes { input in
        var place = 0
        while place < input.count, let base = input.baseAddress {
          unsafe EVP_DigestInit_ex2(hashing, digest, nil)
          unsafe EVP_DigestUpdate(hashing, base + place, min(size, input.count - place))
          unsafe EVP_DigestFinal_ex(hashing, buffer, nil)
          place += size
        }
      }
    }
  }
#endif
