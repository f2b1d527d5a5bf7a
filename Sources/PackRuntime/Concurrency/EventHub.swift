/// Hands events to whoever listens.
package final class EventHub<Event: Sendable>: Sendable {
  private struct State {
    var listeners: [Int: AsyncStream<Event>.Continuation] = [:]
    var next = 0
  }

  private let state = Monitor(State())
  private let bufferedCount: Int

  /// - Parameter bufferedCount: the events that a slow listener may fall behind before it loses the oldest.
  package init(bufferedCount: Int) {
    self.bufferedCount = bufferedCount
  }

  package func listen() -> AsyncStream<Event> {
    AsyncStream(bufferingPolicy: .bufferingNewest(bufferedCount)) { continuation in
      let number = state.withLock { state in
        state.next += 1
        state.listeners[state.next] = continuation
        return state.next
      }
      continuation.onTermination = { [weak self] _ in
        _ = self?.state.withLock { $0.listeners.removeValue(forKey: number) }
      }
    }
  }

  package func tell(_ events: [Event]) {
    guard !events.isEmpty else { return }
    // Outside the lock: a listener that ends takes it itself.
    for listener in state.withLock({ Array($0.listeners.values) }) {
      for event in events { listener.yield(event) }
    }
  }

  package func tell(_ event: Event) { tell([event]) }

  deinit {
    for listener in state.withLock({ Array($0.listeners.values) }) { listener.finish() }
  }
}
