#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The clock of a store: the current time, and ways to wait.
package protocol StoreClock: Sendable {
  /// The time of day in seconds since 1970.
  var secondsSince1970: Int64 { get }
  /// Blocks the thread for about this time, between two attempts to take the lock.
  func pause(microseconds: UInt32)
  /// Suspends the task for about this time, between two checks of a trial.
  ///
  /// - Throws: An error if the task was cancelled.
  func tick(milliseconds: UInt64) async throws
}

/// The system's clock.
package struct SystemStoreClock: StoreClock {
  package init() {}

  package var secondsSince1970: Int64 { Int64(time(nil)) }

  package func pause(microseconds: UInt32) {
    usleep(microseconds)
  }

  package func tick(milliseconds: UInt64) async throws {
    try await Task.sleep(nanoseconds: milliseconds * 1_000_000)
  }
}
