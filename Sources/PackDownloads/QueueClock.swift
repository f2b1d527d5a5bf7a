/// The time as a queue sees it.
package protocol QueueClock: Sendable {
  /// The time since some moment that does not matter.
  var now: Duration { get }
  /// Returns after a while, or soon after its task was cancelled.
  func sleep(for duration: Duration) async
}

/// The system's time, which goes on while the device sleeps.
package struct SystemQueueClock: QueueClock {
  private let start = ContinuousClock.now

  package init() {}

  package var now: Duration { start.duration(to: .now) }

  package func sleep(for duration: Duration) async {
    try? await ContinuousClock().sleep(for: duration)
  }
}
