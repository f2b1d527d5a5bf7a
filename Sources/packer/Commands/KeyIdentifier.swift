import ArgumentParser
import PackRuntime
import PackerKit

/// `packer key id`
struct KeyIdentifier: Verb {
  static let configuration = CommandConfiguration(
    commandName: "id",
    abstract: "Prints the id of a key: 16 digits that name it and tell nothing about it.",
    discussion: """
      Examples:
        packer key id --key game.key
        packer key id --key env:GAME_KEY
        packer key id --key cmd:'pass show game/key'
      """)

  @OptionGroup var key: KeyOptions
  @OptionGroup var output: OutputOptions

  var isQuiet: Bool { output.isQuiet }

  func run(in session: Session) async throws(PackError) -> Outcome {
    let resolved = try session.key(key)
    let id = resolved.key.id
    session.console.result(KeyRecord(keyID: "\(id)"), ["\(id)"])
    return .done
  }
}
