import ArgumentParser

/// `packer key derive`
struct KeyDerive: OutputVerb {
  static let configuration = CommandConfiguration(
    commandName: "derive",
    abstract: "Derives one pack's key from the root key.",
    discussion: """
      Packs have such a key if 'packer build' made them with 'perPackKeys: true', or 'packer pack' with --per-pack-key. The key opens every \
      version of that pack and no other pack, and the root key cannot be computed from it. The same name and root key always give the same key.

      With -o, the key is written to a new file that only its owner can read, and its id is printed. Without -o, the key is written to standard \
      output, for a program or a pipe. It is printed on a terminal only with -o -.

      With --config, the keys of all packs of a packer.yml are written into the directory of -o, each as ID.key, for machines that run \
      'packer build --only-cache'. Those that are there stay. Without --key, the root key is that of packer.yml.

      Examples:
        packer key derive --pack game-kart --key root.key -o game-kart.key
        packer key derive --pack kart --key root.key | packer ls kart.pack --key stdin
        packer key derive -c packer.yml -o keys
      """)

  @Option(name: .customLong("pack"), help: ArgumentHelp("The name the pack is published under.", valueName: "id"))
  var nameText: String?

  @Option(
    name: [.customShort("c"), .customLong("config")],
    help: ArgumentHelp("Derive the keys of all packs of this configuration.", valueName: "file"), completion: .file())
  var configurationPath: String?

  @Option(
    name: [.customShort("o"), .customLong("output")], help: "The key file to write; with --config, the directory of the keys.",
    completion: .file())
  var path: String?

  @OptionGroup var key: KeyOptions
  @OptionGroup var output: OutputOptions

  var programs: ProgramUse { .trusted }

  func run(in session: Session) async throws(PackError) -> Outcome {
    if let configurationPath { return try derive(forPacksOf: configurationPath, in: session) }
    guard let nameText else {
      throw PackError(.usage, "no pack was named", hint: "name it with --pack ID, or all packs with --config FILE")
    }
    let name = try PackName(nameText)
    try checkOutput(session.console)
    let resolved = try session.key(key)
    let own = try resolved.packKey(for: name)
    guard let path, path != "-" else {
      try own.withText { (text) throws(PackError) in
        try session.console.stream(text, remaining: UInt64(text.count) + 1)
      }
      let lineEnd: [UInt8] = [0x0A]
      try session.console.stream(lineEnd.byteSpan, remaining: 1)
      return .done
    }
    try KeyFile.write(own, to: path)
    session.console.result(
      [
        "type": "key", "kind": "pack", "pack": .text(name.text), "keyID": .text("\(own.id)"), "rootKeyID": .text("\(resolved.id)"),
        "output": .text(path),
      ], ["key id \(own.id)"])
    return .done
  }

  private func derive(forPacksOf configurationPath: String, in session: Session) throws(PackError) -> Outcome {
    guard nameText == nil else { throw PackError(.usage, "--config and --pack both say which keys", hint: "give one of them") }
    guard let path, path != "-" else { throw PackError(.usage, "no directory was given for the keys of the packs", hint: "give -o DIR") }
    let (configuration, files) = (try PackerConfiguration.read(configurationPath, sources: .optional), SystemFiles())
    guard configuration.perPackKeys else {
      throw PackError(
        .usage, of: configurationPath, "has packs that are made with one key, not with keys of their own",
        hint: "set 'perPackKeys: true', or give machines this key with --key")
    }
    let resolved = try session.key(key, configured: configuration)
    try writing(path, unlessExisting(files.makeDirectory(path, mode: 0o700, in: nil)))
    var count = 0
    for pack in configuration.packs {
      let own = try resolved.packKey(for: pack.id)
      let place = ReleaseFolder.path("\(pack.id.text).key", in: path)
      if ReleasePlaces.exists(place) {
        let there = try session.key(KeyReference(parsing: "file:\(place)"))
        guard there.id == own.id else {
          throw PackError(.outputExists, of: place, "has key \(there.id), and not key \(own.id) of the pack", hint: "remove it")
        }
        continue
      }
      try KeyFile.write(own, to: place)
      count += 1
    }
    session.console.result(
      [
        "type": "keys", "output": .text(path), "packs": .number(configuration.packs.count), "written": .number(count),
      ], ["\(path): \(Table.count(count, "key", "keys")) for \(Table.count(configuration.packs.count, "pack", "packs"))"])
    return .done
  }

  /// Throws if the key would be printed on a terminal without `-o -`, or among JSON records.
  private func checkOutput(_ console: Console) throws(PackError) {
    guard path == nil || path == "-" else { return }
    guard !console.isJSON else {
      throw PackError(
        .usage, "--json never prints the key itself", hint: "write the key to a file with -o FILE")
    }
    guard path != nil || !StandardStreams.isTerminal(1) else {
      throw PackError(
        .usage, "standard output is a terminal, where the key would be visible and kept in the history",
        hint: "write it to a file with -o FILE, or pipe it to the program that needs it; -o - prints it anyway")
    }
  }
}
