import TestSupport
import Testing

@Suite("Keys documents")
struct KeysDocumentTests {
  private func replaced(_ document: KeysDocument, _ old: String, _ new: String) -> [UInt8] {
    Array(String(decoding: document.bytes, as: UTF8.self).replacing(old, with: new).utf8)
  }

  private func code(_ bytes: [UInt8]) -> PackError.Code? {
    failure { () throws(PackError) in _ = try KeysDocument(bytes) }?.code
  }

  @Test("a document reads back as it was written")
  func roundTrip() throws {
    let content = try KeysSample.content(7, roots: [3, 1, 2], threshold: 3, signers: [5, 0], needed: 2)
    let document = try KeysSample.document(content, by: [2, 3, 1])
    #expect(try KeysDocument(document.bytes) == document)
    #expect(document.content == content)
    #expect(document.signatures.count == 3)
    try document.checkOwnSignatures()
  }

  @Test("a document that breaks a rule is refused")
  func rules() throws {
    let sound = try KeysSample.document(try KeysSample.content(signers: [0, 1]))
    let (first, second) = (sound.content.signingKeys[0].text, sound.content.signingKeys[1].text)
    let root = sound.content.rootKeys[0].text
    let changes: [(String, String, PackError.Code)] = [
      ("pack-keys/1", "pack-keys/2", .unsupported), ("\"rootThreshold\":2", "\"rootThreshold\":0", .damagedKeys),
      ("\"rootThreshold\":2", "\"rootThreshold\":4", .damagedKeys), ("\"signingThreshold\":1", "\"signingThreshold\":3", .damagedKeys),
      ("\"version\":1", "\"version\":0", .damagedKeys), ("\"version\":1", "\"version\":01", .damagedKeys),
      (",\"version\":1", "", .damagedKeys), ("2033-05-18T03:33:20Z", "2033-05-18", .damagedKeys),
      ("\"\(first)\",\"\(second)\"", "\"\(second)\",\"\(first)\"", .damagedKeys), (second, first, .damagedKeys),
      (first, root, .damagedKeys), (root, first, .damagedKeys), (first, "\(first) ", .damagedKeys),
      ("{\"signatures\"", "{ \"signatures\"", .damagedKeys),
      ("[\"\(first)\",\"\(second)\"]", "[]", .damagedKeys), (first.suffix(8).description, "00000000", .damagedKeys),
    ]
    for (old, new, code) in changes {
      let bytes = replaced(sound, old, new)
      #expect(bytes != sound.bytes, "\(old) is not in the document")
      #expect(self.code(bytes) == code, "\(old) -> \(new)")
    }
    for cut in [0, 1, sound.bytes.count / 2, sound.bytes.count - 1] { #expect(code(Array(sound.bytes.prefix(cut))) == .damagedKeys) }
    #expect(code(sound.bytes + [0x0A]) == .damagedKeys)
    #expect(code([UInt8](repeating: 0x20, count: KeysDocument.largestSize + 1)) == .damagedKeys)
  }

  @Test("unknown keys are ignored, as in a manifest")
  func unknownKeys() throws {
    let sound = try KeysSample.document(try KeysSample.content())
    #expect(try KeysDocument(replaced(sound, "\"signed\":{", "\"signed\":{\"a\":[true],")).content == sound.content)
  }

  @Test("17 keys are refused, and 16 with 32 signatures fit")
  func limits() throws {
    let many = (UInt8(1)...16).map { $0 }
    let content = try KeysSample.content(roots: many, threshold: 16, signers: many.map { $0 + 100 }, needed: 16)
    let document = try KeysSample.document(content, by: (UInt8(1)...32).map { $0 })
    try document.checkOwnSignatures()
    #expect(document.bytes.count < KeysDocument.largestSize)
    print(
      "the largest keys document has \(document.bytes.count) bytes, one of 2 of 3 with one signing key \(try KeysSample.document(KeysSample.content()).bytes.count)"
    )
    let more = try KeysSample.content(roots: many + [17])
    #expect(failure { () throws(PackError) in _ = try KeysSample.document(more) }?.code == .usage)
    #expect(failure { () throws(PackError) in _ = try KeysSample.document(content, by: (UInt8(1)...33).map { $0 }) }?.code == .usage)
  }

  @Test("a key cannot be a root key and a signing key, because it would lie on a build machine")
  func bothRoles() throws {
    var content = try KeysSample.content()
    content.signingKeys = [try SigningPublicKey(bytes: content.rootKeys[0].bytes)]
    let wrong = content
    #expect(failure { () throws(PackError) in _ = try KeysDocument(wrong, signatures: []) }?.code == .usage)
  }

  @Test("texts of root signing keys have prefixes of their own, and a text of another kind is named")
  func keyTexts() throws {
    let root = try KeysSample.root(1)
    let text = root.withText { String(decoding: [UInt8](copying: $0), as: UTF8.self) }
    #expect(text.hasPrefix("pkt1-") && text.utf8.count == 78)
    #expect(root.publicKey.text.hasPrefix("pkq1-"))
    #expect(try RootSigningKey(text: Array(text.utf8).byteSpan).publicKey == root.publicKey)
    #expect(try RootSigningPublicKey(text: root.publicKey.text) == root.publicKey)
    let signing = try KeysSample.signer(0).withText { [UInt8](copying: $0) }
    let errors = [
      failure { () throws(PackError) in _ = try RootSigningKey(text: signing.byteSpan) },
      failure { () throws(PackError) in _ = try SigningKey(text: Array(text.utf8).byteSpan) },
      failure { () throws(PackError) in _ = try SigningPublicKey(text: root.publicKey.text) },
      failure { () throws(PackError) in _ = try RootSigningPublicKey(text: try KeysSample.signer(0).publicKey.text) },
    ]
    #expect(
      errors.map { $0?.message } == [
        "text is a signing key (pks1-), not a root signing key (pkt1-)", "text is a root signing key (pkt1-), not a signing key (pks1-)",
        "text is a public root key (pkq1-), not a public key (pkp1-)", "text is a public key (pkp1-), not a public root key (pkq1-)",
      ])
    // The same bytes have another id in the other role, so that no signature is taken for one of the other kind.
    #expect(try SigningPublicKey(bytes: root.publicKey.bytes).id != root.publicKey.id)
  }

