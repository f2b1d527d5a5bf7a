import TestSupport
import Testing

@testable import PackCrypto

@Suite("signatures")
struct SigningTests {
  static let seed = bytes(0...0x1F)
  static let publicKey = hex("03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8")

  static let standardCases: [(seed: String, publicKey: String, message: String, signature: String)] = [
    (
      "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
      "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
      "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
    ),
    (
      "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
      "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
      "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    ),
    (
      "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
      "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
      "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
    ),
    (
      "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
      "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
      "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
      "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704"
    ),
  ]

  /// CryptoKit on Apple platforms adds randomness to each signature.
  static func signsAlike(_ backend: Backend) -> Bool { backend.value.name != "CryptoKit" }

  static func key(_ seed: [UInt8] = seed, _ backend: Backend) throws(PackError) -> SigningKey {
    try SigningKey(seed: secret(seed), backend: backend.value)
  }

  @Test("Ed25519, RFC 8032", arguments: Backend.all)
  func standard(_ backend: Backend) throws {
    for vector in Self.standardCases {
      let key = try Self.key(hex(vector.seed), backend)
      let (message, signature) = (hex(vector.message), hex(vector.signature))
      #expect(key.publicKey.bytes.hex == vector.publicKey)
      let made = try key.signature(of: message.byteSpan)
      if Self.signsAlike(backend) { #expect(made == signature) }
      #expect(try key.publicKey.isValid(signature.byteSpan, of: message.byteSpan, backend: backend.value))
      let other = message + [0]
      #expect(try !key.publicKey.isValid(signature.byteSpan, of: other.byteSpan, backend: backend.value))
    }
  }

  @Test("every back end gives the format's result for every edge case", arguments: Backend.all)
  func edges(_ backend: Backend) throws {
    #expect(try answer(CaseFile.edges, backend) > 60)
  }

  @Test("every back end gives the format's result for every pair of points of CCTV", arguments: Backend.all)
  func cctv(_ backend: Backend) throws {
    let run = try answer(CaseFile.cctv, backend)
    #expect(run >= 914)
    Evidence.tell("CCTV: Ed25519", cases: run, with: backend.value.name)
  }

  /// Checks all cases of a file and returns their number.
  private func answer(_ file: CaseFile, _ backend: Backend) throws -> Int {
    #expect(file.cases.contains { $0.holds })
    for edge in file.cases {
      let holds = try Ed25519.isValid(
        edge.proof.byteSpan, of: edge.message.byteSpan, publicKey: edge.key.byteSpan, backend: backend.value)
      #expect(holds == edge.holds, "\(edge.comment)")
    }
    return file.cases.count
  }

  @Test("a change of any bit of signature, key or message is refused", arguments: Backend.all)
  func changes(_ backend: Backend) throws {
    let key = try Self.key(Self.seed, backend)
    let message = Array("manifest".utf8)
    let signature = try key.signature(of: message.byteSpan)
    for index in 0..<(64 + 32 + message.count) {
      var (changedSignature, changedKey, changedMessage) = (signature, Self.publicKey, message)
      let bit: UInt8 = 1 << (index % 8)
      switch index {
      case 0..<64: changedSignature[index] ^= bit
      case 64..<96: changedKey[index - 64] ^= bit
      default: changedMessage[index - 96] ^= bit
      }
      let holds = try Ed25519.isValid(
        changedSignature.byteSpan, of: changedMessage.byteSpan, publicKey: changedKey.byteSpan, backend: backend.value)
      #expect(!holds, "byte \(index)")
    }
  }

  @Test("a signature that a fault of the machine made wrong is not returned", arguments: Backend.all)
  func faultySigner(_ backend: Backend) throws {
    let key = try SigningKey(seed: secret(Self.seed), backend: FaultySigner(base: backend.value))
    let message = bytes(0...99)
    let error = failure { () throws(PackError) in _ = try key.signature(of: message.byteSpan) }
    #expect(error?.code == .internalError)
  }

  @Test("what one back end signs, another accepts, also 1 MiB")
  func crossed() throws {
    let message = KnownAnswer.pattern(1 << 20)
    for signer in Backend.all {
      let signature = try Self.key(Self.seed, signer).signature(of: message.byteSpan)
      for verifier in Backend.all {
        #expect(
          try Ed25519.isValid(signature.byteSpan, of: message.byteSpan, publicKey: Self.publicKey.byteSpan, backend: verifier.value),
          "\(signer.testDescription), \(verifier.testDescription)")
      }
    }
  }

  @Test("a key has the id and the texts of the known answers", arguments: Backend.all)
  func knownAnswer(_ backend: Backend) throws {
    let key = try Self.key(Self.seed, backend)
    #expect(key.publicKey.bytes == Self.publicKey)
    #expect(key.publicKey.id == "17b6f57631a77084")
    #expect(key.publicKey.text == SigningKeyTextTests.publicText)
    #expect(key.withText { String(decoding: [UInt8](copying: $0), as: UTF8.self) } == SigningKeyTextTests.secretText)
  }

  @Test("a new key differs from other keys, and is read as it was written")
  func random() throws {
    let first = try SigningKey.random()
    let second = try SigningKey.random()
    #expect(first.publicKey != second.publicKey)
    let text = first.withText { [UInt8](copying: $0) }
    let again = try SigningKey(text: text.byteSpan)
    #expect(again.publicKey == first.publicKey)
    #expect(try SigningPublicKey(text: first.publicKey.text) == first.publicKey)
  }

  @Test("bytes that cannot be a public key are refused with a reason")
  func impossibleKeys() {
    let prime: [UInt8] = [0xED] + [UInt8](repeating: 0xFF, count: 30) + [0x7F]
    let bad: [([UInt8], String)] = [
      ([], "0 bytes"), (Array(Self.publicKey.dropLast()), "31 bytes"), (Self.publicKey + [0], "33 bytes"),
      ([UInt8](repeating: 0, count: 32), "small order"), ([1] + [UInt8](repeating: 0, count: 31), "small order"),
      ([1] + [UInt8](repeating: 0, count: 30) + [0x80], "small order"), (prime, "canonical form"),
      ([UInt8](repeating: 0xFF, count: 32), "canonical form"),
    ]
    for (bytes, word) in bad {
      let error = failure { () throws(PackError) in _ = try SigningPublicKey(bytes: bytes) }
      #expect(error?.code == .malformedKey)
      #expect(error?.message.contains(word) == true, "\(bytes)")
    }
  }
}

@Suite("texts of signing keys")
struct SigningKeyTextTests {
  static let secretDigits = SigningTests.seed.hex
  static let secretText = "pks1-\(secretDigits)-2a6ff9d5"
  static let publicText = "pkp1-\(SigningTests.publicKey.hex)-0124f049"

