/// The timing of deliveries.
public struct DeliveryPolicy: Hashable, Sendable {
  /// The number of seconds between the first failure and the second attempt. It doubles with each further failure.
  public var firstDelaySeconds: UInt32 = 1
  /// The maximum number of seconds between two attempts.
  public var longestDelaySeconds: UInt32 = 86_400
  /// The maximum number of seconds between two attempts if there was no network.
  public var longestOfflineDelaySeconds: UInt32 = 300
  /// The maximum number of seconds between two attempts for a pack that somebody waits for.
  public var longestAwaitedDelaySeconds: UInt32 = 30
  /// The part of a delay that is random, from 0 to 1, so that devices that a server refused do not all return at the same time.
  public var jitter = 0.5
  /// The number of seconds for which a download may be missing in the system's list before it counts as lost. It may have just finished.
  public var missingSeconds: UInt32 = 60
  /// The number of seconds without news after which a download is handed over again, if the system's list is unknown.
  public var silentSeconds: UInt32 = 86_400
  /// The maximum number of downloads that the system or the app's own transfers have at a time; the others follow as these end. Not for essential packs at
  /// an event that permits essential downloads, because they are permitted at no other. Requested packs do not wait for packs that were not requested.
  public var largestBatch = 500
  /// The number of milliseconds for which a change waits for the other process before it fails with ``PackFormat/PackError/Code/stateBusy``.
  public var lockTimeoutMilliseconds: UInt32 = 1000

  /// Creates the default policy.
  public init() {}

  /// Returns the number of seconds to wait after this number of consecutive failures. Without jitter, the result is always the same.
  ///
  /// - Parameter atLeast: the number of seconds that the server asked to wait.
  public func delay(afterFailures count: UInt32, reason: FailureReason, atLeast: UInt32 = 0) -> UInt32 {
    guard count > 0 else { return 0 }
    let longest = reason == .offline ? min(longestOfflineDelaySeconds, longestDelaySeconds) : longestDelaySeconds
    let seconds = min(UInt64(firstDelaySeconds) << UInt64(min(count - 1, 31)), UInt64(longest))
    let random = jitter > 0 ? Double.random(in: 0...min(jitter, 1)) * Double(seconds) : 0
    return max(UInt32(seconds) - UInt32(random), min(atLeast, longest))
  }
}
