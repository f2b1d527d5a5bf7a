/// A program whose standard output is a key text. No shell is involved.
enum KeyCommand {
  /// Runs the program to its end.
  ///
  /// It inherits standard input and standard error, so a password manager can ask for a password. It does not inherit variables that concern keys.
  static func run(_ words: [String], files: any FileSystem) throws(PackError) -> SecretInput {
    let name = "key command \(KeyReference.quoted(words[0]))"
    var program = try ProgramStart(words).runPiped(name, failing: .noKey)
    var output = SecretInput(from: "the output of \(name)")
    var failure: FileFailure?
    do throws(FileFailure) {
      if let pipe = program.output { try output.readToEnd(of: pipe, files: files) }
    } catch {
      failure = error
    }
    program.output = nil

    let ending = Result { () throws(PackError) in
      try ProgramEnd.wait(
        for: program.process, name, failing: .noKey, hint: "run it by itself: it must print the key text and end with status 0")
    }
    try output.checkLength()
    try ending.get()
    if let failure { throw PackError(.noKey, of: output.origin, "cannot be read: \(failure.text)") }
    return output
  }
}
