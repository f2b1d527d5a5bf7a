extension FuzzTarget {
  /// The cache file of a remote asset, unchanged and with corrected digests.
  static let asset = FuzzTarget(
    "asset", files: ["Sources/PackRemote/AssetCache.swift"],
    seeds: {
      let cache = try place()
      func seed(_ name: String, _ content: String, _ version: ContentVersion?) throws -> FuzzSeed {
        let content = Array(content.utf8)
        let kept = AssetCache.Kept(content: content, sha256: try Sealing.digest(content), version: version)
        return FuzzSeed(name, try cache.front(of: kept) + content)
      }
      return [
        try seed("tagged", "content", ContentVersion(tag: "\"a\"")),
        try seed("dated", "{}", ContentVersion(tag: "\"b\"", modified: "Sun, 06 Nov 1994 08:49:37 GMT")),
        try seed("empty", "", nil),
      ]
    },
    run: { (bytes) throws(BrokenPromise) in
      let cache = try required("the place of an asset") { () throws(PackError) -> AssetCache in try place() }
      for input in [bytes, try mended(bytes)] {
        guard let kept = try accepted({ () throws(PackError) in try cache.parse(input) }) else { continue }
        let front = try required("writing what was read") { () throws(PackError) in try cache.front(of: kept) }
        try hold(front + kept.content == input, "a cache file is written differently than it was read")
        try hold(kept.content.count <= limit, "the content is larger than the limit")
        try hold(kept.version != ContentVersion(), "a version is empty")
      }
    })

  private static let limit = 2000

  private static func place() throws(PackError) -> AssetCache {
    AssetCache(
      directory: "kept", name: try PackName("Levels"), appVersion: "1.0 (7)", source: [UInt8](repeating: 9, count: 32), sizeLimit: limit,
      files: SystemFiles(), backend: CryptoBackends.standard)
  }

  /// Returns the input with the correct size and digest of the content after its head, and the correct digest of the head.
  private static func mended(_ bytes: [UInt8]) throws(BrokenPromise) -> [UInt8] {
    let start = AssetCache.marker.count + 4
    guard bytes.count >= start else { return bytes }
    let size = Int(bytes[start - 4]) | Int(bytes[start - 3]) << 8
    let end = start + size
    guard size >= 40, bytes.count >= end + 32 else { return bytes }
    return try required("digests") { () throws(PackError) in
      var bytes = bytes
      let content = Array(bytes[(end + 32)...])
      for place in 0..<8 { bytes[end - 40 + place] = UInt8(truncatingIfNeeded: content.count >> (8 * place)) }
      bytes.replaceSubrange(end - 32..<end, with: try Sealing.digest(content))
      bytes.replaceSubrange(end..<end + 32, with: try Sealing.digest(Array(bytes[..<end])))
      return bytes
    }
  }
}
