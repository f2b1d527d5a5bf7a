import ArgumentParser

/// The commands about keys.
struct Key: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "key",
    abstract: "Creates, derives, checks and shares keys, and the documents that list them.",
    discussion: """
      Examples:
        packer key new -o game.key
        packer key id --key game.key
        packer key check dist/a.pack dist/b.pack --key env:GAME_KEY
        packer key derive --pack a --key root.key -o a.key
        packer key new --signing -o game.sign.key
        packer key wrap game.pack -o review.pack --to pkw1-… --key game.key
        packer key trust show
        packer key public --sign-key game.sign.key
      """,
    subcommands: [
      KeyNew.self, KeyIdentifier.self, KeyPublic.self, KeyDerive.self, KeyCheck.self, KeyWrapVerb.self, KeyUnwrap.self, Trust.self,
    ])
}
