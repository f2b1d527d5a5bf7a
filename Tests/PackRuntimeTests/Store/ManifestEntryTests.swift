import TestSupport
import Testing

@Suite("Checking a pack against a manifest entry", .bounded)
struct ManifestEntryTests {
  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  /// Creates a pack and the matching manifest entry.
  private func sample() async throws -> (Pack, ManifestPack) {
    // Bytes that do not compress, so that there are many segments.
    var random = SeededGenerator(for: "a pack against its entry")
    let tree = SampleTree(["a.txt": .init([1, 2, 3]), "b/c.bin": .init(random.bytes(70_000))], emptyDirectories: ["d"])
    let path = try await makePack(tree, in: directory)
    let pack = try open(path)
    let bytes = try #require(directory.bytes(of: "sample.pack"))
    let entry = ManifestPack(
      id: "sample", version: pack.header.packVersion, url: "https://example.com/sample.pack", size: UInt64(bytes.count),
      sha256: try CryptoBackends.standard.digest(of: bytes.byteSpan), contentRoot: pack.contentRoot, contentSize: 70_003,
      installSize: 4096 + 73_728 + 3 * 4096, files: 3, maxFrame: UInt64(pack.largestFrame), keyID: "\(pack.keyID)",
      delivery: .essential, install: .unpacked)
    return (pack, entry)
  }

  @Test("a pack that matches its entry is accepted")
  func accepted() async throws {
    let (pack, entry) = try await sample()
    try pack.check(against: entry)
    try pack.checkDigest(against: entry)
  }

  @Test("each single difference is refused, with both values")
  func differences() async throws {
    let (pack, entry) = try await sample()
    let changes: [((inout ManifestPack) -> Void, String)] = [
      ({ $0.size += 1 }, "pack is \(entry.size) bytes, but the manifest says \(entry.size + 1) bytes"),
      ({ $0.id = "other" }, "pack was made under another name than 'other'"),
      ({ $0.id = "not a name" }, "pack was made under another name than 'not a name'"),
      ({ $0.version += 1 }, "pack has version \(entry.version), but the manifest says \(entry.version + 1)"),
      ({ $0.keyID = "0000000000000000" }, "pack opens with key \(entry.keyID), but the manifest says 0000000000000000"),
      ({ $0.contentRoot[0] ^= 1 }, "pack has content root "),
      ({ $0.contentSize = 1 }, "pack holds 70003 bytes of content, but the manifest says 1 bytes of content"),
      ({ $0.files = 4 }, "pack holds 3 records, but the manifest says 4 records"),
      ({ $0.maxFrame = 1 }, "pack has frames of up to \(entry.maxFrame) bytes, but the manifest says 1 bytes"),
    ]
    for (change, message) in changes {
      var changed = entry
      change(&changed)
      let error = await failure { () throws(PackError) in try pack.check(against: changed) }
      #expect(error?.code == .wrongPack)
      #expect(error?.advice == .fetchAgain)
      #expect(error?.message.contains(message) == true, "\(error?.message ?? "no error")")
      #expect(error?.message.contains("sample.pack") == true)
    }
    var twice = entry
    twice.files = 4
    twice.version += 1
    #expect(await failure { () throws(PackError) in try pack.check(against: twice) }?.details.count == 2)
  }

  @Test("the digest detects a changed byte anywhere in the file")
  func digest() async throws {
    let (pack, entry) = try await sample()
    var changed = entry
    changed.sha256[31] ^= 1
    #expect(code { () throws(PackError) in try pack.checkDigest(against: changed) } == .digestMismatch)
    changed = entry
    changed.size -= 1
    #expect(code { () throws(PackError) in try pack.checkDigest(against: changed) } == .wrongPack)

    // A middle segment, which opening does not read.
    var bytes = try #require(directory.bytes(of: "sample.pack"))
    bytes[bytes.count / 2] ^= 1
    let path = try directory.write(bytes, to: "changed.pack")
    let broken = try open(path)
    try broken.check(against: entry)
    #expect(code { () throws(PackError) in try broken.checkDigest(against: entry) } == .digestMismatch)
  }
}
