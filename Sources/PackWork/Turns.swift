package import PackFormat

/// Has tasks do something one after the other, for each key, in the order in which they came.
package final class Turns<Key: Hashable & Sendable>: Sendable {
  private struct Waiter {
    let ticket: UInt64
    let continuation: CheckedContinuation<Bool, Never>
  }

  private struct State {
    /// Who waits for those that somebody has.
    var waiting: [Key: [Waiter]] = [:]
    var tickets: UInt64 = 0
  }

  private let state = Monitor(State())

  package init() {}

  /// Waits until nobody else has the turn, and takes it. Who took it gives it back.
  ///
  /// - Throws: ``PackError/Code/cancelled`` where the task is cancelled before its turn comes.
  package func take(_ key: Key) async throws(PackError) {
    let ticket = state.withLock { state in
      state.tickets += 1
      return state.tickets
    }
    let isTaken = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isTaken: Bool? = state.withLock { state in
          // Looked at under the lock: either this sees the cancellation, or its handler finds the waiter.
          if Task.isCancelled { return false }
          guard state.waiting[key] != nil else {
            state.waiting[key] = []
            return true
          }
          state.waiting[key, default: []].append(Waiter(ticket: ticket, continuation: continuation))
          return nil
        }
        if let isTaken { continuation.resume(returning: isTaken) }
      }
    } onCancel: {
      let waiter: Waiter? = state.withLock { state in
        guard let index = state.waiting[key]?.firstIndex(where: { $0.ticket == ticket }) else { return nil }
        return state.waiting[key]?.remove(at: index)
      }
      waiter?.continuation.resume(returning: false)
    }
    guard isTaken else { throw PackError(.cancelled, "cancelled") }
  }

  /// Lets the next one have the turn.
  package func give(_ key: Key) {
    let next: Waiter? = state.withLock { state in
      guard let next = state.waiting[key]?.first else {
        state.waiting[key] = nil
        return nil
      }
      state.waiting[key]?.removeFirst()
      return next
    }
    next?.continuation.resume(returning: true)
  }
}
