import TestSupport
import Testing

@Suite("Worker pools", .bounded)
struct CrewTests {
  @Test("every member runs once, with its number", arguments: [1, 2, 8])
  func members(size: Int) async throws {
    let seen = Monitor<[Int]>([])
    try await WorkerPool.run(size) { (_, number) in seen.withLock { $0.append(number) } }
    #expect(seen.withLock { $0 }.sorted() == Array(0..<size))
  }

  @Test("the first failure is thrown, and stops the others at their next checkpoint")
  func firstFailure() async {
    let late = PackError(.internalError, "late")
    let error = await failure { () throws(PackError) in
      try await WorkerPool.run(4) { (pool, number) throws(PackError) in
        if number == 2 { throw PackError(.usage, "first") }
        let stopped = Monitor(false)
        pool.onStop { stopped.update { $0 = true } }
        stopped.waitUntil { $0 }
        #expect(pool.isStopped)
        #expect(code { () throws(PackError) in try pool.checkpoint() } == .usage)
        throw late
      }
    }
    #expect(error?.code == .usage)
  }

  @Test("a cancelled task stops the pool")
  func cancelled() async {
    let begun = Monitor(0)
    let running = Monitor<Task<PackError?, Never>?>(nil)
    let task = Task {
      await failure { () throws(PackError) in
        try await WorkerPool.run(3) { (pool, number) throws(PackError) in
          let stopped = Monitor(false)
          pool.onStop { stopped.update { $0 = true } }
          begun.update { $0 += 1 }
          // Threads of the pool may block; there are only few threads for tasks.
          if number == 0 {
            begun.waitUntil { $0 == 3 }
            running.wait { $0 }.cancel()
          }
          stopped.waitUntil { $0 }
          try pool.checkpoint()
        }
      }
    }
    running.update { $0 = task }
    #expect(await task.value?.code == .cancelled)
  }

  @Test("work on a thread of a pool notices the cancellation itself, unless it is to be settled", arguments: [true, false])
  func checkpoints(isSettled: Bool) async {
    let running = Monitor<Task<PackError?, Never>?>(nil)
    let isDone = Monitor(false)
    let work: @Sendable () throws(PackError) -> Void = { () throws(PackError) in
      let task = running.wait { $0 }
      task.cancel()
      // The handler of the cancellation runs in 'cancel', so that the pool is stopped by now.
      #expect(WorkerPool.isCancelled)
      try Task.checkpoint()
      isDone.update { $0 = true }
    }
    let task = Task {
      await failure { () throws(PackError) in
        if isSettled { try await WorkerPool.settled(work) } else { try await WorkerPool.value { _ throws(PackError) in try work() } }
      }
    }
    running.update { $0 = task }
    #expect(await task.value?.code == (isSettled ? nil : .cancelled))
    #expect(isDone.withLock { $0 } == isSettled)
  }

  @Test("objects held by members are released before the pool returns")
  func released() async throws {
    final class Token: Sendable {
      let gone: Monitor<Int>
      init(_ gone: Monitor<Int>) { self.gone = gone }
      deinit { gone.withLock { $0 += 1 } }
    }
    let gone = Monitor(0)
    for _ in 0..<20 {
      let before = gone.withLock { $0 }
      try await WorkerPool.run(4) { [token = Token(gone)] (_, _) in withExtendedLifetime(token) {} }
      #expect(gone.withLock { $0 } == before + 1)
    }
  }
}

@Suite("Concurrent jobs", .bounded)
struct ConcurrentJobsTests {
  private struct State {
    var started: [Int] = []
    var running = 0
    var most = 0
    var taken: [Int] = []
    var cancelled = 0
  }

