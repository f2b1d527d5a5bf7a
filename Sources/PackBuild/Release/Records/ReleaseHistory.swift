/// The releases that players may have: the last one, and those before it that have a record in the folder of released packs.
///
/// Counted are those from `updates.from` of packer.yml on, or without it from the first manifest of the oldest app version that is not retired. An
/// app that was once with players has updated its packs to any release since.
package struct ReleaseHistory: Sendable {
  /// The folder with the packs of the releases.
  package let folder: ReleasedPacks
  private let last: ReleaseLock.Release
  private let oldest: UInt64

  /// Returns nil if nothing was released, or packer.yml turns deltas off.
  package init?(_ lock: ReleaseLock, _ configuration: PackerConfiguration, files: any FileSystem = SystemFiles()) {
    guard let settings = configuration.updates, let last = lock.released else { return nil }
    folder = ReleasedPacks(settings.packs, files: files)
    self.last = last
    oldest = settings.from ?? lock.apps.filter { !$0.isRetired }.map(\.firstManifest).min() ?? 0
  }

  /// Whether the folder has the record of the last release, so that it probably has those of the earlier ones, too.
  package func isRecorded() throws(PackError) -> Bool { try folder.records().contains { $0.version == last.manifestVersion } }

  /// Calls `body` with each release, newest first. One is in memory at a time.
  ///
  /// - Throws: ``PackError/Code/invalidRecord`` with the path of a record that cannot be read.
  package func forEachRelease(_ body: (ReleaseLock.Release) throws(PackError) -> Void) throws(PackError) {
    guard last.manifestVersion >= oldest else { return }
    let records = try folder.records().filter { $0.version <= last.manifestVersion && $0.version >= oldest }
    // After a merge, the last release is a mixture of both sides, which have their own records.
    if !last.isDoubled || records.first?.version != last.manifestVersion { try body(last) }
    for record in records {
      let release = try folder.release(record)
      // Another release with this version came from another branch.
      if record.version < last.manifestVersion || release.packs != last.packs { try body(release) }
    }
  }

  /// Returns what players of each release download to get to a newer one, newest first, if that is anything.
  ///
  /// - Parameter entries: All packs of the newer release.
  package func updates(to entries: [ManifestPack]) throws(PackError) -> [ReleaseUpdate] {
    var updates: [ReleaseUpdate] = []
    try forEachRelease { release in
      // Of one that some devices got first, the others have what the release before it had.
      guard release.packs.allSatisfy({ $0.standing == nil }) else { return }
      let update = ReleaseUpdate(from: release, to: entries)
      if !update.packs.isEmpty { updates.append(update) }
    }
    return updates
  }

  /// A pack as a release had it.
  package struct Edition: Sendable {
    /// The manifest version of the newest release that had it.
    package let manifest: UInt64
    /// The pack.
    package let pack: ReleaseLock.Pack
  }

  /// Returns the packs from which the next build may make deltas, whether it changes a pack or not: after a rollback, two editions have one content.
  ///
  /// - Parameter most: from how many editions of a pack.
  package func bases(of ids: [String], most: Int) throws(PackError) -> Set<ReleaseLock.Pack> {
    let now = Dictionary(last.packs.map { ($0.id, $0.sha256) }) { first, _ in first }
    var bases: Set<ReleaseLock.Pack> = []
    for known in [ids.map { ($0, []) }, ids.map { ($0, now[$0] ?? []) }] {
      for editions in try editions(besides: known).values { bases.formUnion(editions.prefix(most).map(\.pack)) }
    }
    return bases
  }

  /// Returns the editions of packs with other bytes than now, newest first, each content once. One may have the content of now, as after a rollback.
  ///
  /// - Parameter packs: the ids of packs, each with its SHA-256 now; empty if a pack is not made yet. Other packs are left out.
  package func editions(besides packs: [(id: String, sha256: [UInt8])]) throws(PackError) -> [String: [Edition]] {
    let current = Dictionary(packs.map { ($0.id, $0.sha256) }) { first, _ in first }
    var editions: [String: [Edition]] = [:]
    try forEachRelease { release in
      for pack in release.packs where !pack.isRemoved && !pack.isDoubled {
        guard let sha256 = current[pack.id], sha256 != pack.sha256 else { continue }
        guard !(editions[pack.id] ?? []).contains(where: { $0.pack.contentRoot == pack.contentRoot }) else { continue }
        editions[pack.id, default: []].append(Edition(manifest: release.manifestVersion, pack: pack))
      }
    }
    return editions
  }
}
