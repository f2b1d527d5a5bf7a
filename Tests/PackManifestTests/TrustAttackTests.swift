import TestSupport
import Testing

/// The attacks that The Update Framework's specification lists (section 1.5.2), against a device that embeds a keys document.
@Suite("Attacks on keys documents and manifests")
struct TrustAttackTests {
  private let first: KeysDocument

  init() throws {
    first = try KeysSample.document(KeysSample.content())
  }

  private func manifest(
    _ version: UInt64 = 1, by signers: [UInt8] = [0], keys: [KeysDocument] = [], expires: Int64 = 1_900_000_000
  ) throws(PackError) -> SignedManifest {
    var manifest = Manifest.sample(version: version, packs: [.sample("core", version: version)])
    if let time = ManifestTime(secondsSince1970: expires) { manifest.expires = time }
    return try KeysSample.sign(manifest, by: signers, keys: keys)
  }

  @Test("arbitrary software: a manifest by an unlisted key is refused, whatever documents come with it")
  func arbitrarySoftware() throws {
    var client = try TrustClient(first)
    #expect(client.attempt(try manifest(by: [9])) == .untrustedSignature)
    #expect(client.attempt(try manifest(by: [])) == .untrustedSignature)
    let foreign = try KeysSample.document(KeysSample.content(2, roots: [7, 8, 9], signers: [9]), by: [7, 8])
    #expect(client.attempt(try manifest(by: [9], keys: [foreign])) == .untrustedKeys)
    let alien = try KeysSample.document(KeysSample.content(1, roots: [7, 8, 9], signers: [9]), by: [7, 8])
    // A document of the same version is not newer, and nothing else lists key 9.
    #expect(client.attempt(try manifest(by: [9], keys: [alien])) == .untrustedSignature)
    #expect(client.keysVersion == 1 && client.record == nil)
  }

  @Test("a document that says of itself who may sign it is refused, also with many signatures")
  func unrelatedRoot() throws {
    var client = try TrustClient(first)
    for roots in [[3, 7, 8], [7, 8, 9]] as [[UInt8]] {
      let document = try KeysSample.document(KeysSample.content(2, roots: roots, threshold: 1, signers: [9]), by: [3, 7, 8, 9])
      #expect(client.attempt(try manifest(by: [9], keys: [document])) == .untrustedKeys)
    }
    #expect(client.keysVersion == 1)
    let unsigned = try KeysSample.document(KeysSample.content(), by: [1])
    #expect(failure { () throws(PackError) in _ = try TrustedKeys(unsigned) }?.code == .untrustedKeys)
  }

  @Test("rollback: neither manifests nor keys documents go back")
  func rollback() throws {
    let second = try KeysSample.document(KeysSample.content(2, signers: [4]))
    var client = try TrustClient(first)
    try client.take(manifest(5))
    #expect(client.attempt(try manifest(4)) == .manifestRollback)
    try client.take(manifest(6, by: [4], keys: [second]))
    #expect(client.keysVersion == 2)
    // Without the document, and with the first one in its place.
    #expect(client.attempt(try manifest(7)) == .untrustedSignature)
    #expect(client.attempt(try manifest(7, keys: [first])) == .untrustedSignature)
    #expect(client.keysVersion == 2)
  }

  @Test("stripping: a manifest without its keys documents is refused by a device that needs them, and loses nothing")
  func stripping() throws {
    let second = try KeysSample.document(KeysSample.content(2, signers: [4]))
    var client = try TrustClient(first)
    try client.take(manifest(1))
    #expect(client.attempt(try manifest(2, by: [4])) == .untrustedSignature)
    #expect(client.accepted?.version == 1)
    try client.take(manifest(2, by: [4], keys: [second]))
    // One signature of two removed.
    let third = try KeysSample.document(KeysSample.content(3, signers: [4, 5], needed: 2))
    try client.take(manifest(3, by: [4, 5], keys: [second, third]))
    #expect(client.attempt(try manifest(4, by: [5], keys: [second, third])) == .untrustedSignature)
  }

  @Test("indefinite freeze: an expired keys document installs nothing, and a newer one ends that")
  func freeze() throws {
    let short = try KeysSample.document(KeysSample.content(expires: 1_800_000_100))
    var client = try TrustClient(short)
    try client.take(manifest(1), at: 1_800_000_099)
    #expect(client.attempt(try manifest(2), at: 1_800_000_100) == .keysExpired)
    #expect(client.accepted?.version == 1)
    #expect(client.attempt(try manifest(2, expires: 1_800_000_050), at: 1_800_000_099) == .manifestExpired)
    // Only the newest document has to be current.
    let renewed = [
      try KeysSample.document(KeysSample.content(2, expires: 1_800_000_200)), try KeysSample.document(KeysSample.content(3)),
    ]
    try client.take(manifest(3, keys: renewed), at: 1_850_000_000)
  }