  @Test("a list of documents is split as it was joined, and anything else is refused")
  func lists() throws {
    let documents = [try KeysSample.document(KeysSample.content()).bytes, try KeysSample.document(KeysSample.content(2)).bytes]
    let text = KeysChain.text(of: documents)
    #expect(try KeysChain.documents(in: text) == documents)
    for wrong in [Array(text.dropLast()), text + [0x0A], [UInt8](), Array("{}".utf8), Array("[1,]".utf8)] {
      #expect(failure { () throws(PackError) in _ = try KeysChain.documents(in: wrong) }?.code == .damagedKeys)
    }
  }

  @Test("a manifest without keys documents keeps its bytes, and one with some is read and written alike")
  func inManifests() throws {
    let manifest = Manifest.sample()
    let plain = try KeysSample.sign(manifest)
    #expect(plain.keysBytes.isEmpty)
    #expect(plain.bytes.starts(with: Array("{\"signatures\":[".utf8)))
    let documents = [try KeysSample.document(KeysSample.content(2)), try KeysSample.document(KeysSample.content(3))]
    let full = try KeysSample.sign(manifest, keys: documents)
    #expect(full.keysBytes.map { Array(full.bytes[$0]) } == documents.map(\.bytes))
    #expect(try SignedManifest(full.bytes) == full)
    #expect(Array(full.bytes[full.signedBytes]) == Array(plain.bytes[plain.signedBytes]))
    let text = String(decoding: full.bytes, as: UTF8.self)
    for (old, new) in [
      ("{\"keys\":[{", "{\"keys\":[],\"k\":[{"), ("{\"keys\":[{", "{\"keys\":[1,{"), ("{\"keys\":[{", "{\"keys\":[null,{"),
    ] {
      let wrong = Array(text.replacing(old, with: new).utf8)
      #expect(failure { () throws(PackError) in _ = try SignedManifest(wrong) }?.code == .damagedManifest)
    }
    let empty = Array(String(decoding: plain.bytes, as: UTF8.self).replacing("{\"signatures\"", with: "{\"keys\":[],\"signatures\"").utf8)
    #expect(failure { () throws(PackError) in _ = try SignedManifest(empty) }?.message.contains("empty list") == true)
    let many = try (0..<33).map { try KeysSample.document(KeysSample.content(UInt64($0) + 1)) }
    #expect(failure { () throws(PackError) in _ = try KeysSample.sign(manifest, keys: many) }?.code == .invalidManifest)
  }
}
