extension AssetStore {
  /// The catalogue of the accepted manifest. A caller that fetches shards keeps them here.
  package nonisolated var catalogue: Catalogue { manifests.catalogue }

  /// Finds packs of the accepted manifest by their ids, in it and in the shards at hand.
  ///
  /// - Throws: ``PackError/Code/noManifest``, ``PackError/Code/cannotRead``.
  package func lookUp(_ ids: Set<String>) async throws(PackError) -> CatalogueLookup {
    try await WorkerPool.settled { [manifests] () throws(PackError) in
      try manifests.catalogue.lookUp(ids, in: try manifests.required().manifest)
    }
  }

  /// Returns all packs that the accepted manifest offers, as far as they are known.
  ///
  /// - Throws: as ``lookUp(_:)``.
  package func listing() async throws(PackError) -> Catalogue.Listing {
    try await WorkerPool.settled { [manifests] () throws(PackError) in
      try manifests.catalogue.listing(of: try manifests.required().manifest)
    }
  }

  /// Records at once that packs of the catalogue are going to be installed. Each installation records only what it does not find recorded.
  package func expect(_ packs: [ManifestPack]) async throws(PackError) {
    try await WorkerPool.settled { [manifests, directory] () throws(PackError) in
      try directory.withLock { () throws(PackError) in try manifests.note(packs) }
    }
  }

  /// Copies the missing shards of the accepted manifest that are in a directory, under the names under which they are published.
  ///
  /// - Throws: as ``lookUp(_:)``, and ``PackError/Code/wrongShard`` if another file is under the name of a shard.
  package func takeShards(from folder: String) async throws(PackError) {
    try await WorkerPool.settled { [manifests, directory] () throws(PackError) in
      let manifest = try manifests.required().manifest
      for number in try manifests.catalogue.missing(of: manifest) {
        let shard = manifest.catalogue[number]
        do throws(PackError) {
          let bytes = try directory.files.contents(of: "\(folder)/\(shard.fileName)", limit: Int(shard.size))
          try manifests.catalogue.keep(bytes, number, of: manifest)
        } catch {
          guard error.code != .limitExceeded else {
            throw PackError(
              .wrongShard, "\(shard.fileName) is more than the \(shard.size) bytes that the manifest says", advice: .fetchAgain)
          }
          guard error.code == .missingInput else { throw error }
        }
      }
    }
  }
}
