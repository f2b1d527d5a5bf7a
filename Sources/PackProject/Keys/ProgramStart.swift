#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The start of another program. No shell is involved, and it gets no variable that concerns keys.
package struct ProgramStart: Sendable {
  /// Where one of its standard streams leads that is not this process's own.
  package enum Stream: Hashable, Sendable {
    /// To a descriptor that is open here.
    case descriptor(CInt)
    /// To nowhere.
    case nothing
  }

  /// Its name, which is looked for where programs are, and its arguments.
  package var words: [String]
  /// Its standard streams, by their numbers, where they are not this process's own.
  package var streams: [CInt: Stream] = [:]
  /// Whether it has a process group of its own, so that it outlives the Ctrl-C that ends this process.
  package var hasOwnGroup = false

  /// - Parameter words: at least the name of the program.
  package init(_ words: [String]) {
    precondition(!words.isEmpty)
    self.words = words
  }

  /// Starts it. The number is an `errno`, 0 for success.
  package func run() -> (process: Int32, number: CInt) {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
    #else
      var actions = unsafe posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
    #endif
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    for (number, stream) in streams.sorted(by: { $0.key < $1.key }) {
      switch stream {
      case .descriptor(let descriptor): unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, number)
      case .nothing: unsafe posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
      }
    }
    // A program would inherit signals that are blocked or ignored here, and could not be stopped.
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    var usual = sigset_t()
    unsafe sigemptyset(&usual)
    for signal in [SIGPIPE, SIGXFSZ, SIGINT, SIGTERM] { unsafe sigaddset(&usual, signal) }
    unsafe posix_spawnattr_setsigdefault(&attributes, &usual)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    let group = hasOwnGroup ? POSIX_SPAWN_SETPGROUP : 0
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group))

    var process: pid_t = 0
    let number = unsafe withCStrings(words) { arguments in
      unsafe ProcessEnvironment.lendWithoutKeys { environment in
        unsafe posix_spawnp(&process, words[0], &actions, &attributes, arguments, environment)
      }
    }
    return (process, number)
  }
}
