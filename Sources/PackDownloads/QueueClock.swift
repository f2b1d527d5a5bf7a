/// The clock of a queue.
package protocol QueueClock: Sendable {
  /// The time since an arbitrary moment.
  var now: Duration { get }
  /// Returns after the duration, or soon after its task is cancelled.
  func sleep(for duration: Duration) async
}

/// The system's clock, which continues while the device sleeps.
package struct SystemQueueClock: QueueClock {
  private let start = ContinuousClock.now

  package init() {}

  package var now: Duration { start.duration(to: .now) }

  package func sleep(for duration: Duration) async {
    try? await ContinuousClock().sleep(for: duration)
  }
}
