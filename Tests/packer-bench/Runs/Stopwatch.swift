import PackFiles
import PackFormat
import PackProject

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What one run of a command took.
struct Measurement: Sendable {
  /// Seconds from the start of the shell to its end.
  var wall: Double
  /// Seconds of all processors, of all processes of the command together.
  var cpu: Double
  /// The largest memory that any one process of the command had resident, in bytes.
  var peakMemory: UInt64
}

/// Runs shell commands and measures them.
///
/// The command is started by GNU time. A process starts with the memory of its parent as its own peak, because it is a copy of the
/// parent until it executes its program, and this process may be large. GNU time is a few hundred kilobytes. It adds less than a
/// millisecond of wall time, to both sides of every comparison.
struct Stopwatch {
  /// Where the shell's error output and the reports go.
  let scratch: String
  /// Variables for every command, beside PATH and HOME.
  var environment: [String: String] = [:]

  private let disk = Disk()

  static let timeProgram = "/usr/bin/time"

  init(scratch: String) {
    self.scratch = scratch
  }

  /// Runs a command line of bash, in which a failing part of a pipeline fails the whole.
  ///
  /// - Throws: an error with what it wrote to its standard error where it ends with another status than `expected`.
  func run(_ script: String, expecting expected: CInt = 0) throws(PackError) -> Measurement {
    let (measurement, status, said) = try attempt(script)
    guard status == expected else {
      throw PackError(.internalError, "command ended with status \(status): \(script)\(said.isEmpty ? "" : "\n\(said)")")
    }
    return measurement
  }

  /// Runs a command line and tells its status and the first lines it wrote to its standard error.
  func attempt(_ script: String) throws(PackError) -> (measurement: Measurement, status: CInt, said: String) {
    let report = "\(scratch)/report"
    let errors = "\(scratch)/errors"
    // Before the shell: what the shell itself cannot do is told there too.
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

  /// Seconds of a clock that only goes forward.
  static func now() -> Double {
    seconds(of: CLOCK_MONOTONIC)
  }

  /// Seconds of processor time of this thread.
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