  /// The errors of reading a text as each kind of key.
  static func errors(_ text: String) -> (content: PackError?, signing: PackError?, publicKey: PackError?) {
    let bytes = Array(text.utf8)
    return (
      failure { () throws(PackError) in _ = try PackKey(text: bytes.byteSpan) },
      failure { () throws(PackError) in _ = try SigningKey(text: bytes.byteSpan) },
      failure { () throws(PackError) in _ = try SigningPublicKey(text: text) }
    )
  }

  @Test("a text is read only as its own kind, and the error names both kinds")
  func kinds() {
    let names = ["a pack key (pkk1-)", "a signing key (pks1-)", "a public key (pkp1-)"]
    for (index, text) in [KeyTextTests.text, Self.secretText, Self.publicText].enumerated() {
      let errors = Self.errors(text)
      for (other, error) in [errors.content, errors.signing, errors.publicKey].enumerated() {
        if index == other {
          #expect(error == nil)
        } else {
          #expect(error?.code == .malformedKey)
          #expect(error?.message == "text is \(names[index]), not \(names[other])")
          let prefixes = ["pkk1-", "pks1-", "pkp1-"]
          #expect(error?.advice == .giveKeyText(prefix: prefixes[other], insteadOf: prefixes[index]))
        }
      }
    }
  }

