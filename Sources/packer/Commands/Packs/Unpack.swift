import ArgumentParser

/// `packer unpack`
struct Unpack: OutputVerb {
  static let configuration = CommandConfiguration(
    commandName: "unpack",
    abstract: "Unpacks a pack into a directory, or decrypts it to a tar or zip archive.",
    discussion: """
      The directory must be new or empty. It appears whole or not at all. The pack is checked as by 'packer check'. With --include only \
      matching files are read, and each is compared with its digest. With --tar, the whole archive inside is decrypted for other tools.

      With --zip, the game is written as web portals take it: its files, each compared with its digest, without encryption. The same pack gives the same \
      zip. With --for, none is written if 'packer verify --for' would find an error.

      A delta is applied to what it was made for, which --base names: packs, or directories that were unpacked from them.

      Examples:
        packer unpack game.pack -C restored --key game.key
        packer unpack game.pack -C restored --key env:GAME_KEY --json
        packer unpack game.pack -C levels --key game.key --include 'levels/**'
        packer unpack game.pack --tar game.tar.zst --key game.key
        packer unpack game.pack --zip game.zip --for itch --key game.key
        packer unpack game-7-8.delta --base game-7.pack -C game-8 --key game.key
      """)

  @Argument(help: "The pack.", completion: .file())
  var file: String

  @Option(name: [.customShort("C"), .customLong("directory")], help: "The directory to make.", completion: .directory)
  var directory: String?

  @Option(help: ArgumentHelp("Write a tar archive compressed with zstd instead.", valueName: "file"), completion: .file())
  var tar: String?

  @Option(help: ArgumentHelp("Write a zip archive for a web portal instead.", valueName: "file"), completion: .file())
  var zip: String?

  @OptionGroup var portals: PortalOption
  @OptionGroup var part: PartOption
  @OptionGroup var check: CheckOptions
  @OptionGroup var threads: JobsOption

  @Option(
    name: .customLong("base"),
    help: ArgumentHelp(
      "For a delta: what it was made for, a pack or an unpacked directory. Repeatable, in any order.", valueName: "pack|dir"),
    completion: .file())
  var bases: [String] = []

