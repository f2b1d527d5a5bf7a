/// The clock of a simulation. It advances only when a simulated operation takes time. Waits take no real time.
package final class VirtualClock: DeviceClock {
  private struct State {
    var start: Int64
    var elapsed: UInt64 = 0
  }

  private let state: Monitor<State>

  /// Creates a clock.
  ///
  /// - Parameter start: the date and time at the beginning, in seconds since 1970.
  package init(start: Int64) {
    state = Monitor(State(start: start))
  }

  /// The time in milliseconds since the beginning.
  package var milliseconds: UInt64 { state.withLock { $0.elapsed } }

  package var secondsSince1970: Int64 { state.withLock { $0.start + Int64($0.elapsed / 1000) } }

  package var now: Duration { .milliseconds(Int64(milliseconds)) }

  package func advance(milliseconds: UInt64) {
    state.withLock { $0.elapsed += milliseconds }
  }

  /// Restarts the clock at a date and time, which may be earlier: clocks of devices are wrong in both directions.
  package func restart(at time: Int64) {
    state.withLock { $0 = State(start: time) }
  }

  package func pause(for duration: Duration) {
    advance(milliseconds: max(1, duration.microseconds / 1000))
  }

  /// Advances the clock by the duration.
  package func sleep(for duration: Duration) async { advance(milliseconds: duration.microseconds / 1000) }
}
