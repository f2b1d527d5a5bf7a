import ArgumentParser

/// `packer key new`
struct KeyNew: OutputVerb {
  static let configuration = CommandConfiguration(
    commandName: "new",
    abstract: "Writes a new key file that only its owner can read, and prints the key id.",
    discussion: """
      The file has mode 0600. An existing file is never replaced, and the key itself is never printed.

      Examples:
        packer key new -o game.key
        packer key new -o ~/keys/game.key --json
        packer key new --signing -o game.sign.key
        packer key new --recipient -o review.key
        packer key new --root-signing -o root-1.key
      """)

  @Option(name: [.customShort("o"), .customLong("output")], help: "The key file to write.", completion: .file())
  var path: String

  @Flag(name: .customLong("signing"), help: "Create a signing key for manifests instead of a key for packs.")
  var isForSigning = false

  @Flag(
    name: .customLong("recipient"),
    help: "Create a recipient's key, for packs that others wrap for it, and print its public half to hand over.")
  var isForRecipient = false
  @Flag(name: .customLong("root-signing"), help: "Create a root signing key for keys documents. Do this on a machine without a network.")
  var isForRoot = false

  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    guard path != "-" else {
      throw PackError(
        .usage, "a key is not written to standard output, because terminals and logs keep it",
        hint: "write a file, as in 'packer key new -o game.key', and move it to a safe place")
    }
    guard [isForSigning, isForRecipient, isForRoot].count(where: { $0 }) < 2 else {
      throw PackError(
        .usage, "more than one of --signing, --recipient and --root-signing was given", hint: "a key is for one purpose; make two")
    }
    let (kind, id, publicKey): (KeyKind, String, String?)
    if isForRecipient {
      let key = try PackKey.random(.recipient)
      try KeyFile.write(key, to: path)
      (kind, id, publicKey) = (.recipient, "\(key.id)", key.recipient?.text)
    } else if isForRoot {
      let key = try RootSigningKey.random()
      try KeyFile.write(key, to: path)
      (kind, id, publicKey) = (.root, key.publicKey.id, key.publicKey.text)
    } else if isForSigning {
      let key = try SigningKey.random()
      try KeyFile.write(key, to: path)
      (kind, id, publicKey) = (.signing, key.publicKey.id, key.publicKey.text)
    } else {
      let key = try PackKey.random()
      try KeyFile.write(key, to: path)
      (kind, id, publicKey) = (.content, "\(key.id)", nil)
    }
    // The public half of these is for others: for people who wrap packs, and for 'packer key trust' on another machine.
    session.console.result(
      kind.json(id, publicKey: publicKey, output: path), (isForRecipient || isForRoot ? [publicKey ?? ""] : []) + ["key id \(id)"])
    return .done
  }
}

extension KeyKind {
  /// The record of a key of this kind.
  func json(_ id: String, publicKey: String? = nil, output: String? = nil) -> JSON {
    let name: JSON =
      switch self {
      case .content: "pack"
      case .signing: "signing"
      case .recipient: "recipient"
      case .root: "root-signing"
      }
    return ["type": "key", "kind": name, "keyID": .text(id), "publicKey": .text(publicKey), "output": .text(output)]
  }
}
