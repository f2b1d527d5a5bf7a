import ArgumentParser

/// `packer key id`
struct KeyIdentifier: OutputVerb, ReadingVerb {
  static let configuration = CommandConfiguration(
    commandName: "id",
    abstract: "Prints the id of a key: 16 hexadecimal digits that identify the key and reveal nothing about it.",
    discussion: """
      Examples:
        packer key id --key game.key
        packer key id --key env:GAME_KEY
        packer key id --key cmd:'pass show game/key'
        packer key id --sign-key game.sign.key
      """)

  @OptionGroup var key: KeyOptions
  @OptionGroup var signKey: SignKeyOptions
  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    guard signKey.references.isEmpty || key.references.isEmpty else {
      throw PackError(.usage, "--key and --sign-key were both given", hint: "give only the key whose id to print")
    }
    let (kind, id): (KeyKind, String)
    if signKey.references.isEmpty {
      let resolved = try session.key(key)
      (kind, id) = (resolved.kind == .recipient ? .recipient : .content, "\(resolved.id)")
    } else {
      let resolved = try session.signer(signKey.reference())
      (kind, id) = (.signing, resolved.publicKey.id)
    }
    session.console.result(kind.json(id), [id])
    return .done
  }
}
