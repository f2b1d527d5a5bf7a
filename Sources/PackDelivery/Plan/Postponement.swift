/// A pack that is neither on the device nor being downloaded, with the reason.
public struct Postponement: Hashable, Sendable {
  /// The name of the pack.
  public let id: String
  /// The reason why the pack is not downloaded now.
  public let reason: Reason

  /// The reason why a pack is not downloaded now.
  public enum Reason: Hashable, Sendable {
    /// The pack has on-demand delivery, and the app has not requested it.
    case notAsked
    /// Its download was cancelled, and the pack was not requested again.
    case cancelled
    /// It must wait for the first start of the app.
    case beforeLaunch(IdleReason)
    /// It exceeds the allowance before the first start of the app: the size of the pack and the bytes left. A pack must be smaller than the bytes
    /// left.
    case allowance(size: UInt64, left: UInt64)
    /// As many others are being downloaded as ``DeliveryPolicy/largestBatch`` permits. The bytes to download then.
    case batch(PackBytes)
    /// The device does not have enough free space: the bytes needed, including everything in progress, and the free bytes.
    case space(needed: UInt64, free: UInt64)
    /// It failed. The next attempt is due after this number of seconds. Nil: not before the manifest offers other bytes.
    case failed(FailureReason, secondsLeft: UInt64?)
    /// Its file is here, and the pack with this name is installed first, because the file is a delta over it.
    case base(String)
    /// The manifest has expired, so nothing new may be installed from it.
    case manifestExpired
  }
}
