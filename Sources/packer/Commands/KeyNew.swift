import ArgumentParser
import PackRuntime
import PackerKit

/// `packer key new`
struct KeyNew: Verb {
  static let configuration = CommandConfiguration(
    commandName: "new",
    abstract: "Writes a new key that only its owner can read, and prints its id.",
    discussion: """
      The file gets mode 0600. An existing file is never replaced, and the key itself is never printed.

      Examples:
        packer key new -o game.key
        packer key new -o ~/keys/game.key --json
      """)

  @Option(name: [.customShort("o"), .customLong("output")], help: "The key file to make.", completion: .file())
  var path: String

  @OptionGroup var output: OutputOptions

  static var leavesNothingBehind: Bool { false }
  var isQuiet: Bool { output.isQuiet }

  func run(in session: Session) async throws(PackError) -> Outcome {
    guard path != "-" else {
      throw PackError(
        .usage, "a key is not written to standard output, where terminals and logs keep it",
        hint: "write a file, as in 'packer key new -o game.key', and move it to where secrets are kept")
    }
    let key = try PackKey.random()
    try KeyFile.write(key, to: path)
    let id = key.id
    session.console.result(KeyRecord(keyID: "\(id)", output: path), ["\(id)"])
    return .done
  }
}

/// What there is to say about a key.
struct KeyRecord: Encodable {
  let type = "key"
  let keyID: String
  var output: String?
}
