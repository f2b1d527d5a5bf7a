import TestSupport

extension FuzzTarget {
  /// A manifest, unchanged and as a signed part with a valid signature.
  static let manifest = FuzzTarget(
    "manifest", largestInput: 8192,
    files: [
      "Sources/PackManifest/SignedManifest.swift", "Sources/PackManifest/Manifest+Parsing.swift",
      "Sources/PackManifest/Manifest+Text.swift",
      "Sources/PackManifest/ManifestRules.swift", "Sources/PackManifest/ManifestTime.swift", "Sources/PackManifest/CanonicalCursor.swift",
      "Sources/PackManifest/CanonicalWriter.swift", "Sources/PackManifest/Trust/VerifiedManifest.swift",
      "Sources/PackManifest/Rollout.swift", "Sources/PackManifest/ManifestCandidate.swift",
    ],
    seeds: {
      var seeds: [FuzzSeed] = []
      for name in ManifestVector.all {
        let bytes = try ManifestVector(named: name).manifest
        guard bytes.count <= 6000 else { continue }
        seeds.append(FuzzSeed(name, bytes))
        if let document = try? SignedManifest(bytes) { seeds.append(FuzzSeed("\(name)-signed", Array(bytes[document.signedBytes]))) }
      }
      return seeds
    },
    run: { (bytes) throws(BrokenPromise) in
      if let document = try accepted({ () throws(PackError) in try SignedManifest(bytes) }) {
        let written = try required("putting a document together again") { () throws(PackError) in
          try SignedManifest(
            signed: Array(bytes[document.signedBytes]), signatures: document.signatures, keys: document.keysBytes.map { Array(bytes[$0]) }
          ).bytes
        }
        try hold(written == bytes, "a document is written differently than it was read")
        let key = try required("the key") { () throws(PackError) in try FuzzSigner.signer().publicKey }
        // A valid signature cannot be made without the key.
        let verified = try accepted { () throws(PackError) in try document.verify(trusting: [key]) }
        try hold(verified == nil || document.signatures.contains { $0.keyID == key.id }, "a document is valid that the key did not sign")
      }
      let manifest = try accepted { () throws(PackError) in try Manifest(parsingSigned: bytes.byteSpan) }
      if let manifest {
        // Ignored members are not written, and some valid values may not be written. Values that are written do not change.
        if let written = try accepted({ () throws(PackError) in try manifest.signedBytes() }) {
          let again = try required("reading what was written") { () throws(PackError) in try Manifest(parsingSigned: written.byteSpan) }
          try hold(again == manifest, "a manifest differs after it was written and read")
          // An unknown key may be as long as a missing one.
          if written.count == bytes.count, memberNames(in: bytes).isSubset(of: memberNames(in: written)) {
            try hold(written == bytes, "a manifest has two forms of the same length")
          }
        }
      }
      guard bytes.first == UInt8(ascii: "{"), bytes.last == UInt8(ascii: "}") else { return }
      let verified = try accepted { () throws(PackError) in
        let signer = try FuzzSigner.signer()
        let document = try SignedManifest(signed: bytes, signatures: [try SignedManifest.signature(of: bytes, by: signer)])
        return try document.verify(trusting: [signer.publicKey]).manifest
      }
      try hold(verified == manifest, "a signed part is read differently after it is signed")
    })

