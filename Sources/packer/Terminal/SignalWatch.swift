#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Turns signals into cancellation, so that temporary files are removed before the process ends.
///
/// The signals are blocked in all threads, and one thread waits for them: nothing runs inside a signal handler. The first signal cancels
/// the work. The second one ends the process at once. The first one also ends the process if the work may be abandoned and does not stop,
/// for example because it reads from a pipe that has no data.
final class SignalWatch: Sendable {
  private struct State {
    var received: ExitStatus?
    var abandonable = 0
  }

  private let state = Monitor(State())
  private let console: Console
  private let watched: [CInt]

  /// Blocks the signals. Must be called before any other thread starts.
  init(console: Console) {
    self.console = console
    // A signal that is ignored from the start, as under nohup or in the background of a script, stays ignored.
    watched = [SIGINT, SIGTERM, SIGHUP].filter { !Self.isIgnored($0) }
    var set = Self.set(of: watched)
    unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    // A closed pipe is reported by the failing write, and so is a file that has reached its size limit.
    _ = signal(SIGPIPE, SIG_IGN)
    _ = signal(SIGXFSZ, SIG_IGN)
  }

  /// The exit status for the first signal received, or nil.
  var received: ExitStatus? {
    state.withLock { $0.received }
  }

  /// Sets whether the process may end in the middle of the work.
  func allowAbandoning(_ isAllowed: Bool) {
    state.withLock { $0.abandonable = isAllowed ? 1 : 0 }
  }

  /// Runs `body`, during which the process may end at any time.
  func whileAbandonable<Result: ~Copyable, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    state.withLock { $0.abandonable += 1 }
    defer { state.withLock { $0.abandonable -= 1 } }
    return try body()
  }

  /// Starts a thread that waits for signals, and returns at once.
  func watch(cancel: @escaping @Sendable () -> Void) {
    guard !watched.isEmpty else { return }
    guard !DetachedThread(work: { self.wait(cancel: cancel) }).start() else { return }
    // Without that thread, the signals have their default effect.
    var set = Self.set(of: watched)
    unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
  }

  /// Waits for signals until the work ends the process, and calls `cancel` at the first one.
  ///
  /// If another thread runs this, the main thread must not wait in the run loop of an asynchronous `main`, which unblocks the signals.
  func wait(cancel: () -> Void) -> Never {
    while true {
      guard !watched.isEmpty else {
        pause()
        continue
      }
      var set = Self.set(of: watched)
      var number: CInt = 0
      guard unsafe sigwait(&set, &number) == 0 else { continue }
      let status = number == SIGINT ? ExitStatus.interrupted : .terminated
      let isFirst = state.withLock { state in
        defer { state.received = state.received ?? status }
        return state.received == nil
      }
      guard isFirst else { _exit(status.rawValue) }
      cancel()
      _ = DetachedThread { self.abandon(status) }.start()
    }
  }

  /// Ends the process if the work does not react to its cancellation and nothing has to be cleaned up.
  private func abandon(_ status: ExitStatus) {
    var idle = 0
    while true {
      usleep(100_000)
      idle = state.withLock { $0.abandonable } > 0 ? idle + 1 : 0
      // 0.3 seconds are enough for work that reacts to cancellation.
      guard idle == 3 else { continue }
      console.finishIfFree(.stopped(status))
      _exit(status.rawValue)
    }
  }

  private static func set(of signals: [CInt]) -> sigset_t {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for number in signals { unsafe sigaddset(&set, number) }
    return set
  }

  private static func isIgnored(_ number: CInt) -> Bool {
    var action = sigaction()
    guard unsafe sigaction(number, nil, &action) == 0 else { return false }
    #if canImport(Darwin)
      let handler = unsafe action.__sigaction_u.__sa_handler
    #else
      let handler = unsafe action.__sigaction_handler.sa_handler
    #endif
    // Functions cannot be compared; SIG_IGN is the address 1.
    return unsafe unsafeBitCast(handler, to: Int.self) == 1
  }
}
