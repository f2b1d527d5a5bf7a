import ArgumentParser
import PackBuild
import PackCrypto
import PackFiles
import PackFormat
import PackProject

/// `packer key derive`
struct KeyDerive: Verb {
  static let configuration = CommandConfiguration(
    commandName: "derive",
    abstract: "Derives one pack's key from the root key.",
    discussion: """
      Packs have such a key if 'packer build' made them with 'perPackKeys: true', or 'packer pack' with --per-pack-key. The key opens every \
      version of that pack and no other pack, and the root key cannot be computed from it. The same name and root key always give the same key.

      With -o, the key is written to a new file that only its owner can read, and its id is printed. Without -o, the key is written to standard \
      output, for a program or a pipe. It is printed on a terminal only with -o -.

      With --plan, the keys of all units of a plan of 'packer build --plan' are written into the directory of -o, each as ID.key, for workers with \
      'packer build --keys'. Those that are there stay. Without --key, the root key is that of packer.yml beside the plan.

      Examples:
        packer key derive --pack game-kart --key root.key -o game-kart.key
        packer key derive --pack kart --key root.key | packer ls kart.pack --key stdin
        packer key derive --plan plan.json -o keys
      """)

  @Option(name: .customLong("pack"), help: ArgumentHelp("The name the pack is published under.", valueName: "id"))
  var nameText: String?

  @Option(
    name: .customLong("plan"), help: ArgumentHelp("Derive the keys of the units of this plan.", valueName: "file"), completion: .file())
  var planPath: String?

  @Option(
    name: [.customShort("o"), .customLong("output")], help: "The key file to write; with --plan, the directory of the keys.",
    completion: .file())
  var path: String?

  @OptionGroup var key: KeyOptions
  @OptionGroup var output: OutputOptions

  static var leavesNothingBehind: Bool { false }
  var isQuiet: Bool { output.isQuiet }

  func run(in session: Session) async throws(PackError) -> Outcome {
    if let planPath { return try derive(forPlan: planPath, in: session) }
    guard let nameText else { throw PackError(.usage, "no pack was named", hint: "name it with --pack ID, or a plan with --plan FILE") }
    let name = try PackName(nameText)
    try checkOutput(session.console)
    let resolved = try session.key(key)
    let own = try resolved.key.packKey(for: name)
    guard let path, path != "-" else {
      try own.withText { (text) throws(PackError) in
        try session.console.stream(text, remaining: UInt64(text.count) + 1)
      }
      let lineEnd: [UInt8] = [0x0A]
      try session.console.stream(lineEnd.byteSpan, remaining: 1)
      return .done
    }
    try KeyFile.write(own, to: path)
    let record = DerivedKeyRecord(pack: name.text, keyID: "\(own.id)", rootKeyID: "\(resolved.key.id)", output: path)
    session.console.result(record, ["key id \(record.keyID)"])
    return .done
  }

  private func derive(forPlan planPath: String, in session: Session) throws(PackError) -> Outcome {
    guard nameText == nil else { throw PackError(.usage, "--plan and --pack both say which keys", hint: "give one of them") }
    guard let path, path != "-" else { throw PackError(.usage, "no directory was given for the keys of the plan", hint: "give -o DIR") }
    let (plan, files) = (try BuildPlan(reading: planPath), SystemFiles())
    let beside = PathParts(planPath).map { ReleaseFolder.path(PackerConfiguration.defaultPath, in: $0.directory) }
    let configuration = try beside.flatMap { ReleasePlaces.exists($0) ? $0 : nil }.map { (path) throws(PackError) in
      try PackerConfiguration.read(path, sources: .optional)
    }
    let resolved = try session.key(key, configured: configuration?.key)
    do throws(FileFailure) {
      try files.makeDirectory(path, mode: 0o700, in: nil)
    } catch {
      guard error.isExisting else { throw error.writing(path) }
    }
    var count = 0
    for unit in plan.units {
      let own = try resolved.key.packKey(for: try PackName(unit.identity.id))
      guard unit.identity.keyID != "\(resolved.key.id)" else {
        throw PackError(
          .wrongKey, "the packs of the plan are made with key \(resolved.key.id) itself, not with keys of their own",
          hint: "set 'perPackKeys: true' in packer.yml and plan again, or give workers this key with --key")
      }
      guard "\(own.id)" == unit.identity.keyID else {
        throw PackError(
          .wrongKey, "pack '\(unit.identity.id)' of the plan needs key \(unit.identity.keyID), and key \(resolved.key.id) gives another",
          hint: "give the root key of the plan, which has 'perPackKeys: true'")
      }
      let place = "\(path)/\(unit.identity.id).key"
      if ReleasePlaces.exists(place) {
        let there = try session.key(KeyReference(parsing: "file:\(place)"))
        guard there.key.id == own.id else {
          throw PackError(.outputExists, of: place, "has key \(there.key.id), and not key \(own.id) of the plan", hint: "remove it")
        }
        continue
      }
      try KeyFile.write(own, to: place)
      count += 1
    }
    session.console.result(
      RecordValue.sorted([
        "type": .text("keys"), "output": .text(path), "units": RecordValue.number(plan.units.count), "written": RecordValue.number(count),
      ]), ["\(path): \(Table.count(count, "key", "keys")) for \(Table.count(plan.units.count, "unit", "units"))"])
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

private struct DerivedKeyRecord: Encodable {
  let type = "key"
  let kind = "pack"
  let pack: String
  let keyID: String
  let rootKeyID: String
  let output: String
}
