/// Processes numbered items on many threads, and takes the results in the order of the items.
///
/// Memory is bounded: an item is started only if it is less than `window` items ahead of the last result taken. The thread that completes the next
/// result in order takes it, one at a time, so taking needs no extra thread.
package final class OrderedParallelMap<Result>: Sendable {
  private struct State {
    var next = 0
    var taken = 0
    var isTaking = false
    var ready: [Int: Result] = [:]
  }

  private let count: Int
  private let window: Int
  private let pool: WorkerPool
  private let state: Monitor<State>

  package init(count: Int, window: Int, pool: WorkerPool) {
    precondition(window > 0)
    self.count = count
    self.window = window
    self.pool = pool
    let state = Monitor(State())
    self.state = state
    pool.onStop { state.wake() }
  }

  /// Works on items until none is left. Each thread of the pool calls it.
  ///
  /// - Parameters:
  ///   - make: makes the result of an item, in parallel with other threads.
  ///   - take: receives the results in order, one at a time.
  package func work(
    make: (Int) throws(PackError) -> Result, take: (Int, Result) throws(PackError) -> Void
  ) throws(PackError) {
    while let index = claim() {
      try pool.checkpoint()
      let result = try make(index)
      try complete(index, result, take: take)
    }
    try pool.checkpoint()
  }

  private func claim() -> Int? {
    state.wait { state -> Int?? in
      if state.next == count || pool.isStopped { return .some(nil) }
      guard state.next < state.taken + window else { return nil }
      defer { state.next += 1 }
      return .some(state.next)
    }
  }

  private func complete(
    _ index: Int, _ result: Result, take: (Int, Result) throws(PackError) -> Void
  ) throws(PackError) {
    var due: (Int, Result)? = state.withLock { state in
      state.ready[index] = result
      return Self.nextDue(&state)
    }
    while let (number, value) = due {
      try take(number, value)
      due = state.update { state in
        state.taken += 1
        state.isTaking = false
        return Self.nextDue(&state)
      }
    }
  }

  private static func nextDue(_ state: inout State) -> (Int, Result)? {
    guard !state.isTaking, let value = state.ready.removeValue(forKey: state.taken) else { return nil }
    state.isTaking = true
    return (state.taken, value)
  }
}
