#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The three standard streams of the process.
enum StandardStreams {
  /// Opens `/dev/null` in place of each closed standard stream. Otherwise the next opened file would get its number and receive messages.
  ///
  /// The replacements fail when used: an output is opened for reading only, and an input for writing only.
  static func prepare() {
    for (descriptor, access) in [(0, O_WRONLY), (1, O_RDONLY), (2, O_RDONLY)] as [(CInt, CInt)]
    where fcntl(descriptor, F_GETFD) == -1 {
      // The system takes the lowest free number, which is this one: all lower ones are open by now.
      _ = unsafe open("/dev/null", access)
    }
  }

  static func isTerminal(_ descriptor: CInt) -> Bool {
    isatty(descriptor) == 1
  }

  /// Returns the width of the terminal in columns, or 80 if it is unknown.
  static func width(of descriptor: CInt) -> Int {
    var size = winsize()
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  /// Returns the value of an environment variable, or nil if it is unset or empty.
  static func variable(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    let text = unsafe String(cString: value)
    return text.isEmpty ? nil : text
  }
}
