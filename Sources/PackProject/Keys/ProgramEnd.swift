package import PackFiles

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// How a program ended.
package enum ProgramEnd: Hashable, Sendable {
  /// It ended by itself, with a status.
  case status(Int32)
  /// A signal ended it.
  case signal(Int32)

  /// Waits until a program ends.
  package static func wait(for process: Int32) throws(FileFailure) -> ProgramEnd {
    var status: CInt = 0
    while unsafe waitpid(process, &status, 0) == -1 {
      guard errno == EINTR else { throw FileFailure(number: errno) }
    }
    // The layout that WIFSIGNALED and WEXITSTATUS read. Swift does not import these macros.
    let signal = status & 0x7F
    return signal == 0 ? .status(status >> 8 & 0xFF) : .signal(signal)
  }
}
