public import PackManifest

/// What happened to the delivery of a pack.
public enum PackEvent: Hashable, Sendable {
  /// The manifest offers these bytes, and they are not those that the status is about.
  case offered(PackBytes)
  /// The app wants the pack.
  case asked
  /// The download was handed to the system.
  case scheduled(isEssential: Bool)
  /// The system began or went on with the download.
  case began
  /// The download rests.
  case paused(PauseReason)
  /// The whole file lies in the shared directory.
  case arrived
  /// An essential download failed, and is with the system again as a non-essential one.
  case demoted
  /// The system does not take the download now.
  case turnedAway(IdleReason)
  /// The download failed.
  case downloadFailed(FailureReason)
  /// The system does not know of the download.
  case forgotten
  /// The app or the person wanted the download no more.
  case cancelled
  /// The app takes the file to install it.
  case installBegan
  /// The app installed the file.
  case installed(InstallMode)
  /// The file could not be installed now, and nothing is wrong with it.
  case installPutOff
  /// The file cannot be installed.
  case installFailed(FailureReason)
  /// The process that installed the file is gone.
  case interrupted
  /// The device turns out to have these bytes.
  case found(InstallMode)
  /// The file, or what was installed, turns out to be gone.
  case purged
  /// The manifest does not offer the pack.
  case unlisted
  /// Nothing of the pack is left on the device.
  case removed
  /// The time before the next attempt is over.
  case retryDue

  /// An event without its values.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// ``PackEvent/offered(_:)``
    case offered
    /// ``PackEvent/asked``
    case asked
    /// ``PackEvent/scheduled(isEssential:)``
    case scheduled
    /// ``PackEvent/began``
    case began
    /// ``PackEvent/paused(_:)``
    case paused
    /// ``PackEvent/arrived``
    case arrived
    /// ``PackEvent/demoted``
    case demoted
    /// ``PackEvent/turnedAway(_:)``
    case turnedAway
    /// ``PackEvent/downloadFailed(_:)``
    case downloadFailed
    /// ``PackEvent/forgotten``
    case forgotten
    /// ``PackEvent/cancelled``
    case cancelled
    /// ``PackEvent/installBegan``
    case installBegan
    /// ``PackEvent/installed(_:)``
    case installed
    /// ``PackEvent/installPutOff``
    case installPutOff
    /// ``PackEvent/installFailed(_:)``
    case installFailed
    /// ``PackEvent/interrupted``
    case interrupted
    /// ``PackEvent/found(_:)``
    case found
    /// ``PackEvent/purged``
    case purged
    /// ``PackEvent/unlisted``
    case unlisted
    /// ``PackEvent/removed``
    case removed
    /// ``PackEvent/retryDue``
    case retryDue
  }

  /// The event without its values.
  public var kind: Kind {
    switch self {
    case .offered: .offered
    case .asked: .asked
    case .scheduled: .scheduled
    case .began: .began
    case .paused: .paused
    case .arrived: .arrived
    case .demoted: .demoted
    case .turnedAway: .turnedAway
    case .downloadFailed: .downloadFailed
    case .forgotten: .forgotten
    case .cancelled: .cancelled
    case .installBegan: .installBegan
    case .installed: .installed
    case .installPutOff: .installPutOff
    case .installFailed: .installFailed
    case .interrupted: .interrupted
    case .found: .found
    case .purged: .purged
    case .unlisted: .unlisted
    case .removed: .removed
    case .retryDue: .retryDue
    }
  }
}
