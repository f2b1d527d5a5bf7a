/// The shards of a few packs, as many as a test wants. How many there must be is a rule for writers only.
package struct SmallCatalogue: Sendable {
  /// A shard, as it is published.
  package struct File: Hashable, Sendable {
    /// What the manifest says about it.
    package let shard: Shard
    package let bytes: [UInt8]

    package init(_ shard: Shard, _ bytes: [UInt8]) {
      self.shard = shard
      self.bytes = bytes
    }

    /// Makes a shard of any JSON, which a publisher may sign.
    ///
    /// - Parameter count: the number of its entries.
    package init(_ json: [UInt8], count: Int) throws(PackError) {
      let frame = try CompressionContext(level: 3).compressed(json)
      let sha256 = try CryptoBackends.standard.digest(of: frame.byteSpan)
      self.init(
        Shard(size: UInt64(frame.count), contentSize: UInt64(json.count), maxCount: UInt64(count), sha256: sha256), frame)
    }
  }

  /// The shards in the order of the manifest.
  package private(set) var files: [File] = []

  /// What the manifest lists.
  package var shards: [Shard] { files.map(\.shard) }

  /// - Parameters:
  ///   - packs: packs on demand, in any order.
  ///   - count: the number of shards, a power of two.
  package init(_ packs: [ManifestPack], count: Int = 1, defaults: ManifestDefaults) throws(PackError) {
    var members = [[ManifestPack]](repeating: [], count: count)
    for pack in packs { members[try Shard.number(of: pack.id, among: count)].append(pack) }
    for packs in members {
      let sorted = packs.sorted { $0.id.precedes($1.id) }
      files.append(try File(ShardContent.bytes(sorted, defaults), count: sorted.count))
    }
  }

  /// Returns the first of the names `front-0`, `front-1` and so on that belongs in a shard.
  package static func id(_ front: String, in number: Int, of count: Int) throws(PackError) -> String {
    var suffix = 0
    while try Shard.number(of: "\(front)-\(suffix)", among: count) != number { suffix += 1 }
    return "\(front)-\(suffix)"
  }
}

extension Manifest {
  /// Returns the manifest with its packs on demand in a catalogue, and the files of this.
  package func withCatalogue(of count: Int = 2) throws(PackError) -> (manifest: Manifest, files: [SmallCatalogue.File]) {
    var root = self
    root.defaults = ManifestDefaults(baseURL: defaults.baseURL ?? "https://cdn.example.com/")
    let catalogue = try SmallCatalogue(packs.filter { $0.delivery == .onDemand }, count: count, defaults: root.defaults)
    root.packs.removeAll { $0.delivery == .onDemand }
    root.catalogue = catalogue.shards
    return (root, catalogue.files)
  }
}
