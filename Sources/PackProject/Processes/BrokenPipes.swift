#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Writing to a pipe that may have lost its reader, in a process that does not ignore the signal for it.
enum BrokenPipes {
  /// Calls `body` with the signal blocked in this thread, and removes it if it came.
  static func blocked<Result, E: Error>(_ body: () throws(E) -> Result) throws(E) -> Result {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGPIPE)
    var before = sigset_t()
    unsafe pthread_sigmask(SIG_BLOCK, &signals, &before)
    defer {
      var pending = sigset_t()
      unsafe sigpending(&pending)
      if unsafe sigismember(&pending, SIGPIPE) == 1, unsafe sigismember(&before, SIGPIPE) == 0 {
        var signal: CInt = 0
        unsafe sigwait(&signals, &signal)
      }
      unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
    }
    return try body()
  }
}
