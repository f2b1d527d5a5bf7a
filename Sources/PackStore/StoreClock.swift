#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What time it is for a store, and how it waits.
package protocol StoreClock: Sendable {
  /// The time of day in seconds since 1970.
  var secondsSince1970: Int64 { get }
  /// Blocks the thread for about so long: between two attempts to take the lock.
  func pause(microseconds: UInt32)
  /// Suspends the task for about so long: between two looks at a trial.
  ///
  /// - Throws: where the task was cancelled.
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
