#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The clock of deliveries.
package protocol DeliveryClock: Sendable {
  /// The time of day in seconds since 1970.
  var secondsSince1970: Int64 { get }
  /// Blocks the thread for about this time, between two attempts to take the lock.
  func pause(milliseconds: UInt32)
}

/// The system's clock.
package struct SystemDeliveryClock: DeliveryClock {
  package init() {}

  package var secondsSince1970: Int64 { Int64(time(nil)) }

  package func pause(milliseconds: UInt32) {
    usleep(milliseconds * 1000)
  }
}
