#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The three streams the process was started with.
enum StandardStreams {
  /// Fills the places of streams that are closed, or the next file opened would take them and receive what was meant for a person.
  ///
  /// They are filled with something that refuses to be used: an output that can only be read, an input that can only be written.
  static func prepare() {
    for (descriptor, access) in [(0, O_WRONLY), (1, O_RDONLY), (2, O_RDONLY)] as [(CInt, CInt)]
    where fcntl(descriptor, F_GETFD) == -1 {
      // The lowest free number is taken, which is this one: all below it are open by now.
      _ = unsafe open("/dev/null", access)
    }
  }

  static func isTerminal(_ descriptor: CInt) -> Bool {
    isatty(descriptor) == 1
  }

  /// The columns of the terminal at a descriptor, 80 where it does not say.
  static func width(of descriptor: CInt) -> Int {
    var size = winsize()
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  /// The value of an environment variable, nil where it is unset or empty.
  static func variable(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    let text = unsafe String(cString: value)
    return text.isEmpty ? nil : text
  }
}