  @Test("mix and match: a document of another chain does not fit, nor one whose predecessor is missing")
  func mixAndMatch() throws {
    let second = try KeysSample.document(KeysSample.content(2, roots: [1, 2, 4], signers: [4]), by: [1, 2])
    let third = try KeysSample.document(KeysSample.content(3, roots: [2, 4, 5], signers: [5]), by: [2, 4])
    let other = try KeysSample.document(KeysSample.content(3, roots: [1, 2, 3], signers: [6]), by: [1, 3])
    for (keys, code, version) in [
      ([third], .untrustedKeys, 1), ([third, second], .untrustedKeys, 1), ([second, other], .untrustedKeys, 2),
      ([second, third], nil, 3), ([first, second, third], nil, 3), ([second, second, third], nil, 3),
    ] as [([KeysDocument], PackError.Code?, UInt64)] {
      var client = try TrustClient(first)
      #expect(client.attempt(try manifest(by: [5], keys: keys)) == code)
      #expect(client.keysVersion == version)
    }
  }

  @Test("a version that is skipped is refused, also with the right signatures")
  func skippedVersion() throws {
    var client = try TrustClient(first)
    for version in [3, 9_007_199_254_740_991] as [UInt64] {
      let far = try KeysSample.document(KeysSample.content(version, signers: [4]))
      #expect(client.attempt(try manifest(by: [4], keys: [far])) == .untrustedKeys)
    }
    #expect(client.keysVersion == 1)
  }

  @Test("fast-forward: the highest version of a stolen key is forgotten with the key")
  func fastForward() throws {
    var client = try TrustClient(first)
    try client.take(manifest(41))
    try client.take(manifest(9_007_199_254_740_991))
    #expect(client.attempt(try manifest(42)) == .manifestRollback)
    let second = try KeysSample.document(KeysSample.content(2, signers: [4]))
    try client.take(manifest(42, by: [4], keys: [second]))
    #expect(client.accepted?.version == 42)
    // With a threshold of two, one stolen key of two that signed is enough to forget.
    let third = try KeysSample.document(KeysSample.content(3, signers: [4, 5], needed: 2))
    try client.take(manifest(9_007_199_254_740_990, by: [4, 5], keys: [second, third]))
    let fourth = try KeysSample.document(KeysSample.content(4, signers: [5, 6], needed: 2))
    try client.take(manifest(43, by: [5, 6], keys: [second, third, fourth]))
  }

  @Test("a keys document counts although its manifest is refused")
  func refusedManifest() throws {
    let second = try KeysSample.document(KeysSample.content(2, signers: [4]))
    var client = try TrustClient(first)
    try client.take(manifest(1))
    #expect(client.attempt(try manifest(2, by: [0], keys: [second])) == .untrustedSignature)
    #expect(client.keysVersion == 2)
    #expect(client.attempt(try manifest(3, by: [0])) == .untrustedSignature)
    try client.take(manifest(3, by: [4]))
  }

  @Test("a list whose end is refused still counts up to there")
  func brokenEnd() throws {
    let second = try KeysSample.document(KeysSample.content(2, signers: [4]))
    let broken = try KeysSample.document(KeysSample.content(3, signers: [9]), by: [1])
    var client = try TrustClient(first)
    #expect(client.attempt(try manifest(2, by: [9], keys: [second, broken])) == .untrustedKeys)
    #expect(client.keysVersion == 2)
  }

  @Test("a threshold counts keys, not signatures: the same key under two ids, and one signature twice")
  func duplicates() throws {
    let content = try KeysSample.content()
    let once = try KeysSample.document(content, by: [1])
    // Ids ascend, so that one cannot come twice.
    var twice = once.signatures
    twice.append(once.signatures[0])
    #expect(failure { () throws(PackError) in _ = try KeysDocument(content, signatures: twice) }?.code == .usage)
    // A signature under the id of another key is wrong.
    let other = ManifestSignature(keyID: try KeysSample.root(2).publicKey.id, signature: once.signatures[0].signature)
    let forged = try KeysDocument(content, signatures: once.signatures + [other])
    #expect(failure { () throws(PackError) in _ = try TrustedKeys(forged) }?.code == .untrustedKeys)
    // A signature under an id that nobody has is ignored.
    let stray = ManifestSignature(keyID: "0000000000000000", signature: once.signatures[0].signature)
    let padded = try KeysDocument(content, signatures: once.signatures + [stray])
    #expect(failure { () throws(PackError) in _ = try TrustedKeys(padded) }?.code == .untrustedKeys)
    // One signing key counts once for a threshold of two.
    var client = try TrustClient(try KeysSample.document(KeysSample.content(signers: [0, 4], needed: 2)))
    #expect(client.attempt(try manifest(by: [0])) == .untrustedSignature)
    #expect(client.attempt(try manifest(by: [0, 9])) == .untrustedSignature)
    try client.take(manifest(by: [0, 4]))
  }