  /// A keys document alone, as the successor of another one, and in a list and in a manifest.
  static let keys = FuzzTarget(
    "keys", largestInput: 8192,
    files: [
      "Sources/PackManifest/Trust/KeysDocument.swift", "Sources/PackManifest/Trust/KeysDocument+Text.swift",
      "Sources/PackManifest/Trust/KeysChain.swift",
      "Sources/PackManifest/Trust/TrustedKeys.swift", "Sources/PackManifest/SignedManifest.swift",
    ],
    seeds: {
      var seeds: [FuzzSeed] = []
      for name in ManifestVector.all where name.hasPrefix("keys-") {
        guard let document = try? SignedManifest(ManifestVector(named: name).manifest) else { continue }
        for (index, range) in document.keysBytes.prefix(2).enumerated() where range.count <= 6000 {
          seeds.append(FuzzSeed("\(name)-\(index)", Array(document.bytes[range])))
        }
      }
      return seeds + [FuzzSeed("list", KeysChain.text(of: seeds.prefix(2).map(\.bytes)))]
    },
    run: { (bytes) throws(BrokenPromise) in
      if let documents = try accepted({ () throws(PackError) in try KeysChain.documents(in: bytes) }) {
        try hold(KeysChain.text(of: documents) == bytes, "a list of keys documents is written differently than it was read")
      }
      let first = try required("the first document") { () throws(PackError) in try KeysSample.document(KeysSample.content()) }
      let trusted = try required("the trusted keys") { () throws(PackError) in try TrustedKeys(first) }
      let progress = trusted.following([bytes])
      // A valid signature cannot be made without the keys.
      try hold(progress.keys == trusted || progress.failure == nil, "a refused document counts")
      guard let document = try accepted({ () throws(PackError) in try KeysDocument(bytes) }) else { return }
      if progress.keys != trusted {
        try hold(document.content.version == 2 && document.signatures.count >= 2, "a document counts that the root keys did not sign")
      }
      let manifest = try required("a manifest with the document") { () throws(PackError) in
        try SignedManifest(signed: Array("{}".utf8), signatures: [], keys: [bytes])
      }
      try hold(manifest.keysBytes.map { Array(manifest.bytes[$0]) } == [bytes], "a document differs in a manifest")
      let written = try required("writing what was read") { () throws(PackError) in
        try KeysDocument(document.content, signatures: document.signatures)
      }
      try hold(written.content == document.content, "a document differs after it was written and read")
      // An unknown key may be as long as a missing one.
      if written.bytes.count == bytes.count, memberNames(in: bytes).isSubset(of: memberNames(in: written.bytes)) {
        try hold(written.bytes == bytes, "a document has two forms of the same length")
      }
    })

