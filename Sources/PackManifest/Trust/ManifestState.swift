/// Whether a manifest is current or has expired.
public enum ManifestState: Hashable, Sendable {
  /// Packs may be installed from it for this many more seconds.
  case current(secondsLeft: Int64)
  /// No new packs may be installed from it. Installed packs stay.
  case expired(ManifestTime)
}

extension Manifest {
  /// Returns whether the manifest is current or has expired at a point in time.
  public func state(at time: ManifestTime) -> ManifestState {
    time >= expires ? .expired(expires) : .current(secondsLeft: expires.secondsSince1970 - time.secondsSince1970)
  }

  /// Throws if the manifest has expired, so that no new packs are installed from it. Installed packs are not affected.
  ///
  /// - Throws: ``PackError/Code/manifestExpired``
  public func checkExpiry(at time: ManifestTime) throws(PackError) {
    guard case .expired(let expires) = state(at: time) else { return }
    throw PackError(
      .manifestExpired, "manifest version \(version) expired at \(expires); the time is now \(time)",
      advice: .renewManifest)
  }
}
