/// The rules for retrying failed requests for content.
public struct RetryPolicy: Hashable, Sendable {
  /// The maximum number of attempts.
  public var attempts = 5
  /// The maximum delay after the first failure. It doubles with each further failure.
  public var first: Duration = .seconds(1)
  /// The maximum delay.
  public var longest: Duration = .seconds(300)
  /// The part of the delay that is random, from 0 to 1, so that devices that a server refused do not all return at the same time.
  public var jitter = 0.5

  /// Creates the default rules.
  public init() {}

  /// Returns the delay before the next attempt.
  ///
  /// - Parameters:
  ///   - failures: the number of failed attempts, at least 1.
  ///   - atLeast: the delay that the server requested.
  public func delay(after failures: Int, atLeast: Duration? = nil, using random: inout some RandomNumberGenerator) -> Duration {
    // 2 to the power of 30 seconds exceeds any reasonable limit.
    let doubled = first * (1 << min(max(failures - 1, 0), 30))
    let part = Double.random(in: 0...1, using: &random) * min(max(jitter, 0), 1)
    let delay = min(longest, doubled) * (1 - part)
    guard let atLeast else { return delay }
    return max(delay, min(atLeast, longest))
  }
}
