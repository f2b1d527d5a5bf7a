import PackFiles
import PackFormat

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A program whose standard output is a key text. No shell is involved.
enum KeyCommand {
  /// Runs the program to its end.
  ///
  /// Its standard input and error are this process's own, so that a password manager can ask. It gets no variable that concerns keys.
  static func run(_ words: [String], files: any FileSystem) throws(PackError) -> KeyInput {
    let name = "key command '\(words[0])'"
    var ends: [CInt] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else {
      throw PackError(.noKey, of: name, "could not be started: \(FileFailure(number: errno).text)")
    }
    var readEnd: OpenFile? = OpenFile(owning: ends[0])
    var writeEnd: OpenFile? = OpenFile(owning: ends[1])
    for descriptor in ends { closeOnStart(descriptor) }

    var program = ProgramStart(words)
    program.streams[1] = .descriptor(ends[1])
    let (process, number) = program.run()
    // While this side holds the writing end, the reading end never ends.
    withExtendedLifetime(writeEnd) {}
    writeEnd = nil
    guard number == 0 else {
      let reason = number == ENOENT ? "was not found" : "could not be started: \(FileFailure(number: number).text)"
      throw PackError(.noKey, of: name, reason)
    }

    var output = SecretInput()
    var failure: FileFailure?
    do throws(FileFailure) {
      if let readEnd { try output.readToEnd(of: readEnd, files: files) }
    } catch {
      failure = error
    }
    // A program that says more than a key is not waited for with its output unread: it would never end.
    readEnd = nil
    let origin = "the output of \(name)"
    let ending = Result { () throws(PackError) in try wait(for: process, name: name) }
    try output.checkLength(of: origin)
    try ending.get()
    if let failure { throw PackError(.noKey, of: origin, "cannot be read: \(failure.text)") }
    return KeyInput(output, from: origin)
  }

  private static func wait(for process: pid_t, name: String) throws(PackError) {
    var status: CInt = 0
    while unsafe waitpid(process, &status, 0) == -1 {
      guard errno == EINTR else {
        throw PackError(.noKey, of: name, "was lost: \(FileFailure(number: errno).text)")
      }
    }
    // The layout that WIFSIGNALED and WEXITSTATUS take apart; macros are not imported.
    let signal = status & 0x7F
    let exit = status >> 8 & 0xFF
    guard signal == 0 else { throw PackError(.noKey, of: name, "was ended by signal \(signal)") }
    guard exit == 0 else {
      throw PackError(
        .noKey, of: name, "ended with status \(exit)", hint: "run it by itself; it must print the key text and end with 0")
    }
  }
}
