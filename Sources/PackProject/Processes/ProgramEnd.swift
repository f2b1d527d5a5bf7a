#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The end of a program.
package enum ProgramEnd {
  /// Waits until a program ends. Throws unless it ends by itself with status 0, or one of `statuses`.
  ///
  /// - Parameters:
  ///   - name: the program in messages.
  ///   - code: the code of the error.
  ///   - hint: what to do about another status.
  static func wait(
    for process: Int32, _ name: String, failing code: PackError.Code, hint: String? = nil, allowing statuses: [CInt] = []
  ) throws(PackError) {
    var status: CInt = 0
    while unsafe waitpid(process, &status, 0) == -1 {
      guard errno == EINTR else {
        throw PackError(code, of: name, "could not be waited for: \(FileFailure(number: errno).text)")
      }
    }
    try check(status, name, failing: code, hint: hint, allowing: statuses)
  }

  /// Waits in the same way, but not longer than until `deadline`. Then throws `timeout`, and the program still runs.
  static func wait(
    for process: Int32, _ name: String, failing code: PackError.Code, hint: String, until deadline: ContinuousClock.Instant,
    timeout: PackError
  ) throws(PackError) {
    var status: CInt = 0
    while true {
      let ended = unsafe waitpid(process, &status, WNOHANG)
      if ended == process { return try check(status, name, failing: code, hint: hint) }
      guard ended == 0 || errno == EINTR else {
        throw PackError(code, of: name, "could not be waited for: \(FileFailure(number: errno).text)")
      }
      try Task.checkpoint()
      guard ContinuousClock.now < deadline else { throw timeout }
      usleep(5000)
    }
  }

  /// Ends a program that may have ended already, and that was not waited for.
  static func kill(_ process: Int32) {
    var status: CInt = 0
    // Its number cannot belong to another process before it was waited for.
    guard unsafe waitpid(process, &status, WNOHANG) == 0 else { return }
    _ = signal(SIGKILL, to: process)
    while unsafe waitpid(process, &status, 0) == -1, errno == EINTR {}
  }

  /// Ends a program that has its own process group, and what it started: asks it first, and kills what is left after a time.
  ///
  /// - Parameters:
  ///   - process: a program that was not waited for.
  ///   - patience: the time that it has to end by itself.
  package static func stopGroup(_ process: Int32, patience: Duration) {
    // What it started may outlive it. Its number cannot belong to another group before it was waited for.
    stop(process, all: -process, patience: patience)
  }

  /// Ends a program that was not waited for in the same way, but not what it started.
  static func stop(_ process: Int32, patience: Duration) { stop(process, all: process, patience: patience) }

  private static func stop(_ process: Int32, all: Int32, patience: Duration) {
    let deadline = ContinuousClock.now + patience
    _ = signal(SIGTERM, to: all)
    while !hasEnded(process), ContinuousClock.now < deadline { usleep(20_000) }
    _ = signal(SIGKILL, to: all)
    var status: CInt = 0
    while unsafe waitpid(process, &status, 0) == -1, errno == EINTR {}
  }

  /// Whether a program has ended. It is still to be waited for.
  package static func hasEnded(_ process: Int32) -> Bool {
    var information = unsafe siginfo_t()
    guard unsafe waitid(P_PID, id_t(process), &information, WEXITED | WNOHANG | WNOWAIT) == 0 else { return true }
    return unsafe information.si_signo == SIGCHLD
  }

  private static func signal(_ number: CInt, to process: Int32) -> CInt {
    #if canImport(Darwin)
      Darwin.kill(process, number)
    #else
      Glibc.kill(process, number)
    #endif
  }

  private static func check(
    _ status: CInt, _ name: String, failing code: PackError.Code, hint: String?, allowing statuses: [CInt] = []
  ) throws(PackError) {
    // The layout that WIFSIGNALED and WEXITSTATUS read. Swift does not import these macros.
    let signal = status & 0x7F
    let exit = status >> 8 & 0xFF
    guard signal == 0 else { throw PackError(code, of: name, "was ended by signal \(signal)") }
    guard exit == 0 || statuses.contains(exit) else { throw PackError(code, of: name, "ended with status \(exit)", hint: hint) }
  }
}
