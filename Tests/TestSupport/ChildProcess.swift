import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Another program that a test runs.
///
/// Foundation's `Process` is not used. On Linux it learns that a program has ended from a socket that programs started at the same moment inherit, so
/// that waiting for one of them may mean to wait for a server that another test stops later. It also reads past the end of a buffer in its search for
/// open files.
package final class ChildProcess: Sendable {
  package let number: pid_t
  /// The exit status, or 128 plus the signal, when the program has ended.
  private let status = Monitor<Int32?>(nil)

  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - directory: The working directory. If nil, that of the tests.
  ///   - variables: The environment. If nil, that of the tests.
  ///   - output: The file for its standard output, or nil for a pipe without a reader.
  ///   - errors: The file for its standard error. If nil, that of the tests.
  package init(
    _ program: String, _ words: [String] = [], in directory: String? = nil, variables: [String: String]? = nil, input: String = "/dev/null",
    output: String? = "/dev/null", errors: String? = "/dev/null"
  ) throws {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
    #else
      var actions = posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
    #endif
    // The threads that run tests block signals, and a shell that inherits that waits for its children for ever.
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    let flags = O_WRONLY | O_CREAT | O_TRUNC
    posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
    if let errors { posix_spawn_file_actions_addopen(&actions, 2, errors, flags, 0o644) }
    var ends: [CInt] = [-1, -1]
    if let output {
      posix_spawn_file_actions_addopen(&actions, 1, output, flags, 0o644)
    } else {
      guard pipe(&ends) == 0 else { throw Failure(description: "cannot make a pipe: \(String(cString: strerror(errno)))") }
      close(ends[0])
      posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    }
    defer { if ends[1] >= 0 { close(ends[1]) } }
    // Otherwise it would inherit what other tests have open at this moment, and a limit of open files would be reached earlier. Numbers that are not open
    // are passed over.
    #if canImport(Darwin)
      posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_CLOEXEC_DEFAULT))
    #else
      for number in 3..<64 as Range<CInt> { posix_spawn_file_actions_addclose(&actions, number) }
    #endif

    // The shell changes the working directory, because posix_spawn cannot do that on all platforms.
    let command = directory.map { ["/bin/sh", "-c", #"cd "$0" && exec "$@""#, $0, program] + words } ?? [program] + words
    let environment = variables ?? ProcessInfo.processInfo.environment
    var started: pid_t = 0
    let fault = withCStrings(command) { arguments in
      withCStrings(environment.map { "\($0.key)=\($0.value)" }) { environment in
        posix_spawn(&started, command[0], &actions, &attributes, arguments, environment)
      }
    }
    guard fault == 0 else { throw Failure(description: "\(program) did not start: \(String(cString: strerror(fault)))") }
    number = started
  }

  deinit {
    if isRunning { kill() }
  }

  /// Runs a program to its end, and returns its standard output.
  @discardableResult
  package static func run(_ program: String, _ words: [String]) throws -> [UInt8] {
    let directory = try TemporaryDirectory()
    try ChildProcess(program, words, output: directory("output")).wait()
    return directory.bytes(of: "output") ?? []
  }

  package var isRunning: Bool { ended() == nil }

  /// Returns the status if the program has ended. Its number is free for other programs then.
  private func ended() -> Int32? {
    status.withLock { status in
      guard status == nil else { return status }
      var raw: CInt = 0
      let found = waitpid(number, &raw, WNOHANG)
      if found == number { status = raw & 0x7F == 0 ? raw >> 8 & 0xFF : 128 + (raw & 0x7F) }
      // No test may mistake an end that somebody else has seen for a success.
      if found < 0, errno != EINTR { status = 255 }
      return status
    }
  }

  /// Sends a signal, unless the program has ended.
  package func send(_ signal: CInt) {
    status.withLock { status in
      if status == nil { _ = sendSignal(number, signal) }
    }
  }

  /// Kills the program with SIGKILL, and returns when it has ended.
  package func kill() {
    send(SIGKILL)
    wait()
  }

  /// Waits for the end. Returns the exit status, or 128 plus the signal if a signal ended the program.
  @discardableResult
  package func wait() -> Int32 {
    while true {
      if let status = ended() { return status }
      usleep(2000)
    }
  }

  /// Waits for the end, and kills the program if that takes too long.
  package func wait(seconds: TimeInterval) throws -> Int32 {
    let deadline = Date(timeIntervalSinceNow: seconds)
    while true {
      if let status = ended() { return status }
      guard Date() < deadline else {
        kill()
        throw Failure(description: "it did not end within \(seconds) seconds")
      }
      usleep(2000)
    }
  }
}

/// The system's `kill`, under a name that differs from the method's.
private func sendSignal(_ process: pid_t, _ number: CInt) -> CInt { kill(process, number) }

/// Passes texts as a C array of strings that ends with nil.
private func withCStrings<Result>(
  _ texts: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  var pointers = texts.map { strdup($0) } + [nil]
  defer { for pointer in pointers { free(pointer) } }
  return pointers.withUnsafeMutableBufferPointer { body($0.baseAddress!) }
}
