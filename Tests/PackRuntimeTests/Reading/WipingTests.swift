#if os(Linux)
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

    @Test("a decrypted segment, when its reader is released, and the last segment at once")
    func segments() async throws {
      var random = SeededGenerator(seed: 4)
      let backend = ObservingBackend()
      let path = try await makePack(SampleTree(["a.bin": .init(random.bytes(20_000))]), in: directory)
      let source = try PackSource(
        PackStart(path, files: FaultyFiles()), path: path, key: try knownKey(), files: FaultyFiles(), backend: backend)
      var reader: SegmentReader? = try SegmentReader(source)
      var part = [UInt8](repeating: 0, count: 100)
      var span = part.mutableByteSpan
      try reader?.read(at: 50, into: &span)
      let (address, content) = try #require(backend.opened.withLock { $0.last })
      #expect(content.count > 4000 && content.contains(part[...]))
      #expect(left(of: content, at: address) > content.count * 9 / 10)
      reader = nil
      #expect(left(of: content, at: address) < content.count / 20)
      let last = try SegmentReader(source)
      try last.openLastSegment()
      let (lastAddress, lastContent) = try #require(backend.opened.withLock { $0.last })
      #expect(lastContent.count > 100 && lastContent != content)
      #expect(left(of: lastContent, at: lastAddress) < lastContent.count / 4)
    }

    @Test(
      "the tags and the digest that a salt is derived from",
      .enabled("a sanitizer has more memory than can be read") { try MemoryTrace.isFeasible })
    func salt() throws {
      let backend = ObservingBackend(isNoting: false)
      let header = PackHeader(
        segmentSize: 4096, flags: 0, packVersion: 1, packID: [UInt8](repeating: 1, count: 32), salt: [UInt8](repeating: 0, count: 32))
      var derivation = try SaltDerivation(key: try knownKey(), header: header, backend: backend)
      // Three pieces: the first two tags are looked at when the next piece begins.
      let payload = [UInt8](repeating: 7, count: 2 * Limits.saltPiece + 5)
      try derivation.update(payload.byteSpan)
      let tags = backend.tags.withLock { $0 }
      #expect(tags.count == 2 && tags.allSatisfy { $0 < 8 }, "\(tags) bytes of 16 are left")
      backend.masked.withLock { $0 = [] }
      var random = SeededGenerator(seed: 5)
      let unknown = random.bytes(32)
      _ = try derivation.salt(random: unknown)
      // The digest of the tags, followed by the random bytes.
      let searched = backend.masked.withLock { $0 }.suffix(64)
      #expect(searched.suffix(32).map { $0 ^ MemoryPeek.mask } == unknown)
      #expect(MemoryPeek.copies(of: Array(searched)) == 0)
      let found = searched.map { $0 ^ MemoryPeek.mask }
      #expect(MemoryPeek.copies(of: Array(searched)) > 0)
      withExtendedLifetime(found) {}
    }
  }

  /// A backend that notes where secrets were in memory.
  private final class ObservingBackend: CryptoBackend {
    private let base = CryptoBackends.standard
    /// Whether contexts are copied.
    private let isNoting: Bool
    /// The context of each derivation.
    let seen = Monitor<[(UInt, [UInt8])]>([])
    /// The last context, each byte masked.
    let masked = Monitor<[UInt8]>([])
    /// The plaintext of each segment that was opened.
    let opened = Monitor<[(UInt, [UInt8])]>([])
    /// How many bytes of each tag were still in memory when the next one was begun.
    let tags = Monitor<[Int]>([])
    let lastTag = Monitor<(UInt, [UInt8])?>(nil)

    var name: String { base.name }

    init(isNoting: Bool = true) {
      self.isNoting = isNoting
    }

    func derive(from secret: borrowing SecretBytes, salt: Span<UInt8>, info: Span<UInt8>, count: Int) throws(PackError) -> SecretBytes {
      masked.withLock { masked in
        masked = []
        for index in info.indices { masked.append(info[index] ^ MemoryPeek.mask) }
      }
      if isNoting {
        let note = (MemoryPeek.address(of: info), [UInt8](copying: info))
        seen.withLock { $0.append(note) }
      }
      return try base.derive(from: secret, salt: salt, info: info, count: count)
    }

    func makeDigest() throws(PackError) -> any DigestContext { ObservingDigest(try base.makeDigest(), self) }
    func makeCipher(key: borrowing SecretBytes) throws(PackError) -> any CipherContext {
      ObservingCipher(try base.makeCipher(key: key), self)
    }
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

  private final class ObservingDigest: DigestContext {
    private let base: any DigestContext
    private let observer: ObservingBackend

    init(_ base: any DigestContext, _ observer: ObservingBackend) {
      self.base = base
      self.observer = observer
    }

    func update(_ bytes: Span<UInt8>) throws(PackError) {
      if bytes.count == GCM.tagSize {
        let note = (MemoryPeek.address(of: bytes), [UInt8](copying: bytes))
        observer.lastTag.withLock { $0 = note }
      }
      try base.update(bytes)
    }

    func finish(into digest: inout MutableSpan<UInt8>) throws(PackError) { try base.finish(into: &digest) }
  }

  private final class ObservingCipher: CipherContext {
    private let base: any CipherContext
    private let observer: ObservingBackend

    init(_ base: any CipherContext, _ observer: ObservingBackend) {
      self.base = base
      self.observer = observer
    }

    func seal(_ plaintext: Span<UInt8>, nonce: Span<UInt8>, into ciphertext: inout MutableSpan<UInt8>) throws(PackError) {
      try base.seal(plaintext, nonce: nonce, into: &ciphertext)
    }

    func open(_ ciphertext: Span<UInt8>, nonce: Span<UInt8>, into plaintext: inout MutableSpan<UInt8>) throws(PackError) {
      try base.open(ciphertext, nonce: nonce, into: &plaintext)
      let note = (MemoryPeek.address(of: plaintext.span), [UInt8](copying: plaintext.span))
      observer.opened.withLock { $0.append(note) }
    }

    func beginAuthentication(nonce: Span<UInt8>) throws(PackError) {
      // Before anything is allocated in the place of the tag.
      if let (address, tag) = observer.lastTag.withLock({ $0 }), let now = MemoryPeek.bytes(at: address, count: tag.count) {
        let left = zip(now, tag).count { $0 == $1 }
        observer.tags.withLock { $0.append(left) }
      }
      try base.beginAuthentication(nonce: nonce)
    }

    func authenticate(_ associatedData: Span<UInt8>) throws(PackError) { try base.authenticate(associatedData) }
    func finishAuthentication() throws(PackError) -> [UInt8] { try base.finishAuthentication() }
  }
#endif
