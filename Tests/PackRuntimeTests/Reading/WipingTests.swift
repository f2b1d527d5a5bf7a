#if os(Linux)
  import PackFormat
  import PackPayload
  import PackWork
  import TestSupport
  import Testing

  @testable import PackCrypto
  @testable import PackReading

  /// Looks at memory after its owner has released it. A buffer that was wiped has nothing of its former content; one that was not has most of it.
  @Suite("Plaintext and derivations are wiped", .bounded)
  struct WipingTests {
    private let directory: TemporaryDirectory

    init() throws {
      directory = try TemporaryDirectory()
    }

    /// Returns how many bytes at an address are what was there before.
    private func left(of content: [UInt8], at address: UInt) -> Int {
      // The first bytes of freed memory belong to the allocator.
      guard let now = MemoryPeek.bytes(at: address, count: content.count) else { return 0 }
      return zip(now, content).count { $0 == $1 && $1 != 0 }
    }

    @Test("a decrypted frame, when its reader is released")
    func frame() async throws {
      var random = SeededGenerator(seed: 3)
      // A frame below 128 KiB stays mapped after it was freed.
      let pack = try PackRuntimeTests.open(
        try await makePack(SampleTree(["a.bin": .init(random.bytes(20_000))]), in: directory))
      var reader: PackReader? = try PackReader(pack)
      let entry = try #require(try reader?.entry(at: "a.bin"))
      _ = try reader?.load(pack.table.frame(holding: entry.offset))
      let (address, content) = try #require(try reader?.withFrame { (MemoryPeek.address(of: $0), [UInt8](copying: $0)) })
      #expect(left(of: content, at: address) > 19_000)
      reader = nil
      #expect(left(of: content, at: address) < content.count / 20)
    }

    @Test("the context of a derivation")
    func context() throws {
      let backend = ObservingBackend()
      var secret = SecretBytes(count: 32)
      secret.withMutableSpan { span in for index in span.indices { span[index] = UInt8(index) } }
      let context = (0..<96).map { UInt8(truncatingIfNeeded: $0 * 7) | 1 }
      let salt: [UInt8] = [1]
      _ = try backend.derive(.streamKey, from: secret, salt: salt.byteSpan, context: context, count: 32)
      _ = try backend.derive(.saltTagKey, from: secret, context: context, count: 32)
      let seen = backend.seen.withLock { $0 }
      #expect(seen.count == 2)
      for (address, content) in seen {
        #expect(content.suffix(96) == context[...])
        #expect(left(of: content, at: address) < content.count / 4)
      }
    }
  }

  /// A backend that notes where the context of each derivation was.
  private final class ObservingBackend: CryptoBackend {
    private let base = CryptoBackends.standard
    let seen = Monitor<[(UInt, [UInt8])]>([])

    var name: String { base.name }

    func derive(from secret: borrowing SecretBytes, salt: Span<UInt8>, info: Span<UInt8>, count: Int) throws(PackError) -> SecretBytes {
      let note = (MemoryPeek.address(of: info), [UInt8](copying: info))
      seen.withLock { $0.append(note) }
      return try base.derive(from: secret, salt: salt, info: info, count: count)
    }

    func makeDigest() throws(PackError) -> any DigestContext { try base.makeDigest() }
    func makeCipher(key: borrowing SecretBytes) throws(PackError) -> any CipherContext { try base.makeCipher(key: key) }
    func authenticationCode(of message: Span<UInt8>, key: borrowing SecretBytes) throws(PackError) -> [UInt8] {
      try base.authenticationCode(of: message, key: key)
    }
    func signingPublicKey(ofSeed seed: borrowing SecretBytes) throws(PackError) -> [UInt8] { try base.signingPublicKey(ofSeed: seed) }
    func signature(of message: Span<UInt8>, seed: borrowing SecretBytes) throws(PackError) -> [UInt8] {
      try base.signature(of: message, seed: seed)
    }
    func isAccepted(_ signature: Span<UInt8>, of message: Span<UInt8>, publicKey: Span<UInt8>) throws(PackError) -> Bool {
      try base.isAccepted(signature, of: message, publicKey: publicKey)
    }
    func agreementPublicKey(of secret: borrowing SecretBytes) throws(PackError) -> [UInt8] { try base.agreementPublicKey(of: secret) }
    func sharedSecret(of secret: borrowing SecretBytes, with publicKey: Span<UInt8>) throws(PackError) -> SecretBytes? {
      try base.sharedSecret(of: secret, with: publicKey)
    }
    func fillRandom(_ bytes: inout MutableSpan<UInt8>) throws(PackError) { try base.fillRandom(&bytes) }
  }
#endif
