#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The time and memory of one run of a command.
struct Measurement: Sendable {
  /// The time from the start of the shell to its end, in seconds.
  var wall: Double
  /// The processor time of all processes of the command together, in seconds.
  var cpu: Double
  /// The peak resident memory of the largest process of the command, in bytes.
  var peakMemory: UInt64
}

/// Runs shell commands and measures them.
///
/// The command is started by GNU time, which takes a few hundred kilobytes. Started directly, its peak memory would include the memory of this
/// process, because a new process is a copy of its parent until it executes its program. GNU time adds less than a millisecond of wall time to
/// both sides of every comparison.
struct Stopwatch {
  /// The directory for the shell's error output and the reports.
  let scratch: String
  /// The environment variables for every command, in addition to PATH and HOME.
  var environment: [String: String] = [:]

  private let disk = Disk()

  static let timeProgram = "/usr/bin/time"

  init(scratch: String) {
    self.scratch = scratch
  }

  /// Runs a bash command line, in which a pipeline fails if any part of it fails.
  ///
  /// - Throws: An error with its standard error output, if the status is not `expected`.
  func run(_ script: String, expecting expected: CInt = 0) throws(PackError) -> Measurement {
    let (measurement, status, said) = try attempt(script)
    guard status == expected else {
      throw PackError(.internalError, "command ended with status \(status): \(script)\(said.isEmpty ? "" : "\n\(said)")")
    }
    return measurement
  }

  /// Runs a command line, and returns its status and the first lines of its standard error output.
  func attempt(_ script: String) throws(PackError) -> (measurement: Measurement, status: CInt, said: String) {
    let report = "\(scratch)/report"
    let errors = "\(scratch)/errors"
    // The redirection comes first, so that errors of the shell itself are included.
    let words = [
      Self.timeProgram, "-q", "-f", "%M", "-o", report, "/bin/bash", "-c", "exec 2>'\(errors)'; set -o pipefail; \(script)",
    ]
    try disk.write("", to: errors)
    let start = Self.now()
    let (process, number) = spawn(words)
    guard number == 0 else {
      throw PackError(.internalError, "\(words[0]) could not be started: \(FileFailure(number: number).text)")
    }
    var status: CInt = 0
    var usage = rusage()
    while unsafe wait4(process, &status, 0, &usage) == -1 {
      guard errno == EINTR else {
        throw PackError(.internalError, "\(words[0]) was lost: \(FileFailure(number: errno).text)")
      }
    }
    let wall = Self.now() - start
    let lines = try disk.text(report).split(separator: "\n")
    guard let kibibytes = lines.last.flatMap({ UInt64($0) }) else {
      throw PackError(.internalError, "\(words[0]) reported no memory")
    }
    let measurement = Measurement(
      wall: wall, cpu: Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime), peakMemory: kibibytes << 10)
    let said = try disk.text(errors).split(separator: "\n").prefix(12).joined(separator: "\n")
    let signal = status & 0x7F
    return (measurement, signal != 0 ? 128 + signal : status >> 8 & 0xFF, said)
  }

  /// Returns the time of a monotonic clock, in seconds.
  static func now() -> Double {
    seconds(of: CLOCK_MONOTONIC)
  }

  /// Returns the processor time of this thread, in seconds.
  static func threadTime() -> Double {
    seconds(of: CLOCK_THREAD_CPUTIME_ID)
  }

  private static func seconds(of clock: clockid_t) -> Double {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  private static func seconds(_ time: timeval) -> Double {
    Double(time.tv_sec) + Double(time.tv_usec) / 1e6
  }

  private func spawn(_ words: [String]) -> (process: pid_t, number: CInt) {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
    #else
      var actions = unsafe posix_spawn_file_actions_t()
    #endif
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    unsafe posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)

    var variables = ["LC_ALL=C.UTF-8", "TZ=UTC"]
    for name in ["PATH", "HOME"] {
      if let value = unsafe getenv(name) { variables.append(unsafe "\(name)=\(String(cString: value))") }
    }
    variables += environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }

    var process: pid_t = 0
    let number = unsafe withCStrings(words) { arguments in
      unsafe withCStrings(variables) { environment in
        unsafe posix_spawn(&process, words[0], &actions, nil, arguments, environment)
      }
    }
    return (process, number)
  }
}
