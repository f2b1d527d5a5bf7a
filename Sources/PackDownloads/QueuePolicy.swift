/// What a queue allows itself.
public struct QueuePolicy: Hashable, Sendable {
  /// The downloads at a time.
  public var concurrentDownloads = 20
  /// The requests that are written together, 1 to 500. At most two such batches are in memory.
  public var batchSize = 500
  /// When what failed is tried again.
  public var retry = RetryPolicy()
  /// The requests that may wait for their next attempt. When there are more, none that is new is begun: a server that is down
  /// for a while must not make every request fail.
  public var largestRetryCount = 100
  /// The bytes that a download leaves free on the volume.
  public var freeSpaceMargin: UInt64 = 20 << 20
  /// How often the transport is asked whether it still knows what is under way.
  public var reconcileInterval: Duration = .seconds(60)
  /// The shortest time between two events of one download's progress.
  public var progressInterval: Duration = .milliseconds(200)
  /// How long ``DownloadQueue/init(root:transport:policy:)`` waits for another process to let go of the queue.
  public var lockTimeout: Duration = .seconds(5)

  /// Makes the usual policy.
  public init() {}

  /// The most requests a batch may hold.
  static let largestBatch = 500
}

/// When a download that failed is tried again.
public struct RetryPolicy: Hashable, Sendable {
  /// The attempts in all that count. One that broke off after it brought a resumed file further does not, nor do those at a server that answers nobody: where
  /// it fails four times this number in a row, or as often as there are downloads at a time if that is more, until a file arrives.
  public var attempts = 5
  /// What is waited after the first failure, at most; it doubles each time.
  public var first: Duration = .seconds(1)
  /// The most that is waited.
  public var longest: Duration = .seconds(300)
  /// The part of the wait that is left to chance, from 0 to 1, so that the devices that a server turned away do not come back all at once.
  public var jitter = 0.5

  /// Makes the usual policy.
  public init() {}

  /// The time to the next attempt.
  ///
  /// - Parameters:
  ///   - failures: how many attempts failed, at least 1.
  ///   - atLeast: what the server asked for.
  public func delay(after failures: Int, atLeast: Duration? = nil, using random: inout some RandomNumberGenerator) -> Duration {
    // 2 to the power of 30 seconds are beyond any limit that makes sense.
    let doubled = first * (1 << min(max(failures - 1, 0), 30))
    let part = Double.random(in: 0...1, using: &random) * min(max(jitter, 0), 1)
    let delay = min(longest, doubled) * (1 - part)
    guard let atLeast else { return delay }
    return max(delay, min(atLeast, longest))
  }
}
