extension ReleaseBuild {
  /// Whether a pack is listed in the catalogue, and not in the manifest itself. Apple serves no catalogue.
  func isInCatalogue(_ pack: ManifestPack) -> Bool { pack.delivery == .onDemand && configuration.hosting != .apple }

  /// Makes the catalogue of packs that a manifest does not list itself.
  func assemble(
    _ packs: [ManifestPack], _ defaults: ManifestDefaults, _ lock: ReleaseLock, _ existing: ExistingRelease?
  ) throws(PackError) -> CatalogueAssembly {
    try CatalogueAssembly(
      packs, atLeast: lock.released?.shards ?? 1, defaults: defaults, backend: backend,
      earlier: packs.isEmpty ? [:] : try earlierShards(existing))
  }

  /// Returns the shards of the earlier build by the SHA-256 of their JSON, without those that cannot be read.
  private func earlierShards(_ existing: ExistingRelease?) throws(PackError) -> [[UInt8]: [UInt8]] {
    var shards: [[UInt8]: [UInt8]] = [:]
    guard let existing else { return shards }
    let context = try DecompressionContext()
    let most = Int(Shard.largestContentSize)
    for name in existing.record.files where Shard.isFileName(name) {
      try Task.checkpoint()
      guard let bytes = try? files.contents(of: "\(existing.path)/\(name)", limit: Limits.compressBound(most)),
        let size = (try? FrameHeader.parse(bytes.byteSpan, name: name))?.contentSize, (1...UInt64(most)).contains(size)
      else { continue }
      var json = [UInt8](repeating: 0, count: Int(size))
      var span = json.mutableByteSpan
      guard (try? context.decompress(bytes.byteSpan, into: &span, name: name)) != nil else { continue }
      shards[try backend.digest(of: json.byteSpan)] = bytes
    }
    return shards
  }

  /// Adds the files of the catalogue to the release, and reads all of them back with the code of a client.
  func write(_ release: ReleaseDescription, _ existing: ExistingRelease?, _ staged: StagedRelease) throws(PackError) {
    guard !release.catalogue.files.isEmpty else { return }
    for file in release.catalogue.files {
      try Task.checkpoint()
      let name = file.shard.fileName
      // Shards without packs are one file.
      guard !staged.names.contains(name) else { continue }
      // The file of the earlier build saves a write.
      if file.isReused, let existing, try staged.take(name, file.shard.sha256, nil, from: existing) == nil { continue }
      try staged.write(file.bytes, to: name)
    }
    let catalogue = try ReleaseCatalogue(release.manifest, in: staged.path(of: "."), files: files)
    guard catalogue.packs == release.entries else {
      throw PackError(.internalError, "the catalogue does not read back as it was written")
    }
  }
}

/// The size that a budget reserves for the manifest.
package enum ManifestReserve {
  /// The step of a computed reserve, so that most changes of a catalogue do not change the budget.
  private static let step: UInt64 = 64 << 10
  /// Signatures, budget, version and times.
  private static let frame: UInt64 = 1024

  /// Returns the configured size. For a manifest with a catalogue, no less than what it holds and half as much again, because it grows with the essential
  /// and prefetch packs, whose number no setting knows.
  ///
  /// - Parameters:
  ///   - keysSize: The bytes of its keys documents.
  ///   - configured: The `manifestCeiling` of the configuration.
  package static func size(for manifest: Manifest, keysSize: Int, configured: UInt64) throws(PackError) -> UInt64 {
    guard !manifest.catalogue.isEmpty else { return configured }
    var content = manifest
    // Depends on the reserve.
    content.budget = nil
    // Deltas come and go, and must not change what apps promise.
    for number in content.packs.indices { content.packs[number].deltas = [] }
    let held = UInt64(try content.contentBytes().count + keysSize) + frame
    return max(configured, min((held + held / 2 + step - 1) / step * step, UInt64(Manifest.largestSize)))
  }
}
