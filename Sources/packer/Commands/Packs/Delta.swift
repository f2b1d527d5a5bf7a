import ArgumentParser

/// `packer delta`
struct Delta: OutputVerb {
  static let configuration = CommandConfiguration(
    commandName: "delta",
    abstract: "Makes a delta: what a device needs to get from an old pack to a new one.",
    discussion: """
      A delta brings the contents that the old pack does not have, compressed against those it has. A device applies it to the old pack, and has \
      the new one then. Files are found by their content, so a file that was renamed or moved costs a few bytes. The same packs and key give the \
      same delta, byte for byte. The delta is checked before it appears.

      The delta has the name, version and key of the new pack. The old pack may be any pack that opens with the same key, also one of another name. \
      Players need exactly its content, unpacked or as a pack: 'packer inspect' prints the content root that a delta wants. Over a pack whose \
      frames are larger than those of the old one a device may fetch the full pack instead, because it would have to decompress too much.

      Examples:
        packer delta game-7.pack game-8.pack -o game-7-8.delta --key game.key
        packer delta game-7.pack game-8.pack -o 7-8.delta --key env:GAME_KEY --json
        packer unpack game-7-8.delta --base game-7.pack -C game-8 --key game.key
      """,
    shouldDisplay: HelpText.isWhole)

  @Argument(help: "The pack that players have.", completion: .file())
  var old: String

  @Argument(help: "The pack that they are to get.", completion: .file())
  var new: String

  @Option(name: [.customShort("o"), .customLong("output")], help: "The delta to write.", completion: .file())
  var path: String

  @OptionGroup var threads: JobsOption
  @OptionGroup var key: KeyOptions
  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    for input in [old, new] { try PackOutput.check(path, isNot: input, as: "a delta is another file") }
    let jobs = try threads.count()
    let resolved = try session.key(key, for: new)
    let oldPack = try naming(old) { () throws(PackError) in try Pack.open(old, key: resolved) }
    let newPack = try naming(new) { () throws(PackError) in try Pack.open(new, key: resolved) }
    guard oldPack.contentRoot != newPack.contentRoot else {
      throw PackError(
        .unsuitableSource, "\(old) and \(new) have the same content, so a delta would bring nothing",
        hint: "name the pack that players have, then one with other files")
    }
    warn(oldPack, newPack, on: session.console)
    var job = DeltaJob(from: oldPack, to: newPack, output: path)
    job.jobs = jobs
    let start = ContinuousClock.now
    let report = try await session.withProgress { [job] (progress) async throws(PackError) in
      try await job.run(key: resolved, progress: progress)
    }
    show(report, ContinuousClock.now - start, on: session.console)
    return .done
  }

  /// Warns about packs that were probably given by mistake.
  private func warn(_ old: Pack, _ new: Pack, on console: Console) {
    if old.header.packID != new.header.packID {
      console.note("\(self.old) was made under another name than \(self.new): the delta is for a pack of that other name")
    } else if old.header.packVersion > new.header.packVersion {
      console.warning(
        "\(self.new) has version \(new.header.packVersion), and \(self.old) the later version \(old.header.packVersion)",
        hint: "name the old pack first, then the new one")
    }
  }

  private func show(_ report: DeltaReport, _ duration: Duration, on console: Console) {
    if report.deltaSize >= report.packSize {
      console.warning("the delta is not smaller than \(new)", hint: "let players fetch the new pack")
    }
    let windows = Table.count(report.windows, "window", "windows")
    let fields = Table.fields([
      ("unchanged", Table.count(report.unchanged, "entry", "entries")),
      ("moved", Table.count(report.moved, "file", "files")),
      ("new", "\(Table.count(report.new, "content", "contents")), \(ByteCount(report.newContentSize))"),
      ("repeated", Table.count(report.repeated, "file", "files")),
      ("payload", "\(ByteCount(report.windowSize)) in \(windows), \(ByteCount(UInt64(report.headSize))) to place them"),
      ("key id", "\(report.keyID)"),
      ("pack id", "\(report.packID.hex), of the name"),
      ("pack version", "\(report.packVersion)"),
      ("base", report.baseRoot.hex),
      ("content root", report.contentRoot.hex),
    ])
    let share = "\(report.permille / 10).\(report.permille % 10) %"
    console.result(
      report.json(duration), ["\(path): \(ByteCount(report.deltaSize)), \(share) of \(ByteCount(report.packSize))"] + fields)
  }
}