  /// The canonical JSON of manifests, store records and memories, compared with the parser of lock files.
  static let json = FuzzTarget(
    "json", files: ["Sources/PackManifest/CanonicalCursor.swift", "Sources/PackManifest/CanonicalWriter.swift"],
    seeds: {
      [
        FuzzSeed("object", #"{"a":1,"b":[true,false,"\n\u0001é"],"c":{}}"#), FuzzSeed("empty", "[]"),
        FuzzSeed("deep", String(repeating: "[", count: 8) + String(repeating: "]", count: 8)),
        FuzzSeed("too-deep", String(repeating: "[", count: 9)), FuzzSeed("largest", "9007199254740991"),
        FuzzSeed("escapes", #"["\"\\\b\t\n\f\r\u0000\u001f"]"#), FuzzSeed("unicode", "[\"\u{E9}\u{800}\u{FFFF}\u{10FFFF}\"]"),
        FuzzSeed("order", #"{"a":1,"a\n":2,"ab":3}"#), FuzzSeed("null", "[null]"), FuzzSeed("number", "[01,1.5,1e5,-1]"),
      ]
    },
    run: { (bytes) throws(BrokenPromise) in
      var cursor = CanonicalCursor(at: 0, end: bytes.count)
      guard try isAccepted({ () throws(PackError) in try cursor.skip(depth: 1, in: bytes.byteSpan) }), cursor.isAtEnd else { return }
      let value = try required("another reader of JSON") { () throws(PackError) in try JSON(parsing: bytes) }
      var writer = CanonicalWriter()
      write(value, to: &writer)
      try hold(writer.bytes == bytes, "a value is written differently than it was read")
    })

  private static func write(_ value: JSON, to writer: inout CanonicalWriter) {
    switch value {
    case .text(let text): writer.string(text)
    case .number(let number): writer.integer(number)
    case .negative(let number): writer.raw(Array("\(number)".utf8))
    case .flag(let flag): writer.raw(Array((flag ? "true" : "false").utf8))
    case .list(let values): writer.array(values) { write($1, to: &$0) }
    case .object(let members):
      writer.object { writer in
        for member in members {
          writer.key(member.key)
          write(member.value, to: &writer)
        }
      }
    }
  }

  /// Lock files and build records.
  static let records = FuzzTarget(
    "records", largestInput: 8192,
    files: [
      "Sources/PackProject/JSON/JSON+Parsing.swift", "Sources/PackProject/JSON/JSON+Writing.swift",
      "Sources/PackBuild/Release/Records/ReleaseLock+File.swift",
      "Sources/PackBuild/Release/Records/BuildRecord.swift",
      "Sources/PackBuild/Release/Records/RecordFile.swift",
    ],
    seeds: {
      let digest = [UInt8](0..<32).hex
      let manifest = """
        "contentDigest": "\(digest)", "expires": "2027-01-01T00:00:00Z", "issued": "2026-07-01T00:00:00Z", "signedDigest": "\(digest)"
        """
      let pack = """
        "id": "core", "version": 7, "contentRoot": "\(digest)", "created": "2026-07-01T00:00:00Z", "keyID": "e545120e613dd715", \
        "settings": "level=balanced", "sha256": "\(digest)"
        """
      let app = """
        {"version": "1.10", "budget": {"BADownloadAllowance": 2, "BAEssentialDownloadAllowance": 1, "BAEssentialMaxInstallSize": 3, \
        "BAMaxInstallSize": 4}, "firstManifest": 1, "format": "1.0", "hosts": ["cdn.example.com"], "keyIDs": ["e545120e613dd715"], \
        "manifestURL": "https://cdn.example.com/manifest.json", \
        "trustedKeys": ["pkp1-03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8-0124f049"]}
        """
      let released = "{\(manifest), \"manifestVersion\": 3, \"packs\": [{\(pack)}], \"rootKeyID\": \"0011223344556677\"}"
      let build = """
        {"files": ["core.pack", "manifest.json"], "manifest": {\(manifest), "size": 1000, "version": 3}, \
        "packs": [{\(pack), "file": "core.pack", "size": 9, "differsFrom": "\(digest)"}], "signers": ["pkp1-x"], "version": 1}
        """
      return [
        FuzzSeed("lock-empty", ReleaseLock().document), FuzzSeed("lock-same-app-twice", "{\"apps\": [\(app), \(app)], \"version\": 1}"),
        FuzzSeed("app", app), FuzzSeed("lock", "{\"apps\": [\(app)], \"released\": \(released), \"version\": 1}"), FuzzSeed("build", build),
        FuzzSeed("escapes", #"{"a": "\ud83d\ude00\/\u00e9", "b": [ ]}"#), FuzzSeed("deep", String(repeating: "[", count: 17)),
      ]
    },
    run: { (bytes) throws(BrokenPromise) in
      guard let value = try accepted({ () throws(PackError) in try JSON(parsing: bytes) }) else { return }
      let document = value.document
      let again = try required("reading what was written") { () throws(PackError) in try JSON(parsing: document) }
      try hold(again == value && again.document == document, "a value differs after it was written and read")
      if let lock = try accepted({ () throws(PackError) in try ReleaseLock(value) }) {
        let document = lock.document
        let again = try required("reading a lock that was written") { () throws(PackError) in try ReleaseLock(JSON(parsing: document))
        }
        try hold(again.released == lock.released && again.document == document, "a lock differs after it was written and read")
      }
      if let app = try accepted({ () throws(PackError) in try ReleaseLock.App(value) }) {
        let document = app.record.document
        let again = try required("reading an app that was written") { () throws(PackError) in
          try ReleaseLock.App(JSON(parsing: document))
        }
        try hold(again == app && again.record.document == document, "an app differs after it was written and read")
      }
      if let record = try accepted({ () throws(PackError) in try BuildRecord(value) }) {
        let document = record.document
        let again = try required("reading a record that was written") { () throws(PackError) in
          try BuildRecord(JSON(parsing: document))
        }
        try hold(again == record && again.document == document, "a record differs after it was written and read")
      }
    })
}

/// The key that makes valid signatures.
private enum FuzzSigner {
  static func signer() throws(PackError) -> SigningKey {
    let seed = [UInt8](0..<32)
    return try SigningKey(seed: SecretBytes(copying: seed.byteSpan))
  }
}
