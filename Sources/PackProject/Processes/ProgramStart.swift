#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The start of another program. No shell is involved, and the program does not inherit variables that concern keys.
package struct ProgramStart: Sendable {
  /// The target of a standard stream that the program does not inherit.
  package enum Stream: Hashable, Sendable {
    /// A descriptor that is open in this process.
    case descriptor(CInt)
    /// `/dev/null`.
    case nothing
  }

  /// The name of the program, which is searched in `PATH`, and its arguments.
  package var words: [String]
  /// The standard streams that it does not inherit, by their numbers.
  package var streams: [CInt: Stream] = [:]
  /// The starts of variables that it does not inherit, besides those that concern keys.
  package var withheld: [String] = []
  /// Whether it has its own process group, so that a Ctrl-C that ends this process does not end it.
  package var hasOwnGroup = false

  /// - Parameter words: at least the name of the program.
  package init(_ words: [String]) {
    precondition(!words.isEmpty)
    self.words = words
  }

  /// The `errno` with which the search for the program would end, or nil if there is an executable file. Starts nothing.
  var searchFailure: CInt? {
    let directories = (ProcessEnvironment.text(of: "PATH") ?? "/bin:/usr/bin").split(separator: ":", omittingEmptySubsequences: false)
    let places = words[0].contains("/") ? [words[0]] : directories.map { "\($0.isEmpty ? "." : $0)/\(words[0])" }
    let found = places.compactMap { try? SystemFiles().status(of: $0, in: nil, following: .followed) }.filter { $0.kind == .file }
    return found.contains(where: \.isExecutable) ? nil : found.isEmpty ? ENOENT : EACCES
  }

  /// Returns the error of a start that failed.
  static func failure(_ number: CInt, of name: String, failing code: PackError.Code) -> PackError {
    PackError(code, of: name, number == ENOENT ? "was not found" : "could not be started: \(FileFailure(number: number).text)")
  }

  /// Starts the program. The number is an `errno`, or 0 for success.
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
    // Otherwise the program would inherit the signals that are blocked or ignored here, and could not be stopped.
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
    var number = ETXTBSY
    var attempts = 0
    // A script that was just written is busy as long as a process that was started at that moment has it open, too: until it has become its program.
    while number == ETXTBSY, attempts < 100 {
      if attempts > 0 { usleep(10_000) }
      attempts += 1
      number = unsafe withCStrings(words) { arguments in
        unsafe ProcessEnvironment.lendWithoutKeys(and: withheld) { environment in
          unsafe posix_spawnp(&process, words[0], &actions, &attributes, arguments, environment)
        }
      }
    }
    return (process, number)
  }

  /// A program that runs, with a pipe as its standard output.
  struct Piped {
    let process: Int32
    /// The writing end of a pipe to its standard input, which does not block; nil if it has none.
    var input: OpenFile?
    /// The reading end of the pipe. Set it to nil before waiting: a program with more output than was read would block on the pipe and never end.
    var output: OpenFile?
  }

  /// Starts the program with a pipe as its standard output.
  ///
  /// - Parameters:
  ///   - name: the program in messages.
  ///   - code: the code of the error if it cannot be started.
  ///   - hasInput: whether there is a pipe to its standard input, too.
  func runPiped(_ name: String, failing code: PackError.Code, hasInput: Bool = false) throws(PackError) -> Piped {
    let output = try Self.makePipe(name, failing: code)
    let input = hasInput ? try Self.makePipe(name, failing: code) : nil
    var program = self
    program.streams[1] = .descriptor(output.writing.descriptor)
    if let input {
      program.streams[0] = .descriptor(input.reading.descriptor)
      _ = fcntl(input.writing.descriptor, F_SETFL, O_NONBLOCK)
    }
    let (process, number) = program.run()
    // Closed with this scope. As long as this process has the writing end open, the reading end does not end.
    withExtendedLifetime((output.writing, input?.reading)) {}
    guard number == 0 else { throw Self.failure(number, of: name, failing: code) }
    return Piped(process: process, input: input?.writing, output: output.reading)
  }

  private static func makePipe(_ name: String, failing code: PackError.Code) throws(PackError) -> (reading: OpenFile, writing: OpenFile) {
    var ends: [CInt] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else {
      throw PackError(code, of: name, "could not be started: \(FileFailure(number: errno).text)")
    }
    for descriptor in ends { closeOnStart(descriptor) }
    return (OpenFile(owning: ends[0]), OpenFile(owning: ends[1]))
  }
}
