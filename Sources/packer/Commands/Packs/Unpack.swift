import ArgumentParser

/// `packer unpack`
struct Unpack: OutputVerb {
  static let configuration = CommandConfiguration(
    commandName: "unpack",
    abstract: "Unpacks a pack into a directory, or decrypts it to a tar archive.",
    discussion: """
      The directory must be new or empty. It appears whole or not at all. The pack is checked as by 'packer check'. With --include only \
      matching files are read, and each is compared with its digest. With --tar, the whole archive inside is decrypted for other tools.

      Examples:
        packer unpack game.pack -C restored --key game.key
        packer unpack game.pack -C restored --key env:GAME_KEY --json
        packer unpack game.pack -C levels --key game.key --include 'levels/**'
        packer unpack game.pack --tar game.tar.zst --key game.key
      """)

  @Argument(help: "The pack.", completion: .file())
  var file: String

  @Option(name: [.customShort("C"), .customLong("directory")], help: "The directory to make.", completion: .directory)
  var directory: String?

  @Option(help: ArgumentHelp("Write a tar archive compressed with zstd instead.", valueName: "file"), completion: .file())
  var tar: String?

  @OptionGroup var part: PartOption
  @OptionGroup var check: CheckOptions
  @OptionGroup var threads: JobsOption
  @OptionGroup var bases: BaseOptions
  @OptionGroup var key: KeyOptions
  @OptionGroup var output: OutputOptions

  static var leavesNothingBehind: Bool { false }

  func run(in session: Session) async throws(PackError) -> Outcome {
    switch (directory, tar) {
    case (let directory?, nil): return try await unpack(to: directory, in: session)
    case (nil, let tar?): return try await decrypt(to: tar, in: session)
    default: throw PackError(.usage, "give either --directory or --tar", hint: "packer unpack \(ShellWord.path(file)) -C DIR")
    }
  }

  private func decrypt(to path: String, in session: Session) async throws(PackError) -> Outcome {
    guard part.includes.isEmpty, bases.bases.isEmpty, check.nameText == nil, !check.allowsUnportablePaths, threads.jobs == nil else {
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

  private func unpack(to directory: String, in session: Session) async throws(PackError) -> Outcome {
    let jobs = try threads.count()
    let name = try check.name()
    let selection = try part.selection()
    let resolved = try session.key(key, for: file)
    let (pack, part) = try await naming(file) { () async throws(PackError) in
      let pack = try bases.open(file, key: resolved)
      if let name { try pack.checkName(name) }
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
    let counts = Table.count(entries, "entry", "entries") + (part == nil ? "" : " of \(pack.entryCount)")
    let facts = [counts, "\(ByteCount(contentSize))"] + (contentRoot.map { ["content root \($0)"] } ?? [])
    session.console.result(
      [
        "type": "directory", "directory": .text(directory), "entries": .number(entries), "entriesOfPack": .number(pack.entryCount),
        "contentSize": .number(contentSize), "contentRoot": .text(contentRoot),
      ],
      ["\(directory): \(facts.joined(separator: ", "))"])
    return .done
  }
}
