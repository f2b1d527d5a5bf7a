import ArgumentParser

/// `packer key public`
struct KeyPublic: OutputVerb, ReadingVerb {
  static let configuration = CommandConfiguration(
    commandName: "public",
    abstract: "Prints the public half of a signing key or of a recipient's key, and its id.",
    discussion: """
      It is not secret. An app embeds the public halves of two signing keys: the current one and the next one. A recipient hands over its own, for \
      'packer key wrap'.

      Examples:
        packer key public --sign-key game.sign.key
        packer key public --sign-key env:GAME_SIGN_KEY --json
        packer key public --key review.key
      """)

  @OptionGroup var signKey: SignKeyOptions
  @OptionGroup var key: KeyOptions
  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    guard key.references.isEmpty else { return try printRecipient(in: session) }
    let resolved = try session.signer(signKey.reference())
    let key = resolved.publicKey
    session.console.result(
      KeyKind.signing.json(key.id, publicKey: key.text), ["\(key.text)", "key id \(key.id)"])
    return .done
  }

  private func printRecipient(in session: Session) throws(PackError) -> Outcome {
    guard signKey.references.isEmpty else {
      throw PackError(.usage, "--key and --sign-key were both given", hint: "give only the key whose public half to print")
    }
    let resolved = try session.key(key)
    guard let recipient = resolved.recipient else {
      throw PackError(
        .malformedKey, "key \(resolved.id) is a pack key (pkk1-), which has no public half",
        hint: "give a recipient's key, as 'packer key new --recipient' makes it")
    }
    session.console.result(
      KeyKind.recipient.json("\(recipient.id)", publicKey: recipient.text), ["\(recipient.text)", "key id \(recipient.id)"])
    return .done
  }
}
