/// One inspected shard of the catalogue.
struct ShardSighting: Sendable {
  /// Its expected path, starting with the path that the caller gave for the release.
  var path: String
  /// What the manifest says about it.
  var shard: Shard
  /// Its size in bytes; nil if there is no such file.
  var size: UInt64?
  /// The reason why there is no such file, which continues a sentence about its path.
  var absence = PublishedFile.missing
  /// The reason why it is not the shard that the manifest names, or breaks a rule.
  var failure: PackError?

  /// Whether its entries are known.
  var isRead: Bool { size != nil && failure == nil }
}

/// The inspected catalogue of a manifest.
struct CatalogueSighting: Sendable {
  /// In the order of the manifest.
  var shards: [ShardSighting] = []
  /// The packs of the manifest and of all shards that could be read, in ascending order of their ids; nil if the manifest has no catalogue.
  var packs: [ManifestPack]?

  /// Whether all its entries are known.
  var isRead: Bool { shards.allSatisfy(\.isRead) }
}

extension CatalogueSighting {
  /// Reads all shards of a release, one after the other. A fault of one shard does not hide those of others.
  init(_ manifest: Manifest, in place: ReleaseInspection.Place, files: any FileSystem) throws(PackError) {
    guard !manifest.catalogue.isEmpty else { return }
    var packs = manifest.packs
    for (number, shard) in manifest.catalogue.enumerated() {
      var sighting = ShardSighting(path: place.path(shard.fileName), shard: shard)
      let file = PublishedFile(sighting.path, files: files)
      (sighting.size, sighting.absence) = (file.size, file.absence)
      do throws(PackError) {
        if file.size != nil {
          let bytes = try ReleaseCatalogue.read(shard, in: place.directory, files: files)
          if let bytes { packs += try ShardFile.packs(bytes.byteSpan, number, of: manifest) } else { sighting.size = nil }
        }
      } catch {
        guard error.code != .internalError, error.code != .cancelled else { throw error }
        sighting.failure = error
      }
      shards.append(sighting)
    }
    self.packs = packs.sorted { $0.id.precedes($1.id) }
  }
}