  @Test("every result is taken once, and never more jobs run at once than allowed", arguments: [0, 1, 3, 20], [1, 3])
  func results(count: Int, limit: Int) async throws {
    let state = Monitor(State())
    try await ConcurrentJobs.run(count, atOnce: limit) { (number) async throws(PackError) -> Int in
      state.withLock { state in
        state.started.append(number)
        state.running += 1
        state.most = max(state.most, state.running)
      }
      await Task.yield()
      state.withLock { $0.running -= 1 }
      return number * 2
    } take: { (number, result) in
      #expect(result == number * 2)
      state.withLock { $0.taken.append(number) }
    }
    let end = state.withLock { $0 }
    #expect(end.taken.sorted() == Array(0..<count) && end.started.count == count && end.most <= limit && end.running == 0)
    if limit == 1 { #expect(end.started == Array(0..<count)) }
  }

  @Test("as many jobs run at once as are allowed")
  func atOnce() async throws {
    let running = Monitor(0)
    try await ConcurrentJobs.run(3, atOnce: 3) { (_) async throws(PackError) -> Void in
      try await WorkerPool.run(1) { (_, _) in
        running.update { $0 += 1 }
        running.waitUntil { $0 == 3 }
      }
    } take: { (_, _) in
    }
    #expect(running.withLock { $0 } == 3)
  }

  /// Runs ten jobs, three at once. The first one ends when three run; the others end when they are cancelled, or if the first one did not fail.
  private func run(
    _ state: Monitor<State>, first: @escaping @Sendable () throws(PackError) -> Void, take: (Int) throws(PackError) -> Void = { _ in }
  ) async throws(PackError) {
    try await ConcurrentJobs.run(10, atOnce: 3) { (number) async throws(PackError) -> Int in
      state.update { $0.started.append(number) }
      do throws(PackError) {
        try await WorkerPool.run(1) { (pool, _) throws(PackError) in
          guard number > 0 else {
            state.waitUntil { $0.started.count == 3 }
            return try first()
          }
          let stopped = Monitor(false)
          pool.onStop { stopped.update { $0 = true } }
          stopped.waitUntil { $0 }
          try pool.checkpoint()
        }
      } catch {
        if error.code == .cancelled { state.withLock { $0.cancelled += 1 } }
        throw error
      }
      return number
    } take: { (number, _) throws(PackError) in
      try take(number)
    }
  }

  @Test("a failure cancels the jobs that run, and no other is started")
  func oneFails() async {
    let state = Monitor(State())
    let error = await failure { () throws(PackError) in
      try await run(state) { () throws(PackError) in throw PackError(.usage, "first") }
    }
    let end = state.withLock { $0 }
    #expect(error?.code == .usage && end.started.sorted() == [0, 1, 2] && end.cancelled == 2)
  }

  @Test("a result that cannot be taken does the same")
  func taking() async {
    let state = Monitor(State())
    let error = await failure { () throws(PackError) in
      try await run(state) {
      } take: { (_) throws(PackError) in
        throw PackError(.noSpace, "full")
      }
    }
    let end = state.withLock { $0 }
    #expect(error?.code == .noSpace && end.started.sorted() == [0, 1, 2] && end.cancelled == 2)
  }

  @Test("a cancelled task cancels them all")
  func cancelled() async {
    let state = Monitor(State())
    let task = Monitor<Task<PackError?, Never>?>(nil)
    let running = Task {
      await failure { () throws(PackError) in
        try await run(state) { () throws(PackError) in
          task.wait { $0 }.cancel()
          throw PackError(.cancelled, "cancelled")
        }
      }
    }
    task.update { $0 = running }
    #expect(await running.value?.code == .cancelled)
    #expect(state.withLock { $0.started.count } == 3)
  }
}

@Suite("Values shared by threads", .bounded)
struct MonitorTests {
  @Test("no change by any of many threads is lost")
  func counter() async throws {
    let counter = Monitor(0)
    try await WorkerPool.run(4) { (_, _) in
      for _ in 0..<1000 { counter.withLock { $0 += 1 } }
    }
    #expect(counter.withLock { $0 } == 4000)
  }

  @Test("a waiting thread is woken by the change it waits for")
  func wait() async throws {
    let turn = Monitor(0)
    try await WorkerPool.run(4) { (_, number) in
      turn.waitUntil { $0 == 3 - number }
      turn.update { $0 += 1 }
    }
    #expect(turn.withLock { $0 } == 4)
  }

