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
  /// It inherits standard input and standard error, so a password manager can ask for a password. It does not inherit variables that concern keys.
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
    // As long as this process has the writing end open, the reading end does not end.
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
    // Closed before the wait: a program with more output than a key would block on the pipe and never end.
    readEnd = nil
    let origin = "the output of \(name)"
    let ending = Result { () throws(PackError) in try wait(for: process, name: name) }
    try output.checkLength(of: origin)
    try ending.get()
    if let failure { throw PackError(.noKey, of: origin, "cannot be read: \(failure.text)") }
    return KeyInput(output, from: origin)
  }

  private static func wait(for process: pid_t, name: String) throws(PackError) {
    let end: ProgramEnd
    do throws(FileFailure) {
      end = try ProgramEnd.wait(for: process)
    } catch {
      throw PackError(.noKey, of: name, "could not be waited for: \(error.text)")
    }
    switch end {
    case .status(0): return
    case .signal(let signal): throw PackError(.noKey, of: name, "was ended by signal \(signal)")
    case .status(let status):
      throw PackError(
        .noKey, of: name, "ended with status \(status)", hint: "run it by itself: it must print the key text and end with status 0")
    }
  }
}
