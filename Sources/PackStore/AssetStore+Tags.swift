import PackFiles
public import PackFormat
package import PackManifest
import PackTrust
import PackWork

extension AssetStore {
  /// Says how dear the packs of some tags are when space is short, from 0 to 1, as ``setPreservation(_:of:)`` does for one pack.
  ///
  /// It is remembered by tag: packs that a later manifest gives a tag to have its priority too. Of a pack with several tags the highest priority counts, and tags of which
  /// nothing was said do not; what was said of the pack itself comes before all tags.
  ///
  /// - Throws: ``PackError/Code/noManifest``, ``PackError/Code/unknownTag``, ``PackError/Code/usage`` for another number.
  public func setPreservation(_ priority: Double, tags: Set<String>) async throws(PackError) {
    guard (0...1).contains(priority) else { throw PackError(.usage, "preservation is a number from 0 to 1, not \(priority)") }
    try await WorkerPool.settled { [directory, manifests] () throws(PackError) in
      try directory.withLock { () throws(PackError) in
        let manifest = try manifests.required().manifest
        try TagCatalog(manifest.packs).check(tags)
        try StorePreservation(directory).set(UInt64((priority * 1_000_000).rounded()), of: tags, in: manifest)
      }
    }
  }

  /// What ``setPreservation(_:tags:)`` said of a tag last; nil where nothing was.
  public func preservation(ofTag tag: String) async throws(PackError) -> Double? {
    try await WorkerPool.settled { [directory] () throws(PackError) in
      try StorePreservation(directory).priorities()[tag].map { Double($0) / 1_000_000 }
    }
  }

  // MARK: For requests by tags

  /// The manifest that was accepted last.
  ///
  /// - Throws: ``PackError/Code/noManifest``
  package func requiredManifest() async throws(PackError) -> Manifest {
    try await WorkerPool.settled { [manifests] () throws(PackError) in try manifests.required().manifest }
  }

  /// Refuses a manifest from which nothing new may be installed.
  ///
  /// - Throws: ``PackError/Code/manifestExpired``, ``PackError/Code/manifestRollback``, ``PackError/Code/noManifest``.
  package func checkInstallable() async throws(PackError) {
    _ = try await WorkerPool.settled { [manifests] () throws(PackError) in try manifests.installable() }
  }

  /// Versions that are kept in use, whether they run or not.
  package struct Holding: Sendable {
    /// By the names of the packs. What is not installed whole is missing.
    package var marks: [String: UseMark] = [:]
    /// Why one of them will never run.
    package var failure: PackError?
  }

  /// Keeps the versions that a manifest names in use, as far as they are installed.
  package func hold(_ packs: [ManifestPack]) async throws(PackError) -> Holding {
    try await WorkerPool.settled { [directory] () throws(PackError) in
      try directory.withLockIfWritable { () throws(PackError) in
        var holding = Holding()
        for pack in packs {
          guard let record = try directory.record(pack.id).map(StoreTrials(directory).judged) else { continue }
          if let failure = record.failure(of: pack.bytes) {
            holding.failure = holding.failure ?? failure
          } else if let content = record.content(pack.bytes), case let item = record.itemName(content),
            try directory.status(directory.place(item)) != nil
          {
            holding.marks[pack.id] = directory.uses.open(item)
          }
        }
        return holding
      }
    }
  }

  /// Has the version that a manifest names run, if it does not.
  ///
  /// - Returns: the token of the trial that it is on, begun here or by an earlier request that failed afterwards, where trials are asked for.
  package func run(_ pack: ManifestPack, startsTrial: Bool) async throws(PackError) -> BootToken? {
    let current = try await current(pack.id)
    if let current, current.version == pack.version, current.sha256 == pack.sha256 {
      return startsTrial && current.state == .trial ? try await trial(of: pack.id) : nil
    }
    // Where nothing ran, there is nothing that a trial could fall back to.
    let onTrial = startsTrial && current != nil
    let token = try await activate(pack.id, version: pack.version, onTrial: onTrial)
    return onTrial ? token : nil
  }

  /// Looks whether there is room for packs that are not installed, or can be made.
  ///
  /// - Returns: the bytes that are missing all the same, and the error that says so; nil where there is room.
  package func lack(for packs: [ManifestPack]) async throws(PackError) -> (missing: UInt64, error: PackError)? {
    let size = packs.reduce(UInt64(0)) { $0.adding($1.sizeOnDevice) }
    let subject = packs.count == 1 ? "pack '\(packs[0].id)'" : "the request for \(packs.count) packs"
    return try await WorkerPool.settled { [directory, manifests] () throws(PackError) in
      try StoreSpace(directory, manifests).lack(
        for: StoreSpace.Needs(volume: size, store: size), of: subject, sparing: Set(packs.map(\.id)))
    }
  }

  /// The bytes that an installation was refused for.
  package func missingSpace(for pack: ManifestPack, file: String) async throws(PackError) -> UInt64 {
    try await WorkerPool.settled { [directory, manifests] () throws(PackError) in
      let device = try directory.status(outside: file)?.device
      let isMovable = try device == directory.status(".")?.device
      return try StoreSpace(directory, manifests).shortage(Installation.needs(pack, pack.install, isMovable: isMovable)).largest
    }
  }

  /// Frees so many bytes, or none where that is not possible.
  package func purgeIfEnough(toFree bytes: UInt64) async throws(PackError) -> PurgeReport {
    let (report, events) = try await WorkerPool.settled { [directory, manifests] () throws(PackError) in
      try StoreSpace(directory, manifests).purgeIfEnough(toFree: bytes)
    }
    hub.tell(events)
    return report
  }
}
