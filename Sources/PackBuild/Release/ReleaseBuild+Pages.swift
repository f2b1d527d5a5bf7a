extension ReleaseBuild {
  /// Returns the packs that are listed in pages: the on-demand packs if there are many. Apple serves no pages.
  func paged(_ entries: [ManifestPack]) -> [ManifestPack] {
    guard configuration.hosting != .apple else { return [] }
    let onDemand = entries.filter { $0.delivery == .onDemand }
    return onDemand.count > PageAssembly.mostOnDemand ? onDemand : []
  }

  /// Makes the pages of the packs that a manifest does not list itself, and of the deltas.
  func assemble(
    _ packs: [ManifestPack], _ updates: [PackUpdates], _ defaults: ManifestDefaults, _ existing: ExistingRelease?
  ) throws(PackError) -> PageAssembly {
    let earlier = packs.isEmpty && updates.isEmpty ? [:] : try earlierPages(existing)
    return try PageAssembly(packs, updates: updates, defaults: defaults, backend: backend, earlier: earlier)
  }

  /// Returns the pages of the earlier build by the SHA-256 of their JSON, without those that cannot be read. Takes 100 bytes for each pack.
  private func earlierPages(_ existing: ExistingRelease?) throws(PackError) -> [[UInt8]: [UInt8]] {
    var pages: [[UInt8]: [UInt8]] = [:]
    guard let existing else { return pages }
    let context = try DecompressionContext()
    let most = Int(PageReference.largestContentSize)
    for name in existing.record.files where name.hasSuffix(PageReference.fileExtension) && !name.contains("/") {
      try Task.checkpoint()
      guard let bytes = try? files.contents(of: "\(existing.path)/\(name)", limit: Limits.compressBound(most)),
        let size = (try? FrameHeader.parse(bytes.byteSpan, name: name))?.contentSize, (1...UInt64(most)).contains(size)
      else { continue }
      var json = [UInt8](repeating: 0, count: Int(size))
      var span = json.mutableByteSpan
      guard (try? context.decompress(bytes.byteSpan, into: &span, name: name)) != nil else { continue }
      pages[try backend.digest(of: json.byteSpan)] = bytes
    }
    return pages
  }

  /// Adds the files of the pages to the release, and reads all of them back with the code of a client.
  func write(_ release: ReleaseDescription, _ existing: ExistingRelease?, _ staged: StagedRelease) throws(PackError) {
    guard !release.pages.files.isEmpty else { return }
    for page in release.pages.files {
      try Task.checkpoint()
      let (name, sha256) = (page.reference.fileName, page.reference.sha256)
      // The file of the earlier build saves a write.
      if page.isReused, let existing, try staged.take(name, sha256, nil, from: existing) == nil { continue }
      try staged.write(page.bytes, to: name)
    }
    let catalogue = try ReleaseCatalogue(release.manifest, in: staged.path(of: "."), files: files)
    guard catalogue.packs == release.entries, catalogue.updates == release.updates else {
      throw PackError(.internalError, "the pages do not read back as they were written")
    }
  }
}

/// The size that a budget reserves for the manifest.
package enum ManifestReserve {
  /// The step of a computed reserve, so that most changes of a catalogue do not change the budget.
  private static let step: UInt64 = 64 << 10
  /// Signatures, budget, version and times.
  private static let frame: UInt64 = 1024

  /// Returns the configured size. For a manifest with pages of packs, no less than what it holds and half as much again, because it grows with the essential and
  /// prefetch packs, whose number no setting knows.
  ///
  /// - Parameters:
  ///   - keysSize: The bytes of its keys documents.
  ///   - configured: The `manifestCeiling` of the configuration.
  package static func size(for manifest: Manifest, keysSize: Int, configured: UInt64) throws(PackError) -> UInt64 {
    // Pages of deltas come and go, and must not change what apps promise.
    guard manifest.pages.contains(where: { $0.kind != .updates }) else { return configured }
    var content = manifest
    // Depends on the reserve.
    content.budget = nil
    let held = UInt64(try content.contentBytes().count + keysSize) + frame
    return max(configured, min((held + held / 2 + step - 1) / step * step, UInt64(Manifest.largestSize)))
  }
}
