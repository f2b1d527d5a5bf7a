import PackFiles
import PackFormat

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The end of a program.
enum ProgramEnd {
  /// Waits until a program ends. Throws unless it ends by itself with status 0.
  ///
  /// - Parameters:
  ///   - name: the program in messages.
  ///   - code: the code of the error.
  ///   - hint: what to do about another status.
  static func wait(
    for process: Int32, _ name: String, failing code: PackError.Code, hint: String? = nil
  ) throws(PackError) {
    var status: CInt = 0
    while unsafe waitpid(process, &status, 0) == -1 {
      guard errno == EINTR else {
        throw PackError(code, of: name, "could not be waited for: \(FileFailure(number: errno).text)")
      }
    }
    // The layout that WIFSIGNALED and WEXITSTATUS read. Swift does not import these macros.
    let signal = status & 0x7F
    let exit = status >> 8 & 0xFF
    guard signal == 0 else { throw PackError(code, of: name, "was ended by signal \(signal)") }
    guard exit == 0 else { throw PackError(code, of: name, "ended with status \(exit)", hint: hint) }
  }
}