  @Test("a text of one kind under the prefix of another fails its checksum")
  func exchangedPrefix() {
    let errors = Self.errors(Self.secretText.replacing("pks1-", with: "pkk1-"))
    #expect(errors.content?.message.contains("checksum") == true)
    let public1 = Self.errors(Self.secretText.replacing("pks1-", with: "pkp1-"))
    #expect(public1.publicKey?.message.contains("checksum") == true)
  }

  @Test("bare digits are not accepted as signing keys or public keys")
  func bareDigits() {
    let errors = Self.errors(Self.secretDigits)
    #expect(errors.content == nil)
    #expect(errors.signing?.message == "text of 64 bytes is not a signing key (pks1-)")
    #expect(errors.publicKey?.message == "text of 64 bytes is not a public key (pkp1-)")
  }

  @Test("white space around a text is ignored", arguments: ["\n", "\r\n", " \t\n"])
  func space(_ space: String) {
    #expect(Self.errors(space + Self.secretText + space).signing == nil)
    #expect(Self.errors(space + Self.publicText + space).publicKey == nil)
  }

  @Test("any single wrong digit is detected, and no message quotes the key")
  func wrongDigits() {
    for original in [Self.secretText, Self.publicText] {
      var text = Array(original)
      for index in 5..<text.count where text[index] != "-" {
        let digit = text[index]
        text[index] = digit == "7" ? "8" : "7"
        let errors = Self.errors(String(text))
        let error = original == Self.secretText ? errors.signing : errors.publicKey
        #expect(error?.code == .malformedKey)
        #expect(error?.description.contains(Self.secretDigits.prefix(8)) == false)
        text[index] = digit
      }
    }
  }
}

/// A back end that flips one bit of each signature.
private final class FaultySigner: CryptoBackend {
  let base: any CryptoBackend

  init(base: any CryptoBackend) {
    self.base = base
  }

  var name: String { base.name }

  func makeDigest() throws(PackError) -> any DigestContext { try base.makeDigest() }

  func makeCipher(key: borrowing SecretBytes) throws(PackError) -> any CipherContext { try base.makeCipher(key: key) }

  func authenticationCode(of message: Span<UInt8>, key: borrowing SecretBytes) throws(PackError) -> [UInt8] {
    try base.authenticationCode(of: message, key: key)
  }

  func derive(
    from secret: borrowing SecretBytes, salt: Span<UInt8>, info: Span<UInt8>, count: Int
  ) throws(PackError) -> SecretBytes {
    try base.derive(from: secret, salt: salt, info: info, count: count)
  }

  func signingPublicKey(ofSeed seed: borrowing SecretBytes) throws(PackError) -> [UInt8] { try base.signingPublicKey(ofSeed: seed) }

  func signature(of message: Span<UInt8>, seed: borrowing SecretBytes) throws(PackError) -> [UInt8] {
    var signature = try base.signature(of: message, seed: seed)
    signature[40] ^= 1
    return signature
  }

  func isAccepted(
    _ signature: Span<UInt8>, of message: Span<UInt8>, publicKey: Span<UInt8>
  ) throws(PackError) -> Bool {
    try base.isAccepted(signature, of: message, publicKey: publicKey)
  }

  func agreementPublicKey(of secret: borrowing SecretBytes) throws(PackError) -> [UInt8] { try base.agreementPublicKey(of: secret) }

  func sharedSecret(of secret: borrowing SecretBytes, with publicKey: Span<UInt8>) throws(PackError) -> SecretBytes? {
    try base.sharedSecret(of: secret, with: publicKey)
  }

  func fillRandom(_ bytes: inout MutableSpan<UInt8>) throws(PackError) { try base.fillRandom(&bytes) }
}
