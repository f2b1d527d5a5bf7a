extension AssetStore {
  /// Finds the cheapest way to packs of the accepted manifest over the installed versions.
  ///
  /// - Parameters:
  ///   - hops: The largest number of deltas of a way, 1 or 2.
  ///   - mode: Whether the packs are to be kept encrypted or unpacked. If nil, the manifest decides.
  /// - Returns: The deltas that bring a pack in fewer bytes than its own file, by the id of the pack.
  /// - Throws: ``PackError/Code/cannotRead``.
  package func routes(to packs: [ManifestPack], hops: Int, mode: InstallMode? = nil) async throws(PackError) -> [String: UpdateRoute] {
    try await WorkerPool.settled { [directory] () throws(PackError) in
      var routes: [String: UpdateRoute] = [:]
      for pack in packs where !pack.deltas.isEmpty {
        var roots = try directory.record(pack.id)?.roomForDeltas(of: mode ?? pack.install, upTo: hops) ?? [:]
        if let base = try pack.basePack.flatMap({ (id) throws(PackError) in try directory.record(id) }) {
          // A new file or tree is made, so that it may be packed or not.
          roots.merge(base.roomForDeltas(of: .unpacked, upTo: 1)) { own, _ in own }
        }
        routes[pack.id] = UpdateRoute.cheapest(to: pack, over: roots)
      }
      return routes
    }
  }
}

extension PackRecord {
  /// Returns the content roots of versions over which deltas can be read, and how many.
  ///
  /// - Parameter install: How the pack is to be installed: one that stays packed cannot be read over an unpacked one.
  fileprivate func roomForDeltas(of install: InstallMode, upTo most: Int) -> [[UInt8]: Int] {
    var room: [[UInt8]: Int] = [:]
    for content in contents where !hasFailed(content.bytes) && (install == .unpacked || content.mode == .packed) {
      guard let root = content.contentRoot else { continue }
      let left = content.mode == .unpacked ? Pack.mostDeltas : Pack.mostDeltas - depth(content)
      room[root] = max(room[root] ?? 0, min(most, left))
    }
    return room.filter { $0.value > 0 }
  }
}

extension ManifestPack {
  /// Returns the entry with the URL, size and SHA-256 of a delta in place of those of the pack.
  package func fetched(as delta: ManifestDelta, _ defaults: ManifestDefaults) -> ManifestPack {
    var file = self
    (file.size, file.sha256) = (delta.size, delta.sha256)
    file.url = defaults.url(id, delta.sha256) ?? url
    return file
  }
}
