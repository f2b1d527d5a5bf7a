extension AssetStore {
  /// Sets the preservation priority of the packs with any of the tags, from 0 to 1, as ``setPreservation(_:of:)`` does for one pack.
  ///
  /// The priority is stored by tag, so it also applies to packs that get the tag in a later manifest. For a pack with several tags, the highest
  /// priority counts; tags without a priority are ignored. A priority set for the pack itself overrides those of its tags.
  ///
  /// - Throws: ``PackError/Code/noManifest``, ``PackError/Code/unknownTag``, ``PackError/Code/catalogueNotAvailable``, ``PackError/Code/usage`` for another
  ///   number.
  public func setPreservation(_ priority: Double, tags: Set<String>) async throws(PackError) {
    guard (0...1).contains(priority) else { throw PackError(.usage, "preservation must be from 0 to 1, not \(priority)") }
    try await WorkerPool.settled { [directory, manifests] () throws(PackError) in
      try directory.withLock { () throws(PackError) in
        let manifest = try manifests.required().manifest
        var unknown: Set<String> = []
        for tag in tags where try !manifests.hasTag(tag, in: manifest) { unknown.insert(tag) }
        if tags.isEmpty || !unknown.isEmpty { try TagCatalog(manifest.packs).check(unknown) }
        try StorePreservation(directory).set(UInt64((priority * 1_000_000).rounded()), of: tags) { tag in
          (try? manifests.hasTag(tag, in: manifest)) == false
        }
      }
    }
  }

  /// Returns the priority that ``setPreservation(_:tags:)`` set last for a tag. Returns nil if none was set.
  public func preservation(ofTag tag: String) async throws(PackError) -> Double? {
    try await WorkerPool.settled { [directory] () throws(PackError) in
      try StorePreservation(directory).priorities()[tag].map { Double($0) / 1_000_000 }
    }
  }

  // MARK: For requests by tags

  /// Returns the manifest that was accepted last.
  ///
  /// - Throws: ``PackError/Code/noManifest``
  package func requiredManifest() async throws(PackError) -> Manifest {
    try await WorkerPool.settled { [manifests] () throws(PackError) in try manifests.required().manifest }
  }

  /// Throws if nothing new may be installed from the accepted manifest.
  ///
  /// - Throws: ``PackError/Code/manifestExpired``, ``PackError/Code/manifestRollback``, ``PackError/Code/noManifest``.
  package func checkInstallable() async throws(PackError) {
    _ = try await WorkerPool.settled { [manifests] () throws(PackError) in try manifests.installable() }
  }

  /// Versions that are marked as in use, whether they run or not.
  package struct Holding: Sendable {
    /// The marks by pack name. Packs whose version is not installed have none.
    package var marks: [String: UseMark] = [:]
    /// The error of the first pack whose version failed on this device, so that it cannot run.
    package var failure: PackError?
  }

  /// Marks the versions that a manifest names as in use, if they are installed.
  package func hold(_ packs: [ManifestPack]) async throws(PackError) -> Holding {
    try await WorkerPool.settled { [directory] () throws(PackError) in
      try directory.withLockIfWritable { () throws(PackError) in
        var holding = Holding()
        for pack in packs {
          guard let record = try directory.record(pack.id).map(StoreTrials(directory).judged) else { continue }
          if let failure = record.failure(of: pack.bytes) {
            holding.failure = holding.failure ?? failure
          } else if let content = record.content(pack.bytes), !content.isSealed, try directory.isPresent(content, of: record) {
            holding.marks[pack.id] = directory.uses.open([record.itemName(content)])
          }
        }
        return holding
      }
    }
  }

  /// Activates the version that a manifest names, unless it runs already.
  ///
  /// - Returns: The token of its trial, started by this call or by an earlier request that failed later. Nil if `startsTrial` is false, or if the
  ///   version is not on trial.
  package func run(_ pack: ManifestPack, startsTrial: Bool) async throws(PackError) -> BootToken? {
    let current = try await current(pack.id)
    if let current, current.version == pack.version, current.sha256 == pack.sha256 {
      return startsTrial && current.state == .trial ? try await trial(of: pack.id) : nil
    }
    // If nothing ran, there is no version to fall back to, so there is no trial.
    let onTrial = startsTrial && current != nil
    let token = try await activate(pack.id, version: pack.version, onTrial: onTrial)
    return onTrial ? token : nil
  }

  /// Checks whether there is room for packs that are not installed, or room can be made.
  ///
  /// - Returns: The number of bytes that would still be missing, and the error that reports it. Nil if there is room.
  package func lack(for packs: [ManifestPack]) async throws(PackError) -> (missing: UInt64, error: PackError)? {
    let size = packs.reduce(UInt64(0)) { $0.adding($1.sizeOnDevice) }
    let subject = packs.count == 1 ? "pack '\(packs[0].id)'" : "the request for \(packs.count) packs"
    return try await WorkerPool.settled { [directory, manifests] () throws(PackError) in
      try StoreSpace(directory, manifests).lack(
        for: StoreSpace.Needs(volume: size, store: size), of: subject, sparing: Set(packs.map(\.id)))
    }
  }

  /// Frees at least this many bytes, or removes no pack if that is not possible.
  package func purgeIfEnough(toFree bytes: UInt64) async throws(PackError) -> PurgeReport {
    let (report, events) = try await WorkerPool.settled { [directory, manifests] () throws(PackError) in
      try StoreSpace(directory, manifests).purgeIfEnough(toFree: bytes)
    }
    hub.tell(events)
    return report
  }
}
