import ArgumentParser

/// A command: parses its options, calls the library, and prints the results.
protocol Verb: ParsableCommand, Sendable {
  /// Whether the verb can be stopped anywhere without leaving anything half-done on disk.
  static var leavesNothingBehind: Bool { get }
  var isQuiet: Bool { get }
  /// Which programs that packer.yml names it starts. Verbs that only look start none.
  var programs: ProgramUse { get }
  func run(in session: Session) async throws(PackError) -> Outcome
}

extension Verb {
  static var leavesNothingBehind: Bool { false }
  var isQuiet: Bool { false }
  var programs: ProgramUse { .none }
}

/// A command that only reads and prints, so that a signal may end it anywhere.
protocol ReadingVerb: Verb {}

extension ReadingVerb {
  static var leavesNothingBehind: Bool { true }
}

/// A command with `--json` and `--quiet`.
protocol OutputVerb: Verb {
  var output: OutputOptions { get }
}

extension OutputVerb {
  var isQuiet: Bool { output.isQuiet }
}
