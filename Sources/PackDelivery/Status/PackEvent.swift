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
  /// The download is over: its file is in the shared directory.
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
  /// The file cannot be installed.
  case installFailed(FailureReason)
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
    /// ``PackEvent/installFailed(_:)``
    case installFailed
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
    case .installFailed: .installFailed
    case .retryDue: .retryDue
    }
  }
}
