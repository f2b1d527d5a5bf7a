/// How patient deliveries are.
public struct DeliveryPolicy: Hashable, Sendable {
  /// Seconds before the second attempt after a first failure; each further failure doubles them.
  public var firstDelaySeconds: UInt32 = 60
  /// The most seconds between two attempts.
  public var longestDelaySeconds: UInt32 = 86_400
  /// Seconds for which a download may be missing in the system's list before it counts as forgotten: it may just have finished.
  public var missingSeconds: UInt32 = 60
  /// Seconds after which a download that nobody heard of is handed over again where the system's list is not known.
  public var silentSeconds: UInt32 = 86_400
  /// How long a change waits for the other process before it is refused as ``PackFormat/PackError/Code/stateBusy``, in milliseconds.
  public var lockTimeoutMilliseconds: UInt32 = 1000

  /// The policy that is used unless another one is given.
  public init() {}

  /// Seconds to wait after so many failures in a row.
  public func delay(afterFailures count: UInt32) -> UInt32 {
    guard count > 0 else { return 0 }
    let doublings = min(count - 1, 31)
    let seconds = UInt64(firstDelaySeconds) << UInt64(doublings)
    return UInt32(min(seconds, UInt64(longestDelaySeconds)))
  }
}
