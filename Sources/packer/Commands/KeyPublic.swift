import ArgumentParser
import PackCrypto
import PackFormat
import PackProject

/// `packer key public`
struct KeyPublic: Verb {
  static let configuration = CommandConfiguration(
    commandName: "public",
    abstract: "Prints the public key of a signing key, for apps to embed, and its id.",
    discussion: """
      The public key is not secret. An app embeds two: the current one and the next one.

      Examples:
        packer key public --sign-key game.sign.key
        packer key public --sign-key env:GAME_SIGN_KEY --json
      """)

  @OptionGroup var signKey: SignKeyOptions
  @OptionGroup var output: OutputOptions

  var isQuiet: Bool { output.isQuiet }

  func run(in session: Session) async throws(PackError) -> Outcome {
    let resolved = try session.signingKey(signKey.reference())
    let key = resolved.key.publicKey
    session.console.result(
      KeyRecord(kind: .signing, keyID: key.id, publicKey: key.text), ["\(key.text)", "key id \(key.id)"])
    return .done
  }
}
