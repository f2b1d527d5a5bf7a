/// An event in the delivery of a pack.
public enum PackEvent: Hashable, Sendable {
  /// The manifest offers these bytes, and the status is about other bytes.
  case offered(PackBytes)
  /// The app requested the pack.
  case asked
  /// The download was handed to the system.
  case scheduled(isEssential: Bool)
  /// The system started or resumed the download.
  case began
  /// The download was paused.
  case paused(PauseReason)
  /// The complete file is in the shared directory.
  case arrived
  /// An essential download failed and was handed to the system again as a non-essential one.
  case demoted
  /// The system does not accept the download now.
  case turnedAway(IdleReason)
  /// The download failed. `hasGrown` if it brought bytes that the next attempt can use, so that failures before it do not count; `atLeast` is the number of
  /// seconds that the server asked to wait.
  case downloadFailed(FailureReason, hasGrown: Bool = false, atLeast: UInt32 = 0)
  /// The system no longer has the download.
  case forgotten
  /// The app or the user cancelled the download.
  case cancelled
  /// The app started to install the file.
  case installBegan
  /// The app installed the file.
  case installed(InstallMode)
  /// The file cannot be installed now, but nothing is wrong with it.
  case installPutOff
  /// The file cannot be installed.
  case installFailed(FailureReason)
  /// The process that was installing the file has ended.
  case interrupted
  /// The device already has these bytes.
  case found(InstallMode)
  /// The file or the installed pack is gone.
  case purged
  /// The manifest does not offer the pack.
  case unlisted
  /// Nothing of the pack is on the device any more.
  case removed
  /// The wait before the next attempt is over.
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
    /// ``PackEvent/downloadFailed(_:hasGrown:atLeast:)``
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
