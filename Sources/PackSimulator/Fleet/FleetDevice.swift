/// What of a device follows rollouts, with the code of devices: the choice of editions, the memory of manifests, and the records of packs. Files and the
/// network are left out.
package struct FleetDevice: Sendable {
  package let choice: RolloutChoice
  /// How far its clock is ahead, in seconds.
  package let drift: Int64
  package private(set) var memory: ManifestMemory
  /// The manifest that it accepted last.
  package private(set) var manifest: Manifest?
  /// The records of the packs, by id.
  package var records: [String: PackRecord] = [:]

  package init(_ choice: RolloutChoice, drift: Int64, trusting keys: [SigningPublicKey]) {
    (self.choice, self.drift, memory) = (choice, drift, ManifestMemory(trusting: keys))
  }

  /// A download of a pack, or of a delta to it.
  package struct Download: Hashable, Sendable {
    package let bytes: PackRecord.Bytes
    package let size: UInt64
    package let isCandidate: Bool
  }

  /// What ran before a start, and what runs after it.
  package struct Activation: Hashable, Sendable {
    package let id: String
    package let before: PackRecord.Content?
    package let content: PackRecord.Content
    package var isChange: Bool { content.bytes != before?.bytes }
  }

  /// Follows other keys, as after an update of the app.
  package mutating func trust(_ keys: [SigningPublicKey]) {
    (memory, manifest) = (ManifestMemory(memory.accepted, trusting: keys), nil)
  }

  /// Takes a manifest over, unless its memory refuses it.
  package mutating func follow(_ published: VerifiedManifest) {
    guard (try? memory.accept(published)) != nil else { return }
    manifest = published.manifest
  }

  /// Returns the editions that it takes.
  ///
  /// - Parameter time: The right time, in seconds since 1970.
  package func offered(at time: Int64) throws(PackError) -> [ManifestPack] {
    guard let manifest, let now = ManifestTime(secondsSince1970: time + drift) else { return [] }
    let chooser = EditionChooser(manifest, choice, at: now) { [records] (id, bytes) throws(PackError) in
      records[id]?.standing(of: bytes) ?? .other
    }
    return try chooser.editions(of: manifest).packs
  }

  /// Downloads and installs what it is offered and lacks.
  package mutating func install(at time: Int64) throws(PackError) -> [Download] {
    var downloads: [Download] = []
    for pack in try offered(at: time) {
      var record = noting(pack)
      if record.content(pack.bytes) == nil, !record.hasFailed(pack.bytes) {
        let delta = pack.cheapestDelta(over: Set(record.contents.compactMap(\.contentRoot)))
        downloads.append(Download(bytes: pack.bytes, size: delta?.size ?? pack.size, isCandidate: pack.isCandidate))
        var content = PackRecord.Content(
          bytes: pack.bytes, mode: .packed, size: pack.size, sizeOnDevice: pack.size, contentRoot: pack.contentRoot, isProven: false)
        content.isCandidate = pack.isCandidate
        for gone in record.surplus(keeping: Self.keptVersions, before: pack.bytes) { record.forget(gone.bytes) }
        record.contents.append(content)
      }
      records[pack.id] = record
    }
    return downloads
  }

  /// Activates what it is offered, as far as it is installed.
  ///
  /// - Parameter fails: Whether a version crashes here before it is confirmed.
  package mutating func activate(at time: Int64, fails: (PackRecord.Bytes) -> Bool) throws(PackError) -> [Activation] {
    var activations: [Activation] = []
    for pack in try offered(at: time) {
      var record = noting(pack)
      if let content = try? record.choose(nil, pack) {
        let activation = Activation(id: pack.id, before: record.running, content: content)
        activations.append(activation)
        if activation.isChange, fails(content.bytes) {
          record.trial = PackRecord.Trial(bytes: content.bytes, nonce: [], session: "", starts: 1)
          record.fail(content.bytes, reason: "crash")
        } else if activation.isChange {
          record.settle(on: content.bytes, nonce: [])
        }
      }
      for gone in record.surplus(keeping: Self.keptVersions) { record.forget(gone.bytes) }
      records[pack.id] = record
    }
    return activations
  }

  /// The record of a pack, after it was offered.
  private func noting(_ pack: ManifestPack) -> PackRecord {
    var record = records[pack.id] ?? PackRecord(id: pack.id)
    // A candidate that has become the stable edition is none any more.
    if !pack.isCandidate { record.setCandidate(pack.bytes, false) }
    return record
  }

  private static let keptVersions = StorePolicy().keepVersions
}