  @Test("a signature for a manifest is not valid for a keys document")
  func otherPurpose() throws {
    let seed = [UInt8](repeating: 1, count: 31) + [0xA5]
    let root = try KeysSample.root(1).publicKey
    let signer = try SigningKey(seed: SecretBytes(copying: seed.byteSpan))
    #expect(signer.publicKey.bytes == root.bytes)
    let signature = try SignedManifest.signature(of: Array(first.bytes[first.signedBytes]), by: signer)
    let others = first.signatures.filter { $0.keyID != root.id }
    let document = try KeysDocument(first.content, signatures: others + [ManifestSignature(keyID: root.id, signature: signature.signature)])
    #expect(failure { () throws(PackError) in try document.checkOwnSignatures() }?.code == .untrustedKeys)
  }

  @Test("every byte of a chain is signed: a flipped one is refused or leaves the device where it was", arguments: 0..<8)
  func flips(bit: Int) throws {
    let second = try KeysSample.document(KeysSample.content(2, signers: [4]))
    for index in second.bytes.indices {
      var bytes = second.bytes
      bytes[index] ^= 1 << UInt8(bit)
      let progress = try TrustedKeys(first).following([bytes])
      // A changed key id of a signature that is not needed would go unnoticed. Here both are needed.
      #expect(progress.keys.newest?.content.version == 1, "byte \(index)")
    }
  }

  @Test("a lost record takes a device back to the embedded document, from which the next manifest leads on")
  func lostRecord() throws {
    let documents = try (2...5).map { try KeysSample.document(KeysSample.content(UInt64($0), signers: [UInt8($0)])) }
    var client = try TrustClient(first)
    try client.take(manifest(1, by: [5], keys: documents))
    client.loseRecord()
    #expect(client.keysVersion == 1)
    try client.take(manifest(2, by: [5], keys: documents))
    #expect(client.keysVersion == 5)
  }

