/// What a player who has every pack of a recorded release downloads to get to a newer one.
package struct ReleaseUpdate: Hashable, Sendable {
  /// A pack that is downloaded.
  package struct Pack: Hashable, Sendable {
    /// The name it is published under.
    package let id: String
    /// The bytes to download: those of the smallest delta, or of the full pack.
    package let size: UInt64
    /// The size of the full pack in bytes.
    package let packSize: UInt64
    /// Whether that is a delta.
    package let isDelta: Bool
    /// Whether the earlier release did not have it.
    package let isNew: Bool
    /// Whether it comes whole with a new version of the app, because a delta may turn out to be of no use when it is too late.
    package let isEssential: Bool
  }

  /// The manifest version of the release that the player has.
  package let manifest: UInt64
  /// The packs, in the order of the newer release: those of the platform that downloads most. New on-demand packs are not among them, because the app
  /// asks for those.
  package let packs: [Pack]

  /// The bytes to download.
  package var size: UInt64 { packs.reduce(0) { $0.adding($1.size) } }
  /// The bytes to download with a new version of the app, with which essential packs come whole.
  package var sizeWithApp: UInt64 { packs.reduce(0) { $0.adding($1.isEssential ? $1.packSize : $1.size) } }
  /// The bytes to download without deltas.
  package var packSize: UInt64 { packs.reduce(0) { $0.adding($1.packSize) } }
  /// The pack that takes most of it.
  package var largest: Pack? { packs.max { $0.size < $1.size } }

  /// - Parameters:
  ///   - release: The release that the player has.
  ///   - entries: All packs of the newer release.
  package init(from release: ReleaseLock.Release, to entries: [ManifestPack]) {
    self.init(from: release.manifestVersion, having: release.packs, to: entries)
  }

  /// - Parameters:
  ///   - manifest: The manifest version of the release that the player has.
  ///   - packs: All its packs.
  package init(from manifest: UInt64, having packs: [ReleaseLock.Pack], to entries: [ManifestPack]) {
    self.manifest = manifest
    let held = Dictionary(packs.filter { !$0.isRemoved }.map { ($0.id, $0) }) { first, _ in first }
    let groups = DeviceProfile.Platform.groups(of: entries).map { group in
      // From what there may be deltas to other packs: what the player has, or gets before them.
      let bases = Dictionary(group.packs.filter { held[$0.id] != nil || $0.delivery != .onDemand }.map { ($0.id, $0) }) { first, _ in first
      }
      return group.packs.compactMap { Self.pack($0, held[$0.id], $0.basePack.flatMap { bases[$0]?.contentRoot }) }
    }
    func size(_ packs: [Pack]) -> UInt64 { packs.reduce(0) { $0.adding($1.size) } }
    self.packs = groups.max { size($0) < size($1) } ?? []
  }

  private static func pack(_ entry: ManifestPack, _ held: ReleaseLock.Pack?, _ base: [UInt8]?) -> Pack? {
    guard held != nil || entry.delivery != .onDemand, held?.sha256 != entry.sha256 else { return nil }
    let delta = entry.cheapestDelta(over: Set([base, held?.contentRoot].compactMap(\.self)))
    return Pack(
      id: entry.id, size: delta?.size ?? entry.size, packSize: entry.size, isDelta: delta != nil, isNew: held == nil,
      isEssential: entry.isEssentialAsWhole)
  }
}

extension ReleaseUpdate {
  /// What players of an earlier release download. Sizes are in bytes.
  package var json: JSON {
    let packs = packs.map { pack -> JSON in
      ["id": .text(pack.id), "size": .number(pack.size), "packSize": .number(pack.packSize), "isDelta": .flag(pack.isDelta)]
    }
    return [
      "type": "download", "fromManifest": .number(manifest), "size": .number(size), "sizeWithApp": .number(sizeWithApp),
      "packSize": .number(packSize), "packs": .list(packs),
    ]
  }
}