  @Test("an error releases the lock")
  func error() {
    let value = Monitor(1)
    #expect(code { () throws(PackError) in try value.withLock { (_) throws(PackError) in throw PackError(.usage, "") } } == .usage)
    #expect(value.withLockIfFree { $0 } == 1)
  }

  @Test("a value that is in use is not waited for")
  func busy() {
    let value = Monitor(1)
    value.withLock { _ in
      #expect(value.withLockIfFree { $0 } == nil)
    }
  }
}

@Suite("Ordered parallel map", .bounded)
struct OrderedMapTests {
  /// Doubles numbers and returns the consumed ones.
  private func run(
    count: Int, window: Int, workers: Int, make: @escaping @Sendable (Int, WorkerPool) throws(PackError) -> Int = { item, _ in item * 2 },
    take: @escaping @Sendable (Int, Int) throws(PackError) -> Void = { _, _ in }
  ) async throws(PackError) -> [Int] {
    let taken = Monitor<[Int]>([])
    let map = Monitor<OrderedParallelMap<Int>?>(nil)
    try await WorkerPool.run(workers) { (pool, _) throws(PackError) in
      let map = map.withLock { map in
        let made = map ?? OrderedParallelMap<Int>(count: count, window: window, pool: pool)
        map = made
        return made
      }
      try map.work { (item) throws(PackError) in
        try make(item, pool)
      } take: { (item, result) throws(PackError) in
        try take(item, result)
        taken.withLock { $0.append(result) }
      }
    }
    return taken.withLock { $0 }
  }

  @Test("results are consumed in the order of the items", arguments: [0, 1, 2, 100], [1, 2, 7])
  func order(count: Int, window: Int) async throws {
    for workers in [1, 4] {
      #expect(try await run(count: count, window: window, workers: workers) == (0..<count).map { $0 * 2 })
    }
  }

  @Test("the first item may be the last one to be completed")
  func slowFirst() async throws {
    let made = Monitor<Set<Int>>([])
    let results = try await run(count: 20, window: 4, workers: 4) { (item, _) in
      // The window ends before item 4.
      if item == 0 { made.waitUntil { $0.isSuperset(of: [1, 2, 3]) } }
      made.update { _ = $0.insert(item) }
      return item
    }
    #expect(results == Array(0..<20))
  }

  @Test("no item is started more than a window ahead of the last one consumed", arguments: [1, 2, 5])
  func window(_ window: Int) async throws {
    let taken = Monitor(0)
    let tooEarly = Monitor(0)
    _ = try await run(count: 200, window: window, workers: 4) { (item, _) in
      // An item is counted here before the map counts it, so the check is at most too mild, never too strict.
      if item >= taken.withLock({ $0 }) + window { tooEarly.withLock { $0 += 1 } }
      return item
    } take: { (_, _) in
      taken.withLock { $0 += 1 }
    }
    #expect(tooEarly.withLock { $0 } == 0)
  }

  @Test("results are consumed one at a time")
  func oneAtATime() async throws {
    let inside = Monitor(0)
    let together = Monitor(0)
    _ = try await run(count: 200, window: 8, workers: 4) { (_, _) in
      if inside.withLock({
        $0 += 1
        return $0
      }) > 1 {
        together.withLock { $0 += 1 }
      }
      inside.withLock { $0 -= 1 }
    }
    #expect(together.withLock { $0 } == 0)
  }

