/// A version of a pack that is on the device and cannot be opened yet.
public struct SealedPack: Hashable, Sendable {
  /// The name of the pack.
  public let id: String
  /// The version.
  public let version: UInt64
  /// The address of the file that opens it. It is there from its time on.
  public let openerURL: String
  /// The size of that file in bytes.
  public let openerSize: UInt64
  /// The time from which on it is worth asking for that file; nil if it is published with the release. The device's clock may be wrong, and opens nothing.
  public let opens: ManifestTime?
}

extension AssetStore {
  /// Returns the versions of the accepted manifest that are on the device and cannot be opened yet. None without a manifest.
  public func sealed() async throws(PackError) -> [SealedPack] {
    try await WorkerPool.settled { [directory, manifests] () throws(PackError) in
      let closed = try directory.records().filter { record in record.contents.contains { $0.isSealed && !record.hasFailed($0.bytes) } }
      guard !closed.isEmpty, let manifest = try manifests.usable()?.manifest else { return [] }
      let lookup = try manifests.lookUp(Set(closed.map(\.id)), in: manifest)
      return closed.compactMap { record in
        guard let entry = lookup.packs[record.id], let opener = entry.opener, let file = entry.openerFile,
          let base = manifest.defaults.baseURL, record.content(entry.bytes)?.isSealed == true
        else { return nil }
        return SealedPack(
          id: entry.id, version: entry.version, openerURL: base + file.name, openerSize: file.size, opens: opener.opens)
      }
    }
  }

  /// Opens a version of the accepted manifest with the file that ``sealed()`` names. From then on it can be activated, with and without a network.
  ///
  /// The file is compared with the manifest, and the pack is opened with it and compared with its entry. If anything differs, nothing changes.
  ///
  /// - Parameters:
  ///   - id: The name of the pack.
  ///   - opener: The bytes of the file.
  /// - Returns: The version. If it was opened before, it returns without doing so again.
  /// - Throws: ``PackError/Code/noManifest``, ``PackError/Code/unknownPack``, ``PackError/Code/notInstalled``, ``PackError/Code/digestMismatch`` for another file,
  ///   ``PackError/Code/damagedOpener``, ``PackError/Code/noKey`` or ``PackError/Code/wrongKey`` without the pack's key, or the error of a damaged pack.
  @discardableResult
  public func unseal(_ id: String, with opener: [UInt8]) async throws(PackError) -> InstalledPack {
    try await logged("pack cannot be opened", id) { () async throws(PackError) in
      let found = try await WorkerPool.settled { [directory, manifests] () throws(PackError) in
        try Unsealing(directory, manifests).find(id)
      }
      guard let wanted = found.wanted else { return found.installed }
      defer { withExtendedLifetime(found.mark) {} }
      let read = try wanted.read(opener, of: found.entry, backend: directory.backend)
      let pack = try await Pack.open(
        found.installed.path, keys: OpenerKeys(read, over: keys), files: directory.files, backend: directory.backend)
      let (installed, events) = try await WorkerPool.settled { [directory, manifests] () throws(PackError) in
        try pack.check(against: found.entry)
        return try Unsealing(directory, manifests).record(opener, of: found.entry)
      }
      hub.tell([.opened(installed)] + events)
      return installed
    }
  }
}

/// Records the opener of a version.
private struct Unsealing {
  let directory: StoreDirectory
  let manifests: StoreManifests

  init(_ directory: StoreDirectory, _ manifests: StoreManifests) { (self.directory, self.manifests) = (directory, manifests) }

  /// A version that the accepted manifest names.
  struct Found: Sendable {
    let entry: ManifestPack
    let installed: InstalledPack
    /// What opens it. Nil if it is open.
    let wanted: ManifestOpener?
    /// Keeps it on the device.
    let mark: UseMark
  }

  func find(_ id: String) throws(PackError) -> Found {
    let entry = try manifests.entry(id, in: try manifests.required().manifest)
    return try directory.withLockIfWritable { () throws(PackError) in
      guard let record = try directory.record(id), let content = record.content(entry.bytes) else { throw Self.notInstalled(entry) }
      return Found(
        entry: entry, installed: directory.installed(content, of: record), wanted: content.isSealed ? entry.opener : nil,
        mark: directory.uses.open([record.itemName(content)]))
    }
  }

  /// One change of the record: before it, the version is sealed, and after it, it is open.
  func record(_ opener: [UInt8], of entry: ManifestPack) throws(PackError) -> (InstalledPack, [StoreEvent]) {
    try directory.change(entry.id) { (record) throws(PackError) in
      guard let index = record.contents.firstIndex(where: { $0.bytes == entry.bytes && $0.sealedBy == entry.opener?.sha256 }) else {
        throw Self.notInstalled(entry)
      }
      record.contents[index].opener = opener
      let installed = directory.installed(record.contents[index], of: record)
      return (installed, try StoreTrials(directory).dropSurplus(of: &record))
    }
  }

  private static func notInstalled(_ entry: ManifestPack) -> PackError {
    PackError(.notInstalled, "version \(entry.version) of pack '\(entry.id)' is not installed", advice: .install)
  }
}
