import ArgumentParser
import PackCrypto
import PackFormat
import PackProject

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
        packer key new --signing -o game.sign.key
      """)

  @Option(name: [.customShort("o"), .customLong("output")], help: "The key file to make.", completion: .file())
  var path: String

  @Flag(name: .customLong("signing"), help: "Make a key that signs manifests, not one for packs.")
  var isForSigning = false

  @OptionGroup var output: OutputOptions

  static var leavesNothingBehind: Bool { false }
  var isQuiet: Bool { output.isQuiet }

  func run(in session: Session) async throws(PackError) -> Outcome {
    guard path != "-" else {
      throw PackError(
        .usage, "a key is not written to standard output, where terminals and logs keep it",
        hint: "write a file, as in 'packer key new -o game.key', and move it to where secrets are kept")
    }
    let record: KeyRecord
    if isForSigning {
      let key = try SigningKey.random()
      try KeyFile.write(key, to: path)
      let publicKey = key.publicKey
      record = KeyRecord(kind: .signing, keyID: publicKey.id, publicKey: publicKey.text, output: path)
    } else {
      let key = try PackKey.random()
      try KeyFile.write(key, to: path)
      record = KeyRecord(kind: .content, keyID: "\(key.id)", output: path)
    }
    session.console.result(record, [record.keyID])
    return .done
  }
}

/// What there is to say about a key.
struct KeyRecord: Encodable {
  let type = "key"
  /// `pack` or `signing`.
  let kind: String
  let keyID: String
  var publicKey: String?
  var output: String?

  init(kind: KeyKind, keyID: String, publicKey: String? = nil, output: String? = nil) {
    self.kind = kind == .signing ? "signing" : "pack"
    self.keyID = keyID
    self.publicKey = publicKey
    self.output = output
  }
}
