public import PackFormat
public import PackManifest

/// Whether a manifest may still be installed from.
public enum ManifestState: Hashable, Sendable {
  /// It may, for so many seconds more.
  case current(secondsLeft: Int64)
  /// Nothing new may be installed from it. What is installed stays.
  case expired(ManifestTime)
}

extension Manifest {
  /// Whether the manifest may still be installed from, by a clock.
  public func state(at time: ManifestTime) -> ManifestState {
    time >= expires ? .expired(expires) : .current(secondsLeft: expires.secondsSince1970 - time.secondsSince1970)
  }

  /// Refuses to install something new from a manifest that has expired. Nothing that is installed is touched by it.
  ///
  /// - Throws: ``PackError/Code/manifestExpired``
  public func checkExpiry(at time: ManifestTime) throws(PackError) {
    guard case .expired(let expires) = state(at: time) else { return }
    throw PackError(
      .manifestExpired, "manifest version \(version) expired at \(expires), and it is \(time)",
      advice: .renewManifest)
  }
}