  @Test("a failure while making or consuming stops the work, and the consumed items are a prefix", arguments: [0, 5, 19], [1, 4])
  func failure(item: Int, workers: Int) async throws {
    let refusal = PackError(.usage, "item \(item)")
    let taken = Monitor<[Int]>([])
    let making = await PackRuntimeTests.failure { () throws(PackError) in
      _ = try await run(count: 20, window: 4, workers: workers) { (number, _) throws(PackError) in
        if number == item { throw refusal }
        return number
      } take: { (number, _) in
        taken.withLock { $0.append(number) }
      }
    }
    #expect(making?.message == refusal.message)
    let beginning = taken.withLock { $0 }
    #expect(beginning == Array(0..<beginning.count))
    #expect(beginning.count <= item)
    let taking = await PackRuntimeTests.failure { () throws(PackError) in
      _ = try await run(count: 20, window: 4, workers: workers) { (number, _) throws(PackError) in
        if number == item { throw refusal }
      }
    }
    #expect(taking?.message == refusal.message)
  }

  @Test("members that wait for room are woken by a cancellation")
  func cancelled() async {
    let begun = Monitor<Set<Int>>([])
    let running = Monitor<Task<PackError?, Never>?>(nil)
    let task = Task {
      await PackRuntimeTests.failure { () throws(PackError) in
        _ = try await run(count: 100, window: 2, workers: 4) { (item, pool) in
          begun.update { _ = $0.insert(item) }
          if item == 0 {
            let stopped = Monitor(false)
            pool.onStop { stopped.update { $0 = true } }
            begun.waitUntil { $0.isSuperset(of: [0, 1]) }
            running.wait { $0 }.cancel()
            stopped.waitUntil { $0 }
          }
          return item
        }
      }
    }
    running.update { $0 = task }
    #expect(await task.value?.code == .cancelled)
    #expect(begun.withLock { $0 } == [0, 1])
  }
}

extension OrderedMapTests {
  private func run(
    count: Int, window: Int, workers: Int, taking take: @escaping @Sendable (Int, Int) throws(PackError) -> Void
  ) async throws(PackError) -> [Int] {
    try await run(count: count, window: window, workers: workers, make: { item, _ in item }, take: take)
  }
}

@Suite("Digests of contents that span frames", .bounded)
struct SpanningDigestsTests {
  @Test("parts of several contents, added by many threads, give the correct digests", arguments: [1, 2, 4])
  func parts(workers: Int) async throws {
    var random = SeededGenerator()
    let contents = (0..<3).map { _ in random.bytes(1000) }
    let expected = try contents.map { try sha256($0) }
    let digests = Monitor<SpanningDigests?>(nil)
    let next = Monitor(0)
    let results = Monitor<[Int: String]>([:])
    try await WorkerPool.run(workers) { (pool, _) throws(PackError) in
      let digests = digests.withLock { digests in
        let made = digests ?? SpanningDigests(backend: CryptoBackends.standard, pool: pool)
        digests = made
        return made
      }
      // Claimed in ascending order, as frames are.
      while true {
        let item = next.withLock { next in
          defer { next += 1 }
          return next
        }
        guard item < 30 else { return }
        let content = item / 10
        let start = UInt64(content * 10_000 + item % 10 * 100)
        let whole = UInt64(content * 10_000)..<UInt64(content * 10_000 + 1000)
        let bytes = Array(contents[content][item % 10 * 100..<item % 10 * 100 + 100])
        if let digest = try digests.add(bytes.byteSpan, start..<start + 100, of: whole) {
          #expect(item % 10 == 9)
          results.withLock { $0[content] = digest.hex }
        }
      }
    }
    #expect(results.withLock { $0 } == [0: expected[0], 1: expected[1], 2: expected[2]])
  }

  @Test("a thread that waits for a part that never arrives is woken by the failure")
  func failure() async {
    let digests = Monitor<SpanningDigests?>(nil)
    let error = await PackRuntimeTests.failure { () throws(PackError) in
      try await WorkerPool.run(2) { (pool, number) throws(PackError) in
        let shared = digests.update { digests in
          let made = digests ?? SpanningDigests(backend: CryptoBackends.standard, pool: pool)
          digests = made
          return made
        }
        if number == 0 { throw PackError(.usage, "no first part") }
        _ = try shared.add([1].byteSpan, 1..<2, of: 0..<2)
        Issue.record("the second part was added first")
      }
    }
    #expect(error?.code == .usage)
  }
}
