/// The shards of a release's catalogue, made of its on-demand packs (FORMAT.md §9.7).
///
/// A digest of its id says in which shard a pack is, so a new or changed pack changes that shard and no other.
package struct CatalogueAssembly: Sendable {
  /// One shard.
  package struct File: Sendable {
    /// What the manifest says about it.
    package let shard: Shard
    /// The bytes to publish.
    package let bytes: [UInt8]
    /// Whether the bytes are those of an earlier build.
    package let isReused: Bool
  }

  /// All shards, in the order of the manifest.
  package private(set) var files: [File] = []

  /// What the manifest lists.
  package var shards: [Shard] { files.map(\.shard) }

  /// The size that the JSON of a shard stays below, in bytes (512 KiB): half of what readers take.
  private static let contentLimit = 512 << 10
  /// The zstd level. Digests do not shrink, so higher levels win less than 2 %.
  private static let level = 9

  /// Makes the shards.
  ///
  /// - Parameters:
  ///   - packs: On-demand packs in any order, without duplicates. If there are none, there is no catalogue.
  ///   - least: The number of shards of the last release. It never falls: all of them would change.
  ///   - defaults: Those of the manifest.
  ///   - earlier: Shards by the SHA-256 of their JSON. They are taken as they are, so that another zstd does not change them.
  /// - Throws: ``PackError/Code/invalidManifest``
  package init(
    _ packs: [ManifestPack], atLeast least: Int, defaults: ManifestDefaults, backend: any CryptoBackend,
    earlier: [[UInt8]: [UInt8]] = [:]
  ) throws(PackError) {
    guard !packs.isEmpty else { return }
    let most = 1 << Shard.mostBits
    // The number of an entry's shard if there are fewer: its first bits.
    var entries: [(pack: ManifestPack, number: Int, size: Int)] = []
    for pack in packs.sorted(by: { $0.id.precedes($1.id) }) {
      entries.append((pack, try Shard.number(of: pack.id, among: most, backend: backend), pack.sizeInShard(defaults)))
    }
    var count = max(1, least)
    while entries.sizes(among: count).contains(where: { $0 >= Self.contentLimit }) {
      count *= 2
      guard count <= most else {
        throw PackError(
          .invalidManifest, "the catalogue of \(packs.count) packs needs more than \(most) parts of \(Self.contentLimit) bytes",
          hint: "combine small packs, or shorten descriptions, names and tags")
      }
    }
    var members = [[ManifestPack]](repeating: [], count: count)
    for entry in entries { members[entry.number * count / most].append(entry.pack) }
    let context = try CompressionContext(level: Self.level)
    for packs in members {
      try Task.checkpoint()
      let json = try ShardContent.bytes(packs, defaults)
      let known = earlier.isEmpty ? nil : earlier[try backend.digest(of: json.byteSpan)]
      let bytes = if let known { known } else { try context.compressed(json) }
      let shard = Shard(
        size: UInt64(bytes.count), contentSize: UInt64(json.count), maxCount: UInt64(packs.count),
        sha256: try backend.digest(of: bytes.byteSpan))
      files.append(File(shard: shard, bytes: bytes, isReused: known != nil))
    }
  }
}

extension [(pack: ManifestPack, number: Int, size: Int)] {
  /// Returns the sizes of the JSON of that many shards.
  fileprivate func sizes(among count: Int) -> [Int] {
    // Every entry is counted with a comma, but the last has none.
    var sizes = [Int](repeating: #"{"packs":[]}"#.utf8.count - 1, count: count)
    for entry in self { sizes[entry.number * count / (1 << Shard.mostBits)] += entry.size + 1 }
    return sizes
  }
}
