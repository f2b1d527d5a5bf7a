/// A lock per key. Tasks get it in the order in which they requested it.
package final class KeyedLock<Key: Hashable & Sendable>: Sendable {
  private struct Waiter {
    let ticket: UInt64
    let continuation: CheckedContinuation<Bool, Never>
  }

  private struct State {
    /// The waiting tasks of each locked key.
    var waiting: [Key: [Waiter]] = [:]
    var tickets: UInt64 = 0
  }

  private let state = Monitor(State())

  package init() {}

  /// Waits until the key is free, and locks it. Each call that returns needs one ``unlock(_:)``.
  ///
  /// - Throws: ``PackError/Code/cancelled`` if the task is cancelled while it waits.
  package func lock(_ key: Key) async throws(PackError) {
    let ticket = state.withLock { state in
      state.tickets += 1
      return state.tickets
    }
    let isTaken = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isTaken: Bool? = state.withLock { state in
          // Checked under the lock: either this check sees the cancellation, or the cancellation handler finds the waiter.
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

  /// Passes the key to the next waiting task.
  package func unlock(_ key: Key) {
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