  @OptionGroup var key: KeyOptions
  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    guard zip != nil || portals.names.isEmpty else { throw PackError(.usage, "--for is for --zip", hint: "add --zip FILE") }
    switch (directory, tar, zip) {
    case (let directory?, nil, nil): return try await unpack(to: directory, in: session)
    case (nil, let tar?, nil): return try await decrypt(to: tar, in: session)
    case (nil, nil, let zip?): return try await export(to: zip, in: session)
    default: throw PackError(.usage, "give one of --directory, --tar and --zip", hint: "packer unpack \(ShellWord.path(file)) -C DIR")
    }
  }

  /// Writes a zip, unless a portal refuses the game.
  private func export(to path: String, in session: Session) async throws(PackError) -> Outcome {
    guard part.includes.isEmpty, bases.isEmpty, threads.jobs == nil else {
      throw PackError(.usage, "--zip writes a whole pack, so --include, --base and --jobs do not apply")
    }
    let (portals, name) = (try portals.all(), try check.name())
    let resolved = try session.key(key, for: file)
    let (findings, size, files) = try await naming(file) { () async throws(PackError) in
      let pack = try Pack.open(file, key: resolved)
      if let name { try pack.source.checkName(name) }
      let findings = portals.isEmpty ? [] : try PortalGame(pack).findings(of: portals)
      guard !findings.contains(where: { $0.level == .error }) else { return (findings, 0 as UInt64, 0) }
      let allowsUnportablePaths = try check.allowsUnportablePaths(in: file)
      return try await session.withProgress { (progress) async throws(PackError) in
        let (size, files) = try await ZipExport.run(pack, to: path, allowsUnportablePaths: allowsUnportablePaths, progress: progress)
        return (findings, size, files)
      }
    }
    for finding in findings {
      session.console.result(
        finding.json, ["\(finding.level.rawValue) \(finding.rule.id): \(finding.message)"] + (finding.hint.map { ["  hint: \($0)"] } ?? []))
    }
    let errors = findings.count { $0.level == .error }
    guard errors == 0 else {
      let verdict = "\(file): \(Table.count(errors, "error", "errors")), no zip was written"
      if !session.console.isJSON { session.console.output(lines: [verdict]) }
      return .findings(verdict)
    }
    session.console.result(
      ["type": "zip", "output": .text(path), "size": .number(size), "files": .number(files)],
      ["\(path): \(Table.count(files, "file", "files")), \(ByteCount(size))"])
    return .done
  }

  private func decrypt(to path: String, in session: Session) async throws(PackError) -> Outcome {
    guard part.includes.isEmpty, bases.isEmpty, check.nameText == nil, !check.allowsUnportablePaths, threads.jobs == nil else {
      throw PackError(.usage, "--tar decrypts a whole pack as it is, so only --key applies")
    }
    let resolved = try session.key(key, for: file)
    let size = try await naming(file) { () async throws(PackError) in
      try await session.withProgress { (progress) async throws(PackError) in
        try await PayloadExport.run(file, to: path, key: resolved, progress: progress)
      }
    }
    session.console.result(
      ["type": "payload", "output": .text(path), "payloadSize": .number(size)], ["\(path): \(size) bytes"])
    return .done
  }

  /// Applies a delta.
  private func apply(_ delta: DeltaPack, to directory: String, key: borrowing PackKey, in session: Session) async throws(PackError)
    -> Outcome
  {
    guard part.includes.isEmpty else { throw PackError(.usage, "--include is for a full pack, and \(file) is a delta") }
    let jobs = try threads.count()
    if let name = try check.name() { try delta.source.checkName(name) }
    let opened = try DeltaBases.open(bases, for: delta, key: key)
    let allowsUnportablePaths = check.allowsUnportablePaths
    let made = try await session.withProgress { (progress) async throws(PackError) in
      try await PackUnpacking.run(
        delta, over: opened, to: directory, allowsUnportablePaths: allowsUnportablePaths, jobs: jobs, progress: progress)
    }
    show(directory, entries: made.entryCount, of: nil, made.contentSize, root: made.contentRoot.hex, on: session.console)
    return .done
  }

  private func unpack(to directory: String, in session: Session) async throws(PackError) -> Outcome {
    let jobs = try threads.count()
    let name = try check.name()
    let selection = try part.selection()
    let resolved = try session.key(key, for: file)
    guard bases.isEmpty else {
      guard let delta = try naming(file, { () throws(PackError) in try DeltaPack.ifPresent(file, key: resolved) }) else {
        throw PackError(.usage, "--base is for a delta, and \(file) is a full pack")
      }
      return try await apply(delta, to: directory, key: resolved, in: session)
    }
    let (pack, part) = try await naming(file) { () async throws(PackError) in
      let pack = try Pack.open(file, key: resolved)
      if let name { try pack.source.checkName(name) }
      let part = try selection.map { (selection) throws(PackError) in try PackPart(pack, selection) }
      let allowsUnportablePaths = try check.allowsUnportablePaths(in: file)
      try await session.withProgress { (progress) async throws(PackError) in
        if let part {
          try await part.unpack(to: directory, allowsUnportablePaths: allowsUnportablePaths, jobs: jobs, progress: progress)
        } else {
          try await PackUnpacking.run(
            pack, to: directory, allowsUnportablePaths: allowsUnportablePaths, jobs: jobs, progress: progress)
        }
      }
      return (pack, part)
    }
    let entries = part?.entryCount ?? pack.entryCount
    let contentSize = part?.contentSize ?? pack.contentSize
    // That of a part would be another one.
    let contentRoot = part == nil ? pack.contentRoot.hex : nil
    show(directory, entries: entries, of: pack.entryCount, contentSize, root: contentRoot, on: session.console)
    return .done
  }

  /// - Parameter total: The number of entries of the pack, if they may be more.
  private func show(
    _ directory: String, entries: Int, of total: Int?, _ contentSize: UInt64, root: String?, on console: Console
  ) {
    let counts = Table.count(entries, "entry", "entries") + (root == nil ? " of \(total ?? entries)" : "")
    let facts = [counts, "\(ByteCount(contentSize))"] + (root.map { ["content root \($0)"] } ?? [])
    console.result(
      [
        "type": "directory", "directory": .text(directory), "entries": .number(entries), "entriesOfPack": .number(total ?? entries),
        "contentSize": .number(contentSize), "contentRoot": .text(root),
      ],
      ["\(directory): \(facts.joined(separator: ", "))"])
  }
}
