import TestSupport
import Testing

@testable import PackCrypto

#if os(Linux)
  import CMalloc
  import Glibc
#endif

@Suite("secrets and contexts are released", .serialized, .bounded)
struct OwnershipTests {
  @Test("a buffer is zeros after it was wiped")
  func wiped() {
    var buffer = bytes(1...100)
    wipe(&buffer)
    #expect(buffer == [UInt8](repeating: 0, count: 100))
    var empty: [UInt8] = []
    wipe(&empty)
    #expect(empty.isEmpty)
  }

  @Test("a secret starts as zeros, and holds what was written", arguments: [0, 1, 32, 4096, 5000])
  func secretBytes(_ count: Int) {
    var secret = SecretBytes(count: count)
    #expect(secret.withSpan { [UInt8](copying: $0) } == [UInt8](repeating: 0, count: count))
    secret.withMutableSpan { span in for index in span.indices { span[index] = UInt8(index % 251) } }
    #expect(secret.withSpan { [UInt8](copying: $0) } == KnownAnswer.pattern(count))
  }

  @Test("a copy of a key is the same key, and outlives the original")
  func copiedKey() throws {
    let bytes = KnownAnswer.keyBytes
    func second() throws -> PackKey { try PackKey(bytes: bytes.byteSpan).copy() }
    let key = try second()
    #expect(key.id.description == "e545120e613dd715")
    #expect(key.secret.withSpan { [UInt8](copying: $0) } == bytes)
    let isSame = key.withText { String(decoding: [UInt8](copying: $0), as: UTF8.self).hasSuffix("1f-a5978502") }
    #expect(isSame)
  }

  @Test("constant time comparison compares every byte and the lengths")
  func comparison() {
    let left = bytes(0...31)
    let isEqual = equalInConstantTime(left.byteSpan, left.byteSpan)
    let isEqualToPrefix = equalInConstantTime(left.byteSpan, left.byteSpan.extracting(0..<31))
    let isPrefixEqual = equalInConstantTime(left.byteSpan.extracting(0..<31), left.byteSpan)
    #expect(isEqual && !isEqualToPrefix && !isPrefixEqual)
    for index in left.indices {
      var right = left
      right[index] ^= 0x10
      let isEqual = equalInConstantTime(left.byteSpan, right.byteSpan)
      #expect(!isEqual, "byte \(index)")
    }
  }

  #if os(Linux)
    @Test("ten thousand contexts and secrets leave no memory behind")
    func contexts() async {
      // In a process of its own, where nothing else allocates.
      await #expect(processExitsWith: .success) {
        for backend in Backend.all { try OwnershipTests.useMany(backend.value) }
      }
    }

    private static func useMany(_ backend: any CryptoBackend) throws {
      func use(_ count: Int) throws {
        let message = bytes(0...99)
        for number in 0..<count {
          let key = secret(KnownAnswer.keyBytes)
          let cipher = try backend.makeCipher(key: key)
          let sealed = try cipher.sealed(message, nonce: bytes(0...11))
          _ = cipher.opened(sealed, nonce: bytes(0...11))
          // swift-crypto 4.5.2 leaks about 500 bytes in each `AES.GCM.open` that fails, also outside this project. A reader stops at the first
          // failure, so a client is not affected, but here it would hide a leak of ours.
          if backend is OpenSSLBackend { _ = cipher.opened(sealed, nonce: bytes(1...12)) }
          _ = try backend.digest(of: message.byteSpan)
          _ = try backend.authenticationCode(of: message.byteSpan, key: key)
          _ = try backend.derive(from: key, salt: message.byteSpan, info: message.byteSpan, count: 32)
          // Signatures take as long as everything else together.
          guard number % 10 == 0 else { continue }
          let signature = try backend.signature(of: message.byteSpan, seed: key)
          let publicKey = try backend.signingPublicKey(ofSeed: key)
          _ = try backend.isAccepted(signature.byteSpan, of: message.byteSpan, publicKey: publicKey.byteSpan)
          _ = try backend.isAccepted(signature.byteSpan, of: publicKey.byteSpan, publicKey: publicKey.byteSpan)
        }
      }
      // The libraries may allocate once more than in the first round. A leak is visible in each measurement.
      try use(100)
      var smallestGrowth = Int.max
      var fewestMappings = Int.max
      for _ in 0..<2 {
        let before = mallinfo2()
        let mappingsBefore = mappings()
        try use(2000)
        let after = mallinfo2()
        let growth = Int(after.uordblks + after.hblkhd) - Int(before.uordblks + before.hblkhd)
        smallestGrowth = min(smallestGrowth, growth)
        fewestMappings = min(fewestMappings, mappings() - mappingsBefore)
      }
      #expect(smallestGrowth < 20_000, "\(smallestGrowth) bytes more are in use")
      #expect(fewestMappings < 200, "\(fewestMappings) mappings more are in use")
    }

    /// The memory mappings of this process; each secret has one.
    private static func mappings() -> Int {
      guard let file = fopen("/proc/self/maps", "r") else { return 0 }
      defer { fclose(file) }
      var lines = 0
      while true {
        let character = getc(file)
        if character == EOF { return lines }
        if character == 10 { lines += 1 }
      }
    }
  #endif
}
