import TestSupport

extension FuzzTarget {
  /// A shard of a catalogue: as the file that a manifest names, and as the JSON in it.
  static let shard = FuzzTarget(
    "shard", largestInput: 8192,
    files: [
      "Sources/PackManifest/Shard.swift", "Sources/PackManifest/ManifestEntryReader.swift", "Sources/PackManifest/ManifestDelta.swift",
      "Sources/PackManifest/ManifestStream.swift", "Sources/PackManifest/ManifestCandidate.swift",
      "Sources/PackStore/Catalogue/ShardFile.swift",
    ],
    seeds: {
      var seeds: [FuzzSeed] = []
      for name in ShardVector.all {
        let bytes = try ShardVector(named: name).bytes
        guard bytes.count <= 6000 else { continue }
        seeds.append(FuzzSeed(name, bytes))
        if let json = content(of: bytes) { seeds.append(FuzzSeed("\(name)-json", json)) }
      }
      return seeds
    },
    run: { (bytes) throws(BrokenPromise) in
      // As a file, whatever it expands to.
      if let header = try? FrameHeader.parse(bytes.byteSpan, name: "shard"), (1...1 << 20).contains(header.contentSize) {
        _ = try open(bytes, contentSize: header.contentSize, most: 3)
      }
      let manifest = try release(with: Shard(size: 1, contentSize: 1, maxCount: UInt64(bytes.count), sha256: []))
      let read = try accepted { () throws(PackError) in try ShardContent.packs(parsing: bytes.byteSpan, 0, of: manifest) }
      guard let packs = read else { return }
      try hold(Swift.zip(packs, packs.dropFirst()).allSatisfy { $0.id.precedes($1.id) }, "ids do not ascend")
      let written = try required("writing a shard") { () throws(PackError) in try ShardContent.bytes(packs, manifest.defaults) }
      let again = try required("reading what was written") { () throws(PackError) in
        try ShardContent.packs(parsing: written.byteSpan, 0, of: manifest)
      }
      try hold(again == packs, "a shard differs after it was written and read")
      if written.count == bytes.count, memberNames(in: bytes).isSubset(of: memberNames(in: written)) {
        try hold(written == bytes, "a shard has two forms of the same length")
      }
      let opened = try open(rawFrame(bytes), contentSize: UInt64(bytes.count), most: UInt64(packs.count))
      try hold(opened == packs, "a shard is read differently from its file")
      guard !packs.isEmpty else { return }
      let fewer = try open(rawFrame(bytes), contentSize: UInt64(bytes.count), most: UInt64(packs.count) - 1)
      try hold(fewer == nil, "a shard is read that has more entries than it may have")
    })

  private static func release(with shard: Shard) throws(BrokenPromise) -> Manifest {
    guard let expires = ManifestTime("2027-01-01T00:00:00Z") else { throw BrokenPromise("a time is refused") }
    let salt = [UInt8](repeating: 0, count: Rollout.saltSize)
    var manifest = Manifest(
      version: 1, issued: nil, expires: expires, budget: nil,
      defaults: ManifestDefaults(baseURL: "https://cdn.example.com/packs/", keyID: "e545120e613dd715"), packs: [])
    manifest.catalogue = [shard]
    // That of the vectors with candidates.
    manifest.rollouts = [Rollout(id: "winter", salt: salt, share: 2500, state: .running, until: expires)]
    return manifest
  }

  /// Opens a file as the only shard of a manifest that has its size and digest.
  private static func open(_ file: [UInt8], contentSize: UInt64, most: UInt64) throws(BrokenPromise) -> [ManifestPack]? {
    let digest = try required("a digest") { () throws(PackError) in try CryptoBackends.standard.digest(of: file.byteSpan) }
    let manifest = try release(with: Shard(size: UInt64(file.count), contentSize: contentSize, maxCount: most, sha256: digest))
    return try accepted { () throws(PackError) in try ShardFile.packs(file.byteSpan, 0, of: manifest) }
  }

  /// Returns a zstd frame with one raw block.
  private static func rawFrame(_ content: [UInt8]) -> [UInt8] {
    var frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0xA0]
    frame.append(littleEndian: UInt32(content.count))
    let block = UInt32(content.count) << 3 | 1
    return frame + [UInt8(truncatingIfNeeded: block), UInt8(truncatingIfNeeded: block >> 8), UInt8(truncatingIfNeeded: block >> 16)]
      + content
  }

  /// Returns what a shard expands to, or nil.
  private static func content(of shard: [UInt8]) -> [UInt8]? {
    guard let header = try? FrameHeader.parse(shard.byteSpan, name: "shard"), (1...6000).contains(header.contentSize) else { return nil }
    var content = [UInt8](repeating: 0, count: Int(header.contentSize))
    var span = content.mutableByteSpan
    do throws(PackError) {
      try DecompressionContext().decompress(shard.byteSpan, into: &span, name: "shard")
    } catch {
      return nil
    }
    return content
  }
}