  @Test("an app update that embeds a later document takes over a record, or replaces it")
  func appUpdate() throws {
    let documents = try (2...5).map { try KeysSample.document(KeysSample.content(UInt64($0), signers: [UInt8($0)])) }
    let record = try TrustedKeys(first).following(documents.map(\.bytes)).keys.record
    for (number, document) in documents.enumerated() {
      let keys = try TrustedKeys(document).restored(from: record)
      #expect(keys.newest == documents[3])
      #expect(try (keys.record.map { (record) throws(PackError) in try KeysChain.documents(in: record).count } ?? 0) == 3 - number)
    }
    let later = try TrustedKeys(KeysSample.document(KeysSample.content(9, signers: [7])))
    #expect(later.restored(from: record) == later)
    for damaged in [[], [0], Array((record ?? []).dropLast())] { #expect(try TrustedKeys(first).restored(from: damaged).record == nil) }
  }

  @Test("an app that embeds plain keys passes over keys documents")
  func plainKeys() throws {
    let keys = try TrustedKeys(texts: [KeysSample.signer(0).publicKey.text])
    let second = try KeysSample.document(KeysSample.content(2, signers: [4]))
    let progress = try keys.following(manifest(keys: [second]))
    #expect(progress.failure == nil && progress.keys == keys && progress.keys.record == nil)
    _ = try manifest(keys: [second]).verify(trusting: keys)
    let texts = [String(decoding: first.bytes, as: UTF8.self), try KeysSample.signer(0).publicKey.text]
    #expect(try TrustedKeys(texts: [texts[0]]).newest == first)
    #expect(failure { () throws(PackError) in _ = try TrustedKeys(texts: texts) }?.code == .usage)
  }

  // MARK: Other people's scenarios

  /// One version of a root, as python-tuf's `test_root_rotation` describes it.
  struct Root: Sendable {
    let keys: [UInt8]
    let threshold: Int
    let signers: [UInt8]
  }

  struct Rotation: Sendable, CustomStringConvertible {
    let description: String
    let isRefused: Bool
    let versions: [Root]

    init(_ description: String, isRefused: Bool = false, _ versions: [([UInt8], Int, [UInt8])]) {
      self.description = description
      self.isRefused = isRefused
      self.versions = versions.map { Root(keys: $0.0, threshold: $0.1, signers: $0.2) }
    }
  }

  static let five: [UInt8] = [0, 1, 2, 3, 4]
  static let changed: [UInt8] = [0, 1, 3, 4, 5]

  static let rotations = [
    Rotation("1-of-1 key rotation", [([1], 1, [1]), ([2], 1, [2, 1]), ([2], 1, [2])]),
    Rotation("1-of-1 key rotation, unused signatures", [([1], 1, [3, 1, 4]), ([2], 1, [3, 2, 1, 4]), ([2], 1, [3, 2, 4])]),
    Rotation("1-of-1 key rotation fail: not signed with old key", isRefused: true, [([1], 1, [1]), ([2], 1, [2, 3, 4])]),
    Rotation("1-of-1 key rotation fail: not signed with new key", isRefused: true, [([1], 1, [1]), ([2], 1, [1, 3, 4])]),
    Rotation(
      "3-of-5, sign with different keycombos", [(five, 3, [0, 2, 4]), (five, 3, [0, 4, 1]), (five, 3, [0, 1, 3]), (five, 3, [0, 1, 3])]),
    Rotation("3-of-5, one key rotated", [(five, 3, [0, 2, 4]), (changed, 3, [0, 4, 1])]),
    Rotation(
      "3-of-5, one key rotate fails: not signed with 3 new keys", isRefused: true, [(five, 3, [0, 2, 4]), (changed, 3, [0, 2, 4])]),
    Rotation(
      "3-of-5, one key rotate fails: not signed with 3 old keys", isRefused: true, [(five, 3, [0, 2, 4]), (changed, 3, [0, 4, 5])]),
    Rotation(
      "3-of-5, one key rotated, with intermediate step",
      [(five, 3, [0, 2, 4]), (changed, 3, [0, 2, 4, 5]), (changed, 3, [0, 4, 5])]),
    Rotation(
      "3-of-5, all keys rotated, with intermediate step",
      [(five, 3, [0, 2, 4]), ([5, 6, 7, 8, 9], 3, [0, 2, 4, 5, 6, 7]), ([5, 6, 7, 8, 9], 3, [5, 6, 7])]),
    Rotation("1-of-3 threshold increase to 2-of-3", [([1, 2, 3], 1, [1]), ([1, 2, 3], 2, [1, 2])]),
    Rotation(
      "1-of-3 threshold bump to 2-of-3 fails: new threshold not reached", isRefused: true, [([1, 2, 3], 1, [1]), ([1, 2, 3], 2, [2])]),
    Rotation("2-of-3 threshold decrease to 1-of-3", [([1, 2, 3], 2, [1, 2]), ([1, 2, 3], 1, [1, 2]), ([1, 2, 3], 1, [1])]),
    Rotation(
      "2-of-3 threshold decr. to 1-of-3 fails: old threshold not reached", isRefused: true,
      [([1, 2, 3], 2, [1, 2]), ([1, 2, 3], 1, [1])]),
    Rotation("1-of-2 threshold increase to 2-of-2", [([1], 1, [1]), ([1, 2], 2, [1, 2])]),
  ]

  @Test("root rotation, after the cases of python-tuf", arguments: rotations)
  func rotation(_ rotation: Rotation) throws {
    var documents: [KeysDocument] = []
    for (number, root) in rotation.versions.enumerated() {
      let content = try KeysSample.content(UInt64(number + 1), roots: root.keys.map { $0 + 1 }, threshold: root.threshold)
      documents.append(try KeysSample.document(content, by: root.signers.map { $0 + 1 }))
    }
    var client = try TrustClient(documents[0])
    let code = client.attempt(try manifest(keys: Array(documents.dropFirst())))
    #expect(code == (rotation.isRefused ? .untrustedKeys : nil))
    #expect(client.keysVersion == UInt64(rotation.isRefused ? documents.count - 1 : documents.count))
  }

  @Test(
    "signing key rotation, after the cases of python-tuf",
    arguments: [
      ([2], 1, [2], true), ([1], 1, [3, 1, 4], true), ([2], 1, [1, 3, 4], false), (changed, 3, [0, 2, 4], false),
      (changed, 3, [0, 4], false),
      (five, 3, [0, 2, 4], true), (five, 3, [0, 4, 1], true), (five, 3, [0, 1, 3], true), (five, 3, [1, 2, 3], true),
      (five, 3, [2, 3, 4], true),
    ] as [([UInt8], Int, [UInt8], Bool)])
  func signingRotation(keys: [UInt8], threshold: Int, signers: [UInt8], isAccepted: Bool) throws {
    var client = try TrustClient(first)
    let second = try KeysSample.document(KeysSample.content(2, signers: keys, needed: threshold))
    #expect(client.attempt(try manifest(by: signers, keys: [second])) == (isAccepted ? nil : .untrustedSignature))
  }
}
