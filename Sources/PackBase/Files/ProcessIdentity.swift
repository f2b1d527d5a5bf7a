#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The identity of a process, by which other processes can check later whether it still runs.
///
/// The process number is not enough: the system reuses it after a while, and a container gives its processes the same numbers at every start.
package struct ProcessIdentity: Hashable, Sendable, CustomStringConvertible {
  /// An identifier of the last system start, 16 hexadecimal digits. No process from before that still runs.
  package let boot: String
  package let number: Int32
  /// The start of the process in a unit of the system, or 0 if unknown.
  package let started: UInt64

  /// This process.
  package static var current: ProcessIdentity {
    let number = getpid()
    return ProcessIdentity(boot: currentBoot(), number: number, started: startTime(of: number) ?? 0)
  }

  private init(boot: String, number: Int32, started: UInt64) {
    self.boot = boot
    self.number = number
    self.started = started
  }

  /// Reads the text that ``description`` returned.
  package init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].utf8.count == 16, let number = Int32(parts[1]), number > 0, let started = UInt64(parts[2], radix: 16)
    else {
      return nil
    }
    self.init(boot: String(parts[0]), number: number, started: started)
  }

  /// Letters, digits and hyphens: `<boot>-<number>-<start>`.
  package var description: String { "\(boot)-\(number)-\(String(started, radix: 16))" }

  /// Whether the process still runs; true if unknown.
  package var isAlive: Bool {
    guard boot == Self.currentBoot() else { return false }
    // EPERM: it exists, but belongs to another user or is outside this process's sandbox.
    guard kill(number, 0) == 0 || errno == EPERM else { return false }
    guard started != 0, let now = Self.startTime(of: number) else { return true }
    return now == started
  }

  #if canImport(Darwin)
    private static func currentBoot() -> String {
      var text = [CChar](repeating: 0, count: 64)
      var size = text.count
      if unsafe sysctlbyname("kern.bootsessionuuid", &text, &size, nil, 0) == 0 {
        return digits(of: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)))
      }
      var time = timeval()
      size = MemoryLayout<timeval>.size
      guard unsafe sysctlbyname("kern.boottime", &time, &size, nil, 0) == 0 else { return digits(of: []) }
      return digits(of: Array(String(Int64(time.tv_sec), radix: 16).utf8))
    }

    private static func startTime(of number: Int32) -> UInt64? {
      var name = [CTL_KERN, KERN_PROC, KERN_PROC_PID, number]
      var process = unsafe kinfo_proc()
      var size = unsafe MemoryLayout<kinfo_proc>.size
      guard unsafe sysctl(&name, 4, &process, &size, nil, 0) == 0, size > 0 else { return nil }
      let time = unsafe process.kp_proc.p_un.__p_starttime
      return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_usec)
    }
  #else
    private static func currentBoot() -> String { digits(of: contents(of: "/proc/sys/kernel/random/boot_id")) }

    private static func startTime(of number: Int32) -> UInt64? {
      // Field 22, counted from the end of the name, which is in parentheses and may contain anything (proc_pid_stat(5)).
      let bytes = contents(of: "/proc/\(number)/stat")
      guard let end = bytes.lastIndex(of: UInt8(ascii: ")")) else { return nil }
      let fields = bytes[(end + 1)...].split(separator: UInt8(ascii: " "))
      return fields.count > 19 ? UInt64(String(decoding: fields[19], as: UTF8.self)) : nil
    }

    /// Returns the first kilobyte of a kernel file, or nothing if it cannot be read.
    private static func contents(of path: String) -> [UInt8] {
      let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return [] }
      defer { SystemFiles.close(descriptor) }
      var bytes = [UInt8](repeating: 0, count: 1024)
      let count = unsafe read(descriptor, &bytes, bytes.count)
      return Array(bytes.prefix(max(0, count)))
    }
  #endif

  /// Returns the first 16 hexadecimal digits of a text, in lower case, padded with zeros.
  private static func digits(of text: [UInt8]) -> String {
    let digits = String(decoding: text, as: UTF8.self).lowercased().filter { $0.isASCII && $0.isHexDigit }.prefix(16)
    return digits + String(repeating: "0", count: 16 - digits.utf8.count)
  }
}
