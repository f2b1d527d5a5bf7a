import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A run of the tool.
///
/// Foundation's `Process` is not used, because its search for open files reads past the end of a buffer.
final class ToolProcess {
  private let process: pid_t
  private var status: Int32?

  /// The path of the tool: the value of the variable PACKER, or beside the test bundle.
  static let tool: String = {
    if let named = ProcessInfo.processInfo.environment["PACKER"] { return named }
    #if os(Linux)
      let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
      return URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent("packer").path
    #else
      return Bundle(for: ToolProcess.self).bundleURL.deletingLastPathComponent().appendingPathComponent("packer").path
    #endif
  }()

  /// Starts the tool.
  ///
  /// - Parameters:
  ///   - program: The program to run instead of the tool.
  ///   - directory: The working directory.
  ///   - output: The file for its standard output, or nil for a pipe without a reader.
  init(
    _ words: [String], program: String = tool, in directory: String, variables: [String: String], input: String = "/dev/null",
    output: String?, errors: String
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
    posix_spawn_file_actions_addopen(&actions, 2, errors, flags, 0o644)
    var ends: [CInt] = [-1, -1]
    if let output {
      posix_spawn_file_actions_addopen(&actions, 1, output, flags, 0o644)
    } else {
      guard pipe(&ends) == 0 else { throw ScriptError("cannot make a pipe: \(String(cString: strerror(errno)))") }
      close(ends[0])
      posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    }
    defer { if ends[1] >= 0 { close(ends[1]) } }

    // The shell changes the working directory, because posix_spawn cannot do that on all platforms.
    let command = ["/bin/sh", "-c", #"cd "$0" && exec "$@""#, directory, program] + words
    var started: pid_t = 0
    let number = withCStrings(command) { arguments in
      withCStrings(variables.map { "\($0.key)=\($0.value)" }) { environment in
        posix_spawn(&started, "/bin/sh", &actions, &attributes, arguments, environment)
      }
    }
    guard number == 0 else { throw ScriptError("it did not start: \(String(cString: strerror(number)))") }
    process = started
  }

  deinit {
    if status == nil { kill() }
  }

  /// Kills the process with SIGKILL, and returns when it has ended.
  func kill() {
    guard status == nil else { return }
    _ = signal(process, SIGKILL)
    var raw: CInt = 0
    waitpid(process, &raw, 0)
    status = Self.status(raw)
  }

  /// Waits for the end, and returns the exit status, or 128 plus the signal if a signal ended the process.
  func wait(seconds: TimeInterval) throws -> Int32 {
    let deadline = Date(timeIntervalSinceNow: seconds)
    var raw: CInt = 0
    while status == nil {
      if waitpid(process, &raw, WNOHANG) != 0 {
        status = Self.status(raw)
      } else {
        guard Date() < deadline else {
          kill()
          throw ScriptError("it did not end within \(seconds) seconds")
        }
        usleep(2000)
      }
    }
    return status ?? -1
  }

  private static func status(_ raw: CInt) -> Int32 {
    raw & 0x7F == 0 ? raw >> 8 & 0xFF : 128 + (raw & 0x7F)
  }
}

/// The system's `kill`, under a name that differs from the method's.
private func signal(_ process: pid_t, _ number: CInt) -> CInt { kill(process, number) }

/// Passes texts as a C array of strings that ends with nil.
private func withCStrings<Result>(
  _ texts: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  var pointers = texts.map { strdup($0) } + [nil]
  defer { for pointer in pointers { free(pointer) } }
  return pointers.withUnsafeMutableBufferPointer { body($0.baseAddress!) }
}
