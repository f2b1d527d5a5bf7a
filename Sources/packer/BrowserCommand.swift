import PackRuntime
import PackerKit

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The program that opens an address in the browser of whoever is at the machine. No shell is involved.
enum BrowserCommand {
  #if canImport(Darwin)
    private static let program = "open"
  #else
    private static let program = "xdg-open"
  #endif

  /// Starts it and does not wait for it.
  ///
  /// It has a process group of its own, so that the browser outlives the Ctrl-C that ends this process, and says nothing here.
  static func open(_ address: String) throws(PackError) {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
    #else
      var actions = unsafe posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
    #endif
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    for descriptor in [0, 1, 2] as [CInt] {
      unsafe posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
    }
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))
    var process: pid_t = 0
    let number = unsafe withCStrings([program, address]) { arguments in
      unsafe withCStrings(ProcessEnvironment.withoutKeys()) { environment in
        unsafe posix_spawnp(&process, program, &actions, &attributes, arguments, environment)
      }
    }
    guard number == 0 else {
      throw PackError(.missingInput, "the browser cannot be opened: there is no '\(program)' to ask", hint: "open \(address) yourself")
    }
  }
}
