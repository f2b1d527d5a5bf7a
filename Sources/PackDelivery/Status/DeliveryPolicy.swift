/// The timing of deliveries.
public struct DeliveryPolicy: Hashable, Sendable {
  /// The number of seconds between the first failure and the second attempt. It doubles with each further failure.
  public var firstDelaySeconds: UInt32 = 60
  /// The maximum number of seconds between two attempts.
  public var longestDelaySeconds: UInt32 = 86_400
  /// The number of seconds for which a download may be missing in the system's list before it counts as lost. It may have just finished.
  public var missingSeconds: UInt32 = 60
  /// The number of seconds without news after which a download is handed over again, if the system's list is unknown.
  public var silentSeconds: UInt32 = 86_400
  /// The number of milliseconds for which a change waits for the other process before it fails with ``PackFormat/PackError/Code/stateBusy``.
  public var lockTimeoutMilliseconds: UInt32 = 1000

  /// Creates the default policy.
  public init() {}

  /// Returns the number of seconds to wait after this number of consecutive failures.
  public func delay(afterFailures count: UInt32) -> UInt32 {
    guard count > 0 else { return 0 }
    let doublings = min(count - 1, 31)
    let seconds = UInt64(firstDelaySeconds) << UInt64(doublings)
    return UInt32(min(seconds, UInt64(longestDelaySeconds)))
  }
}
