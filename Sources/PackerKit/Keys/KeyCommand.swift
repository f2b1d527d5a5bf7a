import PackFiles
import PackRuntime

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A program whose standard output is a key text. No shell is involved.
enum KeyCommand {
  /// Runs the program to its end.
  ///
  /// Its standard input and error are this process's own, so that a password manager can ask. It gets no variable that concerns keys.
  static func run(_ words: [String], files: any FileSystem) throws(PackError) -> KeyInput {
    let name = "key command '\(words[0])'"
    var ends: [CInt] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else {
      throw PackError(.noKey, "\(name) could not be started: \(FileFailure(number: errno).text)")
    }
    var readEnd: OpenFile? = OpenFile(owning: ends[0])
    var writeEnd: OpenFile? = OpenFile(owning: ends[1])
    for descriptor in ends { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }

    let (process, number) = spawn(words, output: ends[1])
    // While this side holds the writing end, the reading end never ends.
    withExtendedLifetime(writeEnd) {}
    writeEnd = nil
    guard number == 0 else {
      let reason = number == ENOENT ? "was not found" : "could not be started: \(FileFailure(number: number).text)"
      throw PackError(.noKey, "\(name) \(reason)")
    }

    var output = SecretInput()
    var failure: FileFailure?
    do throws(FileFailure) {
      if let readEnd { try output.readToEnd(of: readEnd, files: files) }
    } catch {
      failure = error
    }
    // A program that says more than a key is not waited for with its output unread: it would never end.
    readEnd = nil
    let origin = "the output of \(name)"
    let ending = Result { () throws(PackError) in try wait(for: process, name: name) }
    try output.checkLength(of: origin)
    try ending.get()
    if let failure { throw PackError(.noKey, "\(origin) cannot be read: \(failure.text)") }
    return KeyInput(output, from: origin)
  }

  private static func wait(for process: pid_t, name: String) throws(PackError) {
    var status: CInt = 0
    while unsafe waitpid(process, &status, 0) == -1 {
      guard errno == EINTR else {
        throw PackError(.noKey, "\(name) was lost: \(FileFailure(number: errno).text)")
      }
    }
    // The layout that WIFSIGNALED and WEXITSTATUS take apart; macros are not imported.
    let signal = status & 0x7F
    let exit = status >> 8 & 0xFF
    guard signal == 0 else { throw PackError(.noKey, "\(name) was ended by signal \(signal)") }
    guard exit == 0 else {
      throw PackError(
        .noKey, "\(name) ended with status \(exit)", hint: "run it by itself; it must print the key text and end with 0")
    }
  }

  /// Starts the program with its output at `output`. The number is an `errno`, 0 for success.
  private static func spawn(_ words: [String], output: CInt) -> (process: pid_t, number: CInt) {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
    #else
      var actions = unsafe posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
    #endif
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)

    // A program would inherit signals that are blocked or ignored here, and could not be stopped.
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    var usual = sigset_t()
    unsafe sigemptyset(&usual)
    for signal in [SIGPIPE, SIGINT, SIGTERM] { unsafe sigaddset(&usual, signal) }
    unsafe posix_spawnattr_setsigdefault(&attributes, &usual)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    var process: pid_t = 0
    let number = unsafe withCStrings(words) { arguments in
      unsafe withCStrings(ProcessEnvironment.withoutKeys()) { environment in
        unsafe posix_spawnp(&process, words[0], &actions, &attributes, arguments, environment)
      }
    }
    return (process, number)
  }
}
