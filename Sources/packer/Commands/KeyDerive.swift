import ArgumentParser
import PackCrypto
import PackFormat
import PackProject

/// `packer key derive`
struct KeyDerive: Verb {
  static let configuration = CommandConfiguration(
    commandName: "derive",
    abstract: "Makes the key of one pack from the root key, for who may open that pack alone.",
    discussion: """
      It is the key of packs made by 'packer build' with 'perPackKeys: true', or by 'packer pack --per-pack-key'. It opens every version of \
      that pack and no other pack, and nothing leads from it to the root key. The same name and root key always give the same key.

      With -o a new file is written that only its owner can read, and the id is printed. Without it the key goes to standard output, for a \
      program or a pipe to read; to a terminal only with -o -.

      Examples:
        packer key derive --pack game-kart --key root.key -o game-kart.key
        packer key derive --pack game-kart --key root.key | packer ls kart.pack --key stdin
      """)

  @Option(name: .customLong("pack"), help: ArgumentHelp("The name the pack is published under.", valueName: "id"))
  var nameText: String

  @Option(name: [.customShort("o"), .customLong("output")], help: "The key file to make.", completion: .file())
  var path: String?

  @OptionGroup var key: KeyOptions
  @OptionGroup var output: OutputOptions

  static var leavesNothingBehind: Bool { false }
  var isQuiet: Bool { output.isQuiet }

  func run(in session: Session) async throws(PackError) -> Outcome {
    let name = try PackName(nameText)
    try checkOutput(session.console)
    let resolved = try session.key(key)
    let own = try resolved.key.packKey(for: name)
    guard let path, path != "-" else {
      try own.withText { (text) throws(PackError) in
        try session.console.stream(text, remaining: UInt64(text.count) + 1)
      }
      let lineEnd: [UInt8] = [0x0A]
      try session.console.stream(lineEnd.span, remaining: 1)
      return .done
    }
    try KeyFile.write(own, to: path)
    let record = DerivedKeyRecord(pack: name.text, keyID: "\(own.id)", rootKeyID: "\(resolved.key.id)", output: path)
    session.console.result(record, [record.keyID])
    return .done
  }

  /// Refuses standard output where the key would be seen, or stand among other things.
  private func checkOutput(_ console: Console) throws(PackError) {
    guard path == nil || path == "-" else { return }
    guard !console.isJSON else {
      throw PackError(
        .usage, "--json tells what was done, and the key itself does not stand in it", hint: "write the key to a file with -o FILE")
    }
    guard path != nil || !StandardStreams.isTerminal(1) else {
      throw PackError(
        .usage, "standard output is a terminal, and a key shown there would be seen and kept",
        hint: "write it to a file with -o FILE, or pipe it to the program that needs it; -o - shows it all the same")
    }
  }
}

private struct DerivedKeyRecord: Encodable {
  let type = "key"
  let kind = "pack"
  let pack: String
  let keyID: String
  let rootKeyID: String
  let output: String
}
