import PackWork

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Turns signals into cancellation, so that temporary files are gone before the process is.
///
/// The signals are blocked in all threads, and one thread waits for them: nothing runs inside a signal handler. The first one cancels
/// the work; the second one ends the process at once. So does the first where the work may be abandoned and is stuck: in a read from a
/// pipe that nobody fills, for example.
final class SignalWatch: Sendable {
  private struct State {
    var received: ExitStatus?
    var abandonable = 0
  }

  private let state = Monitor(State())
  private let console: Console
  private let watched: [CInt]

  /// Blocks the signals. This must come before any other thread is made.
  init(console: Console) {
    self.console = console
    // Ignored from the start, as under nohup or in a script's background: then the wish is to run on.
    watched = [SIGINT, SIGTERM, SIGHUP].filter { !Self.isIgnored($0) }
    var set = Self.set(of: watched)
    unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    // A closed pipe is told by the write that fails, and so is a file that may not grow any more.
    _ = signal(SIGPIPE, SIG_IGN)
    _ = signal(SIGXFSZ, SIG_IGN)
  }

  /// The status of the first signal that came, if one did.
  var received: ExitStatus? {
    state.withLock { $0.received }
  }

  /// Says whether the work may be left where it stands.
  func allowAbandoning(_ isAllowed: Bool) {
    state.withLock { $0.abandonable = isAllowed ? 1 : 0 }
  }

  /// Runs something that may be left where it stands.
  func whileAbandonable<Result: ~Copyable, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    state.withLock { $0.abandonable += 1 }
    defer { state.withLock { $0.abandonable -= 1 } }
    return try body()
  }

  /// Has a thread of its own wait for signals, and returns at once.
  func watch(cancel: @escaping @Sendable () -> Void) {
    guard !watched.isEmpty else { return }
    guard !DetachedThread(work: { self.wait(cancel: cancel) }).start() else { return }
    // With nobody to take them the signals do what they always do.
    var set = Self.set(of: watched)
    unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
  }

  /// Waits for signals until the work ends the process, and has `cancel` called at the first one.
  ///
  /// Where the main thread does not do this, it must not wait in the run loop of an asynchronous `main`: there it takes signals again.
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

  /// Ends the process if the work does not notice its cancellation, wherever nothing has to be cleaned up.
  private func abandon(_ status: ExitStatus) {
    var idle = 0
    while true {
      usleep(100_000)
      idle = state.withLock { $0.abandonable } > 0 ? idle + 1 : 0
      // Three tenths of a second are plenty for work that notices.
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
