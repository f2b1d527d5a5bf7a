/// Sends events to listeners.
package final class EventHub<Event: Sendable>: Sendable {
  private struct State {
    var listeners: [Int: AsyncStream<Event>.Continuation] = [:]
    var handlers: [Int: @Sendable (Event) -> Void] = [:]
    var next = 0
  }

  private let state = Monitor(State())
  private let bufferedCount: Int

  /// - Parameter bufferedCount: the number of events that are kept for a slow listener. After that it loses the oldest.
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

  /// Calls a function with each event, on the thread that sends it, until the returned value is released. For listeners that must not miss an event.
  /// The function must be quick.
  package func handle(_ handler: @escaping @Sendable (Event) -> Void) -> Handling {
    let number = state.withLock { state in
      state.next += 1
      state.handlers[state.next] = handler
      return state.next
    }
    return Handling { [weak self] in
      _ = self?.state.withLock { $0.handlers.removeValue(forKey: number) }
    }
  }

  /// Keeps a function registered while it exists.
  package final class Handling: Sendable {
    private let end: @Sendable () -> Void

    fileprivate init(_ end: @escaping @Sendable () -> Void) {
      self.end = end
    }

    deinit {
      end()
    }
  }

  package func tell(_ events: [Event]) {
    guard !events.isEmpty else { return }
    // Outside the lock, because a listener that ends takes the lock.
    let (listeners, handlers) = state.withLock { (Array($0.listeners.values), Array($0.handlers.values)) }
    for listener in listeners {
      for event in events { listener.yield(event) }
    }
    for handler in handlers {
      for event in events { handler(event) }
    }
  }

  package func tell(_ event: Event) { tell([event]) }

  deinit {
    for listener in state.withLock({ Array($0.listeners.values) }) { listener.finish() }
  }
}
