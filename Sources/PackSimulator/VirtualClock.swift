import PackDelivery
import PackDownloads
import PackFiles
import PackStore
import PackWork

/// The time of a simulation: it stands still until something takes time, and nobody waits for it.
package final class VirtualClock: DeliveryClock, StoreClock, QueueClock {
  private struct State {
    var start: Int64
    var elapsed: UInt64 = 0
  }

  private let state: Monitor<State>

  /// - Parameter start: the time of day at its beginning, in seconds since 1970.
  package init(start: Int64) {
    state = Monitor(State(start: start))
  }

  /// Milliseconds since the beginning.
  package var milliseconds: UInt64 { state.withLock { $0.elapsed } }

  package var secondsSince1970: Int64 { state.withLock { $0.start + Int64($0.elapsed / 1000) } }

  package var now: Duration { .milliseconds(Int64(milliseconds)) }

  package func advance(milliseconds: UInt64) {
    state.withLock { $0.elapsed += milliseconds }
  }

  /// Begins anew at a time of day, which may be an earlier one: clocks of devices are wrong in both directions.
  package func restart(at time: Int64) {
    state.withLock { $0 = State(start: time) }
  }

  package func pause(milliseconds: UInt32) {
    advance(milliseconds: UInt64(milliseconds))
  }

  package func pause(microseconds: UInt32) {
    advance(milliseconds: UInt64(max(1, microseconds / 1000)))
  }

  package func tick(milliseconds: UInt64) async throws {
    try Task.checkCancellation()
    advance(milliseconds: milliseconds)
  }

  /// What a queue waits for by the clock alone is never due here (``endless``): it would make the time pass by itself. It returns when its task is
  /// cancelled.
  package func sleep(for duration: Duration) async {
    guard duration >= Self.endless else { return advance(milliseconds: UInt64(duration / .milliseconds(1))) }
    while !Task.isCancelled { try? await Task.sleep(for: Self.endless) }
  }

  /// Longer than any simulation.
  package static let endless: Duration = .seconds(1 << 30)
}
