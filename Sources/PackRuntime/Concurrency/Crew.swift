package import PackFormat

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Threads that do one job together: compression, ciphers and the disk block, so they stay off the cooperative pool.
///
/// The first failure, or the cancellation of the task that waits for the crew, stops all of them at their next checkpoint.
package final class Crew: Sendable {
  private struct State {
    var failure: PackError?
    var stopHandlers: [@Sendable () -> Void] = []
  }

  private let state = Monitor(State())

  private init() {}

  /// The number of threads a job uses unless told otherwise: the processors that are online.
  package static var defaultSize: Int { max(1, sysconf(CInt(_SC_NPROCESSORS_ONLN))) }

  /// Runs `body` on `size` threads, each with its number, and returns when all have ended.
  ///
  /// - Throws: the first error that a member threw, or ``PackError/Code/cancelled``.
  package static func run(
    _ size: Int, _ body: @escaping @Sendable (Crew, Int) throws(PackError) -> Void
  ) async throws(PackError) {
    precondition(size > 0)
    let crew = Crew()
    await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        let remaining = Monitor(size)
        for number in 0..<size {
          startThread {
            do throws(PackError) {
              try crew.checkpoint()
              try body(crew, number)
            } catch {
              crew.stop(error)
            }
            if remaining.withLock({ $0 -= 1; return $0 == 0 }) { continuation.resume() }
          }
        }
      }
    } onCancel: {
      crew.stop(PackError(.cancelled, "cancelled"))
    }
    if let failure = crew.state.withLock({ $0.failure }) { throw failure }
  }

  /// Throws where the crew has been stopped. Called between frames and between entries.
  package func checkpoint() throws(PackError) {
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  /// Whether the crew has been stopped.
  package var isStopped: Bool { state.withLock { $0.failure != nil } }

  /// Registers what wakes members that wait for each other, so that they notice a stop.
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

  private static func startThread(_ body: @escaping @Sendable () -> Void) {
    let box = unsafe Unmanaged.passRetained(ThreadBody(body)).toOpaque()
    #if canImport(Darwin)
      var thread: pthread_t?
      let status = unsafe pthread_create(&thread, nil, { unsafe runThread($0) }, box)
    #else
      var thread = pthread_t()
      let status = unsafe pthread_create(&thread, nil, { unsafe runThread($0!) }, box)
    #endif
    guard status == 0 else {
      // No thread to be had: the work is done here, later than hoped but done.
      unsafe runThread(box)
      return
    }
    #if canImport(Darwin)
      if let thread = unsafe thread { unsafe pthread_detach(thread) }
    #else
      pthread_detach(thread)
    #endif
  }
}

private final class ThreadBody {
  let run: @Sendable () -> Void

  init(_ run: @escaping @Sendable () -> Void) {
    self.run = run
  }
}

@discardableResult
private func runThread(_ box: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
  unsafe Unmanaged<ThreadBody>.fromOpaque(box).takeRetainedValue().run()
  return nil
}
