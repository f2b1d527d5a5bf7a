/// A pack that is neither here nor on its way, and why.
public struct Postponement: Hashable, Sendable {
  /// The name of the pack.
  public let id: String
  /// Why nothing is done about it now.
  public let reason: Reason

  /// Why nothing is done about a pack now.
  public enum Reason: Hashable, Sendable {
    /// It comes when the app asks for it.
    case notAsked
    /// Its download was cancelled, and it was not asked for since.
    case cancelled
    /// It has to wait for the first start of the app.
    case beforeLaunch(IdleReason)
    /// It does not fit what may be downloaded before the first start: its size, and what is left, of which every byte but one may be used.
    case allowance(size: UInt64, left: UInt64)
    /// The device has too little room: the bytes needed with all that is under way, and those that are free.
    case space(needed: UInt64, free: UInt64)
    /// It failed; the next attempt is due after so many seconds. Nil: not before the manifest offers other bytes.
    case failed(FailureReason, secondsLeft: UInt64?)
    /// The manifest has expired, and nothing new may be installed from it.
    case manifestExpired
  }
}
