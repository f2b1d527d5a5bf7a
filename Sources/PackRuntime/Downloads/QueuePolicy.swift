/// The limits and retry rules of a queue.
public struct QueuePolicy: Hashable, Sendable {
  /// The maximum number of concurrent downloads.
  public var concurrentDownloads = 20
  /// The number of requests that are written together, 1 to 500. At most two such batches are in memory.
  package var batchSize = 500
  /// The rules for retries.
  public var retry = RetryPolicy()
  /// The maximum number of requests that wait for a retry. While there are this many, no new request is started, so that a temporary failure of the
  /// server does not make every request fail.
  public var largestRetryCount = 100
  /// The number of bytes that a download leaves free on the volume.
  public var freeSpaceMargin: UInt64 = 20 << 20
  /// The interval at which the transport is asked which downloads it still has.
  package var reconcileInterval: Duration = .seconds(60)
  /// The minimum time between two progress events of one download.
  public var progressInterval: Duration = .milliseconds(200)
  /// The time for which ``DownloadQueue/init(root:transport:policy:logger:)`` waits if another process has the queue open.
  public var lockTimeout: Duration = .seconds(5)

  /// Creates the default policy.
  public init() {}

  /// The maximum number of requests in a batch.
  static let largestBatch = 500
}

/// The rules for retrying failed downloads.
public struct RetryPolicy: Hashable, Sendable {
  /// The maximum number of attempts that count. An attempt that resumes a file and adds to it before it breaks off does not count. Neither does a
  /// failure during a server outage: after four times this number of consecutive server failures, or as many as there are concurrent downloads if
  /// that is more, until a file arrives.
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
