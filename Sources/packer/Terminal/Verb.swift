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

  /// Parses the arguments of the verb.
  static func parsed(_ arguments: [String]) throws -> Self { try Parsed<Self>.parse(arguments).verb }
}

/// A verb under a name for which the argument parser does not first look for its own option `--generate-completion-script`, which takes as long as the
/// rest: `packer completions` prints the script.
private struct Parsed<V: Verb>: ParsableCommand, CustomReflectable {
  static var configuration: CommandConfiguration {
    var configuration = V.configuration
    configuration._superCommandName = "packer"
    return configuration
  }

  var verb = V()

  init() {}

  init(from decoder: any Decoder) throws { verb = try V(from: decoder) }

  /// The parser finds the arguments by reflection.
  var customMirror: Mirror { Mirror(reflecting: verb) }

  mutating func validate() throws { try verb.validate() }
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
