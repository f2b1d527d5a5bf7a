/// What decides on a device which editions it takes (FORMAT.md §9.11). Nothing of it leaves the device.
package struct RolloutChoice: Hashable, Sendable {
  /// The random bytes of the installation, 32 bytes.
  package let installation: [UInt8]
  /// The groups that the installation belongs to.
  package let groups: Set<String>

  package init(installation: [UInt8], groups: Set<String> = []) { (self.installation, self.groups) = (installation, groups) }

  /// The number of random bytes.
  package static let size = 32

  /// What became of a candidate on the device.
  package enum Standing: Hashable, Sendable {
    /// It runs.
    case running
    /// It failed here, and is not tried again.
    case failed
    /// It does not run. It may be there.
    case other
  }

  /// Returns the place of the installation among all, from 0 to 9 999.
  package func place(in rollout: Rollout, backend: any CryptoBackend = CryptoBackends.standard) throws(PackError) -> UInt64 {
    let digest = try backend.digest(of: (Label.rollout.bytes + rollout.salt + installation).byteSpan)
    let value = digest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return value.multipliedFullWidth(by: Rollout.wholeShare).high
  }

  /// Returns whether the device takes a candidate.
  ///
  /// - Parameter time: The time by the device's clock.
  package func takes(
    _ standing: Standing, of rollout: Rollout, at time: ManifestTime, backend: any CryptoBackend = CryptoBackends.standard
  ) throws(PackError) -> Bool {
    switch (rollout.state, standing) {
    case (.halted, _), (_, .failed): return false
    case (_, .running): return true
    case (.paused, .other): return false
    case (.running, .other):
      guard time < rollout.until else { return false }
      if !groups.isDisjoint(with: rollout.groups) { return true }
      return try place(in: rollout, backend: backend) < rollout.share
    }
  }
}

/// Chooses the editions of packs.
package struct EditionChooser {
  private let rollouts: [String: Rollout]
  private let defaults: ManifestDefaults
  private let choice: RolloutChoice?
  private let time: ManifestTime
  private let backend: any CryptoBackend
  private let standing: (_ id: String, PackRecord.Bytes) throws(PackError) -> RolloutChoice.Standing

  /// - Parameters:
  ///   - manifest: The manifest, or its head.
  ///   - choice: Nil if the installation takes no candidate.
  ///   - standing: What became of a candidate of a pack.
  package init(
    _ manifest: Manifest, _ choice: RolloutChoice?, at time: ManifestTime, backend: any CryptoBackend = CryptoBackends.standard,
    standing: @escaping (_ id: String, PackRecord.Bytes) throws(PackError) -> RolloutChoice.Standing
  ) {
    rollouts = Dictionary(manifest.rollouts.map { ($0.id, $0) }) { first, _ in first }
    defaults = manifest.defaults
    (self.choice, self.time, self.backend, self.standing) = (choice, time, backend, standing)
  }

  /// Returns whether the device takes the candidate of an entry.
  package func takesCandidate(of pack: ManifestPack) throws(PackError) -> Bool {
    guard let candidate = pack.candidate, let choice, let rollout = rollouts[candidate.rollout] else { return false }
    return try choice.takes(standing(pack.id, candidate.bytes), of: rollout, at: time, backend: backend)
  }

  /// Returns an entry as the device sees it.
  package func edition(of pack: ManifestPack) throws(PackError) -> ManifestPack {
    guard pack.candidate != nil else { return pack }
    guard try takesCandidate(of: pack), let taken = pack.takingCandidate(defaults) else { return pack.takingStable }
    return taken
  }

  /// Returns a manifest as the device sees it.
  package func editions(of manifest: Manifest) throws(PackError) -> Manifest {
    var manifest = manifest
    for (index, pack) in manifest.packs.enumerated() where pack.candidate != nil { manifest.packs[index] = try edition(of: pack) }
    return manifest
  }
}

extension ManifestListing {
  /// The same manifest as a device sees it.
  package func choosing(_ chooser: EditionChooser) throws(PackError) -> ManifestListing {
    guard !head.rollouts.isEmpty else { return self }
    var chosen = self
    var takers: Set<String> = []
    for pack in self { if try chooser.takesCandidate(of: pack) { takers.insert(pack.id) } }
    chosen.takers = takers
    return chosen
  }
}

extension ManifestPack {
  /// The version and SHA-256 of the pack file that the entry names.
  package var bytes: PackRecord.Bytes { PackRecord.Bytes(version: version, sha256: sha256) }
}

extension ManifestCandidate {
  /// The version and SHA-256 of the pack file.
  package var bytes: PackRecord.Bytes { PackRecord.Bytes(version: version, sha256: sha256) }
}
