#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A worker pool: threads that do one job together. Compression, ciphers and file operations block, so they do not run on Swift's cooperative thread
/// pool.
///
/// The first failure, or the cancellation of the waiting task, stops all threads at their next checkpoint.
package final class WorkerPool: Sendable {
  private struct State {
    var failure: PackError?
    var stopHandlers: [@Sendable () -> Void] = []
  }

  private let state = Monitor(State())

  /// The pool of the current thread; nil on other threads.
  @TaskLocal private static var current: WorkerPool?

  /// Whether its work goes to its end after a stop.
  private let isSettled: Bool

  private init(isSettled: Bool = false) { self.isSettled = isSettled }

  /// Whether the work of the current thread is over, because its task was cancelled or its pool was stopped. For waits that block the thread.
  package static var isCancelled: Bool { current?.isStopped ?? Task.isCancelled }

  /// Whether the current thread is to end its work at its next checkpoint.
  static var endsEarly: Bool { current.map { !$0.isSettled && $0.isStopped } ?? Task.isCancelled }

  /// The default number of threads of a job: the number of processors that were online at first.
  package static let defaultSize = max(1, sysconf(CInt(_SC_NPROCESSORS_ONLN)))

  /// The largest number of threads that a caller may request. Each thread needs its own buffers, and few machines have more processors.
  package static let largestSize = 1024

  /// Returns the number of threads for a request, or the default number for nil.
  package static func size(for jobs: Int?) throws(PackError) -> Int {
    guard let jobs else { return defaultSize }
    guard (1...largestSize).contains(jobs) else {
      throw PackError(.usage, "the number of jobs is \(jobs), but must be from 1 to \(largestSize)")
    }
    return jobs
  }

  /// Runs `body` on `size` threads, each with its number, and returns when all have ended.
  ///
  /// - Throws: the first error that a member threw, or ``PackError/Code/cancelled``.
  package static func run(
    _ size: Int, _ body: @escaping @Sendable (WorkerPool, Int) throws(PackError) -> Void
  ) async throws(PackError) {
    precondition(size > 0)
    let pool = WorkerPool()
    await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        let remaining = Monitor(size)
        for number in 0..<size {
          let thread = DetachedThread {
            $current.withValue(pool) {
              do throws(PackError) {
                try pool.checkpoint()
                try body(pool, number)
              } catch {
                pool.stop(error)
              }
            }
          } completion: {
            if remaining.withLock({
              $0 -= 1
              return $0 == 0
            }) {
              continuation.resume()
            }
          }
          pool.start(thread)
        }
      }
    } onCancel: {
      pool.stop(PackError(.cancelled, "cancelled"))
    }
    if let failure = pool.state.withLock({ $0.failure }) { throw failure }
  }

  /// Runs `body` on `size` threads that share the value that the first of them makes.
  ///
  /// - Throws: the first error that a member threw, or ``PackError/Code/cancelled``.
  package static func run<Shared: Sendable>(
    _ size: Int, sharing make: @escaping @Sendable (WorkerPool) -> Shared,
    work body: @escaping @Sendable (WorkerPool, Shared) throws(PackError) -> Void
  ) async throws(PackError) {
    let shared = Monitor<Shared?>(nil)
    try await run(size) { (pool, _) throws(PackError) in
      let value = shared.withLock { shared in
        let value = shared ?? make(pool)
        shared = value
        return value
      }
      try body(pool, value)
    }
  }

  /// Runs `body` on one thread and returns its result.
  ///
  /// - Throws: the error that `body` threw, or ``PackError/Code/cancelled``.
  package static func value<Result: Sendable>(
    _ body: @escaping @Sendable (WorkerPool) throws(PackError) -> Result
  ) async throws(PackError) -> Result {
    let made = Monitor<Result?>(nil)
    try await run(1) { (pool, _) throws(PackError) in
      let result = try body(pool)
      made.withLock { $0 = result }
    }
    guard let result = made.withLock({ $0 }) else { preconditionFailure("a pool that did not fail has done its work") }
    return result
  }

  /// Runs `body` on one thread to its end, even if the task is cancelled. For short work whose result must not be lost. Only a wait for a lock may end
  /// early, by ``isCancelled``.
  package static func settled<Result: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let made = Monitor<Swift.Result<Result, Failure>?>(nil)
    let pool = WorkerPool(isSettled: true)
    await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        let thread = DetachedThread {
          $current.withValue(pool) {
            do throws(Failure) {
              let result = try body()
              made.withLock { $0 = .success(result) }
            } catch {
              made.withLock { $0 = .failure(error) }
            }
          }
        } completion: {
          continuation.resume()
        }
        pool.start(thread)
      }
    } onCancel: {
      pool.stop(PackError(.cancelled, "cancelled"))
    }
    guard let result = made.withLock({ $0 }) else { preconditionFailure("a thread that has ended has done its work") }
    return try result.get()
  }

  /// Throws if the pool was stopped. Workers call it between frames and between entries.
  package func checkpoint() throws(PackError) {
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  /// Whether the pool was stopped.
  package var isStopped: Bool { state.withLock { $0.failure != nil } }

  /// Registers a handler that wakes waiting threads, so that they notice a stop.
  package func onStop(_ handler: @escaping @Sendable () -> Void) {
    let stopped = state.withLock { state in
      state.stopHandlers.append(handler)
      return state.failure != nil
    }
    if stopped { handler() }
  }

  private func stop(_ failure: PackError) {
    let handlers = state.withLock { state in
      if state.failure == nil { state.failure = failure }
      return state.stopHandlers
    }
    for handler in handlers { handler() }
  }

  private func start(_ thread: DetachedThread) {
    guard !thread.start() else { return }
    // Running the work here could block the thread that another pool needs to start. The pool is stopped first, so the work only finds that.
    stop(PackError(.internalError, "the system cannot start another thread", advice: .developer("use fewer jobs")))
    thread.run()
  }
}
