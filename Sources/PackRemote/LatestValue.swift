/// A value that changes, and the tasks that wait for a change. A listener always gets the latest value, so nothing is buffered for slow listeners.
final class LatestValue<Value: Sendable>: Sendable {
  private struct State {
    var value: Value
    var revision: UInt64 = 1
    var hasEnded = false
    var tickets: UInt64 = 0
    var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
  }

  private let state: Monitor<State>

  init(_ value: Value) {
    state = Monitor(State(value: value))
  }

  var value: Value { state.withLock { $0.value } }

  /// The number of the current value, counted from 1.
  var revision: UInt64 { state.withLock { $0.revision } }

  func set(_ value: Value) {
    var value = value
    let waiting = state.withLock { state in
      // The earlier value is released outside the lock, because releasing it may run any code.
      swap(&state.value, &value)
      state.revision += 1
      return Self.takeWaiting(&state)
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Makes all waiting calls return, and later calls return at once.
  func end() {
    let waiting = state.withLock { state in
      state.hasEnded = true
      return Self.takeWaiting(&state)
    }
    for continuation in waiting { continuation.resume() }
  }

  private static func takeWaiting(_ state: inout State) -> [CheckedContinuation<Void, Never>] {
    defer { state.waiting = [:] }
    return Array(state.waiting.values)
  }

  /// Waits for a value that is newer than a revision. Use 0 for any value.
  ///
  /// - Returns: The latest value. Nil if there will be no newer one, or the task was cancelled.
  func next(after seen: UInt64) async -> (revision: UInt64, value: Value)? {
    let ticket = state.withLock { state in
      state.tickets += 1
      return state.tickets
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let mustWait = state.withLock { state in
          // Checked under the lock: either this sees the cancellation, or the cancellation handler finds the continuation.
          guard state.revision <= seen, !state.hasEnded, !Task.isCancelled else { return false }
          state.waiting[ticket] = continuation
          return true
        }
        if !mustWait { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: ticket) }?.resume()
    }
    guard !Task.isCancelled else { return nil }
    return state.withLock { $0.revision > seen ? ($0.revision, $0.value) : nil }
  }
}
