import TestSupport
import Testing

@Suite("A client gives the expected result for every manifest vector")
struct ManifestVectorTests {
  @Test("the vectors are there, and name only classes of the format")
  func vectorsAreThere() throws {
    #expect(ManifestVector.all.count > 330)
    let count = ManifestVector.all.count { $0.hasPrefix("rfc8785-") }
    Evidence.tell("RFC 8785", cases: count)
    for name in ManifestVector.all {
      #expect(["ok", "damaged", "unsupported", "untrusted"].contains(try ManifestVector(named: name).expect), "\(name)")
    }
  }

  @Test("a client gives the class that the vector expects", arguments: ManifestVector.all)
  func client(_ name: String) throws {
    let vector = try ManifestVector(named: name)
    let plain = vector.trusted.compactMap { try? SigningPublicKey(bytes: $0) }
    let trusted = try vector.embedded.map { try TrustedKeys(KeysDocument($0)) } ?? TrustedKeys(plain)
    for backend in CryptoBackends.all {
      var verified: VerifiedManifest?
      var newest = trusted.newest?.content.version
      let error = failure { () throws(PackError) in
        let document = try SignedManifest(vector.manifest)
        let progress = trusted.following(document, backend: backend)
        newest = progress.keys.newest?.content.version
        if let failure = progress.failure { throw failure }
        verified = try document.verify(trusting: progress.keys, backend: backend)
      }
      #expect(newest == vector.keysVersion, "\(name) with \(backend.name)")
      let classes: [PackError.Code: String] = [
        .damagedManifest: "damaged", .unsupported: "unsupported", .untrustedSignature: "untrusted", .damagedKeys: "damaged",
        .untrustedKeys: "untrusted",
      ]
      #expect(
        error.map { classes[$0.code] ?? $0.code.rawValue } ?? "ok" == vector.expect,
        "\(name) with \(backend.name): \(error?.description ?? "no error")")
      guard let verified else { continue }
      #expect(verified.manifest.version == vector.version)
      #expect(verified.signers == vector.signers)
      #expect(
        verified.manifest.packs.map { ManifestVector.Pack(id: $0.id, version: $0.version, size: $0.size) } == vector.packs)
      #expect(verified.signedDigest.count == 32)
    }
  }

  @Test("a manifest with every key is written and signed as by the second implementation", arguments: Backend.all)
  func golden(_ backend: Backend) throws {
    var core = ManifestPack.sample()
    core.created = ManifestTime("2026-07-01T12:00:00Z")
    core.description = "What the app needs first.\n\t\"Boot\" \\ menu\u{1}\u{7F}"
    core.name = "Kern – コア"
    core.tags = ["boot", "menu"]
    core.language = "de-CH"
    core.languages = ["de-CH", "en", "zh-Hant"]
    core.fallbackLanguage = "en"
    core.platforms = ["iOS", "macOS"]
    let digits = (0..<4).flatMap { _ in [0x89, 0xAB, 0xCD, 0xEF, 0x01, 0x23, 0x45, 0x67] as [UInt8] }
    core.stream = ManifestStream(
      launch: 2192, tail: 12_000, leaves: (0..<4).flatMap { _ in digits[4..<8] + digits[0..<4] }, size: 2665, sha256: digits)
    var level = ManifestPack.sample("level-1", version: 9_007_199_254_740_991)
    level.url = "https://cdn.example.com:8443/packs/level-1-fedcba9876543210.pack?v=1"
    level.size = 9_007_199_254_740_991
    level.delivery = .onDemand
    level.install = .packed
    level.keyID = "0123456789abcdef"
    level.created = ManifestTime("2026-06-30T23:59:59Z")
    level.name = "🎮"
    var manifest = Manifest.sample(version: 42, packs: [core, level])
    manifest.issued = ManifestTime("2026-07-05T00:00:00Z")
    manifest.defaults = ManifestDefaults(baseURL: "https://cdn.example.com/packs/", keyID: "e545120e613dd715")

    let vector = try ManifestVector(named: "all-keys")
    let golden = try SignedManifest(vector.manifest)
    #expect(try manifest.signedBytes() == Array(golden.bytes[golden.signedBytes]))
    // CryptoKit on Apple platforms adds randomness to each signature.
    if backend.value.name != "CryptoKit" {
      let seed = (0..<32).map { UInt8($0) }
      let key = try SigningKey(seed: SecretBytes(copying: seed.byteSpan), backend: backend.value)
      let signature = try SignedManifest.signature(of: manifest.signedBytes(), by: key)
      #expect(try SignedManifest(signed: manifest.signedBytes(), signatures: [signature]) == golden)
    }
    #expect(try golden.verify(trusting: [signingKey().publicKey]).manifest == manifest)
  }

  @Test("the known answer of the format is written, signed and read")
  func knownAnswer() throws {
    let text =
      #"{"signatures":[{"keyid":"17b6f57631a77084","sig":"bf3ccd406ec1caaddd7b48e6fecff1142b607b8af5d1e5eb6d9cff2c192c1a6b154d0b974f788e5c056b00a4772b746eb381ff2ce7633b93f6ea77c7e5d5c406"}],"signed":{"expires":"2027-01-01T00:00:00Z","packs":[],"schema":"pack-manifest/1","version":1}}"#
    let document = try SignedManifest(Array(text.utf8))
    #expect(document.bytes.count == 276)
    #expect(
      try CryptoBackends.standard.digest(of: document.bytes.byteSpan).hex
        == "390eddc576a8cb657ace5369530b4ca16b40422fe424ea4b9bcde3d62deb00cc")
    let manifest = Manifest(
      version: 1, issued: nil, expires: try #require(ManifestTime("2027-01-01T00:00:00Z")), budget: nil, packs: [])
    #expect(try document.verify(trusting: [signingKey().publicKey]).manifest == manifest)
    #expect(try manifest.signedBytes() == Array(document.bytes[document.signedBytes]))
  }
}
