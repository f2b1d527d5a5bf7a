extension AssetStore {
  /// The catalogue of the accepted manifest. A caller that fetches shards keeps them here.
  package nonisolated var catalogue: Catalogue { manifests.catalogue }

  /// Finds packs of the accepted manifest by their ids, in it and in the shards at hand.
  ///
  /// - Throws: ``PackError/Code/noManifest``, ``PackError/Code/cannotRead``.
  package func lookUp(_ ids: Set<String>) async throws(PackError) -> CatalogueLookup {
    try await WorkerPool.settled { [manifests] () throws(PackError) in
      try manifests.lookUp(ids, in: try manifests.required().manifest)
    }
  }

  /// Returns all packs that the accepted manifest offers, as far as they are known.
  ///
  /// - Throws: as ``lookUp(_:)``.
  package func listing() async throws(PackError) -> Catalogue.Listing {
    try await WorkerPool.settled { [manifests] () throws(PackError) in
      try manifests.listing(of: try manifests.required().manifest)
    }
  }

  /// Returns the packs of a manifest that was accepted, as ``listing()`` does.
  package func listing(of manifest: Manifest) async throws(PackError) -> Catalogue.Listing {
    try await WorkerPool.settled { [manifests] () throws(PackError) in try manifests.listing(of: manifest) }
  }

  /// Searches the catalogue of a manifest, for plans. Blocks its thread.
  package nonisolated func search(_ manifest: Manifest) -> @Sendable (Set<String>) throws(PackError) -> CatalogueLookup {
    { [manifests] (ids) throws(PackError) in try manifests.lookUp(ids, in: manifest) }
  }

  /// Returns a manifest that was accepted, with the edition of each of its own packs that this device takes.
  package func offered(by manifest: Manifest) async throws(PackError) -> Manifest {
    guard !manifest.rollouts.isEmpty else { return manifest }
    return try await WorkerPool.settled { [manifests] () throws(PackError) in try manifests.editions(of: manifest) }
  }

  /// Sets what decides which candidates of rollouts this installation takes (FORMAT.md §9.11). Until then it takes none.
  package nonisolated func choose(by choice: RolloutChoice?) { manifests.choice.withLock { $0 = choice } }

  /// Goes back from a candidate that runs and that this device no longer takes to the version before it, which is proven.
  ///
  /// - Returns: Whether the pack may run. Not if a candidate was withdrawn and no other version is on the device.
  package func leaveCandidate(_ id: String) async throws(PackError) -> Bool {
    let isWithdrawn = try await WorkerPool.settled { [directory, manifests] () throws(PackError) in
      guard let record = try directory.record(id).map(StoreTrials(directory).judged), let running = record.running, running.isCandidate,
        let manifest = try manifests.usable()?.manifest, let offered = try manifests.lookUp([id], in: manifest).packs[id]
      else { return false }
      // One that was never tried is activated when it was opened.
      return offered.bytes != running.bytes && record.content(offered.bytes)?.isProven ?? true
    }
    guard isWithdrawn else { return true }
    do throws(PackError) {
      try await activate(id)
      return true
    } catch {
      guard [.notInstalled, .purged, .versionFailed, .sealed].contains(error.code) else { throw error }
      return false
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
