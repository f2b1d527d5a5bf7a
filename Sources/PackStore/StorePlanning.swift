/// Compares the installed packs with the accepted manifest. Reads records and changes none.
struct StorePlanning {
  private let directory: StoreDirectory
  private let manifests: StoreManifests

  init(_ directory: StoreDirectory, _ manifests: StoreManifests) {
    self.directory = directory
    self.manifests = manifests
  }

  /// - Parameter wanted: Packs of the catalogue that are wanted, besides those that are installed or were purged.
  /// - Throws: as ``Catalogue/lookUp(_:in:)``.
  func plan(for manifest: Manifest, wanting wanted: Set<String> = []) throws(PackError) -> UpdatePlan {
    var records: [String: PackRecord] = [:]
    for record in try directory.records() { records[record.id] = record }
    var downloads: [ManifestPack] = []
    var installed: [String] = []
    var failed: [ManifestPack] = []
    var listed: [ManifestPack] = []
    let device = directory.device.withLock { $0 }
    let offered = try manifests.editions(of: manifest)
    let lookup = try manifests.lookUp(manifest.catalogue.isEmpty ? [] : wanted.union(records.keys), in: manifest)
    let ownIDs = Set(manifest.packs.map(\.id))
    let others = lookup.packs.values.filter { entry in
      guard !ownIDs.contains(entry.id) else { return false }
      return wanted.contains(entry.id) || records[entry.id].map { !$0.contents.isEmpty || $0.purged != nil } ?? false
    }
    let memory = try manifests.rememberedOrNothing()
    for entry in offered.packs + others.sorted(by: { $0.id.precedes($1.id) }) where device.accepts(entry) {
      let record = records.removeValue(forKey: entry.id)
      if record?.hasFailed(entry.bytes) == true || (try? memory.check(entry)) == nil {
        failed.append(entry)
      } else if record?.content(entry.bytes) != nil {
        installed.append(entry.id)
        if !ownIDs.contains(entry.id) { listed.append(entry) }
      } else {
        downloads.append(entry)
      }
    }
    // A pack whose shard is missing may still be listed.
    for id in lookup.unknown { records[id] = nil }
    manifests.noteAgain(listed)
    let obsolete = records.values.sorted { $0.id < $1.id }.flatMap { record in record.contents.map { directory.installed($0, of: record) } }
    let largestUnpacked = downloads.filter { $0.install == .unpacked }.map(\.size).max() ?? 0
    return UpdatePlan(
      downloads: downloads, installed: installed, failed: failed, obsolete: obsolete,
      missingShards: lookup.missing.map { manifest.catalogue[$0].fileName },
      downloadSize: downloads.reduce(0) { $0.adding($1.size) },
      peakSize: downloads.reduce(largestUnpacked) { $0.adding($1.sizeOnDevice) })
  }
}
