/// Hands events to whoever listens.
final class EventHub: Sendable {
  private struct State {
    var listeners: [Int: AsyncStream<StoreEvent>.Continuation] = [:]
    var next = 0
  }

  private let state = Monitor(State())

  /// How many events wait for a listener before the oldest goes.
  private static let capacity = 256

  func listen() -> AsyncStream<StoreEvent> {
    AsyncStream(bufferingPolicy: .bufferingNewest(Self.capacity)) { continuation in
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

  func tell(_ events: [StoreEvent]) {
    guard !events.isEmpty else { return }
    let listeners = state.withLock { Array($0.listeners.values) }
    for listener in listeners {
      for event in events { listener.yield(event) }
    }
  }

  deinit {
    for listener in state.withLock({ $0.listeners.values }) { listener.finish() }
  }
}
