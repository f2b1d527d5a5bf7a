import PackWork

/// A value that changes, and those who wait for it to. Nobody is handed a value that is not the latest, so nothing is kept for slow listeners.
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

  /// Counts the values from 1.
  var revision: UInt64 { state.withLock { $0.revision } }

  func set(_ value: Value) {
    var value = value
    let waiting = state.withLock { state in
      // The earlier value goes outside the lock, because it may do anything when it goes.
      swap(&state.value, &value)
      state.revision += 1
      return Self.takeWaiting(&state)
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Has all who wait return, and nobody wait any more.
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

  /// Waits for a value later than the one of a revision, 0 for any.
  ///
  /// - Returns: nil where there will be none, or the task was cancelled.
  func next(after seen: UInt64) async -> (revision: UInt64, value: Value)? {
    let ticket = state.withLock { state in
      state.tickets += 1
      return state.tickets
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let mustWait = state.withLock { state in
          // Looked at under the lock: either this sees the cancellation, or its handler finds who waits.
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
