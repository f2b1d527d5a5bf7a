import TestSupport
import Testing

@testable import PackCrypto

@Suite("the vectors of the standards")
struct StandardVectorTests {
  static let hmacCases: [(key: [UInt8], message: [UInt8], code: String)] = [
    (
      [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8),
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    ),
    (
      Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
    (
      [UInt8](repeating: 0xAA, count: 20), [UInt8](repeating: 0xDD, count: 50),
      "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
    ),
    (
      bytes(1...25), [UInt8](repeating: 0xCD, count: 50),
      "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
    ),
    // RFC 4231 gives only the first half of this code.
    (
      [UInt8](repeating: 0x0C, count: 20), Array("Test With Truncation".utf8), "a3b6167473100ee06e0c796c2955552b"
    ),
    (
      [UInt8](repeating: 0xAA, count: 131), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    ),
    (
      [UInt8](repeating: 0xAA, count: 131),
      Array(
        ("This is a test using a larger than block-size key and a larger than block-size data. "
          + "The key needs to be hashed before being used by the HMAC algorithm.").utf8),
      "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
    ),
  ]

  @Test("HMAC-SHA256, RFC 4231", arguments: Backend.all)
  func hmac(_ backend: Backend) throws {
    for (number, vector) in Self.hmacCases.enumerated() {
      let code = try backend.value.authenticationCode(of: vector.message.byteSpan, key: secret(vector.key))
      #expect(code.count == 32)
      #expect(code.hex.hasPrefix(vector.code), "case \(number + 1)")
    }
  }

  @Test("HMAC-SHA256, the cases of Wycheproof with whole codes", arguments: Backend.all)
  func wholeCodes(_ backend: Backend) throws {
    let cases = CaseFile.codes.cases
    for test in cases {
      let code = try backend.value.authenticationCode(of: test.message.byteSpan, key: secret(test.key))
      let holds = equalInConstantTime(code.byteSpan, test.proof.byteSpan)
      #expect(holds == test.holds, "\(test.comment)")
    }
    #expect(cases.count >= 87 && cases.contains { $0.holds })
    Evidence.tell("Wycheproof: HMAC-SHA256", cases: cases.count, with: backend.value.name)
  }

  @Test("X25519, RFC 7748", arguments: Backend.all)
  func agreement(_ backend: Backend) throws {
    let backend = backend.value
    // Section 5.2. The second u has its highest bit set, which does not count.
    for (scalar, u, result) in [
      (
        "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
        "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
        "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"
      ),
      (
        "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
        "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
        "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957"
      ),
    ] {
      #expect(try backend.agreed(hex(scalar), hex(u)) == result)
    }
    // Section 6.1.
    let alice = "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a"
    let bob = "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb"
    let (alices, bobs) = (try backend.agreementPublicKey(of: secret(hex(alice))), try backend.agreementPublicKey(of: secret(hex(bob))))
    #expect(alices.hex == "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a")
    #expect(bobs.hex == "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f")
    let shared = "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"
    #expect(try backend.agreed(hex(alice), bobs) == shared)
    #expect(try backend.agreed(hex(bob), alices) == shared)
  }

  @Test("HKDF-SHA256, RFC 5869", arguments: Backend.all)
  func hkdf(_ backend: Backend) throws {
    let backend = backend.value
    let short = [UInt8](repeating: 0x0B, count: 22)
    #expect(
      try backend.derived(short, salt: bytes(0...12), info: bytes(0xF0...0xF9), count: 42).hex
        == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865")
    #expect(
      try backend.derived(bytes(0...0x4F), salt: bytes(0x60...0xAF), info: bytes(0xB0...0xFF), count: 82).hex
        == "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09"
        + "da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87")
    let last = "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
    #expect(try backend.derived(short, salt: [], info: [], count: 42).hex == last)
    #expect(try backend.derived(short, salt: [UInt8](repeating: 0, count: 32), info: [], count: 42).hex == last)
  }

  @Test("AES-256-GCM, NIST SP 800-38D test cases 13 to 15", arguments: Backend.all)
  func gcm(_ backend: Backend) throws {
    let zero = try backend.value.makeCipher(key: secret([UInt8](repeating: 0, count: 32)))
    let nonce = [UInt8](repeating: 0, count: 12)
    #expect(try zero.sealed([], nonce: nonce).hex == "530f8afbc74536b9a963b4f1c4cb738b")
    #expect(
      try zero.sealed([UInt8](repeating: 0, count: 16), nonce: nonce).hex
        == "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919")
    let key = hex("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308")
    let cipher = try backend.value.makeCipher(key: secret(key))
    let plaintext = hex(
      """
      d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72
      1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255
      """)
    let ciphertext = hex(
      """
      522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa
      8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad b094dac5d93471bdec1a502270e3cc6c
      """)
    let iv = hex("cafebabefacedbaddecaf888")
    #expect(try cipher.sealed(plaintext, nonce: iv) == ciphertext)
    #expect(cipher.opened(ciphertext, nonce: iv).0 == plaintext)
    #expect(try cipher.sealed(plaintext, nonce: iv) == ciphertext, "a context seals after it has opened")
  }

  @Test("SHA-256, FIPS 180", arguments: Backend.all)
  func sha256(_ backend: Backend) throws {
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    let digest = try backend.value.makeDigest()
    #expect(try digest.finish().hex == empty)
    for byte in Array("abc".utf8) { try digest.update([byte].byteSpan) }
    #expect(try digest.finish().hex == abc)
    #expect(try digest.finish().hex == empty, "a digest is reset")
  }
}
