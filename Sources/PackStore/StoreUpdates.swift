extension AssetStore {
  /// Finds the smallest deltas to packs of the accepted manifest over installed versions.
  ///
  /// - Returns: The deltas that bring a pack in fewer bytes than its own file, by the id of the pack.
  /// - Throws: ``PackError/Code/cannotRead``.
  package func deltas(to packs: [ManifestPack]) async throws(PackError) -> [String: ManifestDelta] {
    try await WorkerPool.settled { [directory] () throws(PackError) in
      var deltas: [String: ManifestDelta] = [:]
      for pack in packs where !pack.deltas.isEmpty {
        var roots: Set<[UInt8]> = []
        for id in [pack.id, pack.basePack].compactMap(\.self) {
          guard let record = try directory.record(id) else { continue }
          for content in record.contents where !record.hasFailed(content.bytes) {
            roots.formUnion([content.contentRoot].compactMap(\.self))
          }
        }
        deltas[pack.id] = pack.cheapestDelta(over: roots)
      }
      return deltas
    }
  }
}

extension ManifestPack {
  /// Returns the entry with the URL, size and SHA-256 of a delta in place of those of the pack.
  package func fetched(as delta: ManifestDelta, _ defaults: ManifestDefaults) -> ManifestPack {
    var file = self
    (file.size, file.sha256) = (delta.size, delta.sha256)
    file.url = defaults.url(id, delta.sha256) ?? url
    return file
  }
}
