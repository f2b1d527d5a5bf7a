#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The clock of a device: the time of day, the time that passes, and ways to wait.
package protocol DeviceClock: Sendable {
  /// The time of day in seconds since 1970.
  var secondsSince1970: Int64 { get }
  /// The time since an arbitrary moment.
  var now: Duration { get }
  /// Suspends the task. Returns after the duration, or soon after the task is cancelled.
  func sleep(for duration: Duration) async
  /// Blocks the thread for about this time, between two attempts to take a lock.
  func pause(for duration: Duration)
}

/// The system's clock, which continues while the device sleeps.
package struct SystemClock: DeviceClock {
  private let start = ContinuousClock.now

  package init() {}

  package var secondsSince1970: Int64 { Int64(time(nil)) }

  package var now: Duration { start.duration(to: .now) }

  package func sleep(for duration: Duration) async {
    try? await ContinuousClock().sleep(for: duration)
  }

  package func pause(for duration: Duration) {
    let time = UInt32(clamping: min(duration.microseconds, 1 << 30))
    // Random within a factor of three, so that waiting processes do not retry at the same time again and again.
    usleep(time / 2 + UInt32.random(in: 0...time))
  }
}

extension Duration {
  /// The duration in microseconds; 0 for negative ones.
  package var microseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    return UInt64(seconds).times(1_000_000).adding(UInt64(attoseconds / 1_000_000_000_000))
  }
}
