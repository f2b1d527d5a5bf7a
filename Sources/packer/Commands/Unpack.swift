import ArgumentParser

/// `packer unpack`
struct Unpack: Verb {
  static let configuration = CommandConfiguration(
    commandName: "unpack",
    abstract: "Unpacks a pack into a directory.",
    discussion: """
      The directory must be new or empty. It appears whole or not at all. The pack is checked as by 'packer verify'. With --include only \
      matching files are read, and each is compared with its digest.

      Examples:
        packer unpack game.pack -C restored --key game.key
        packer unpack game.pack -C restored --key env:GAME_KEY --json
        packer unpack game.pack -C levels --key game.key --include 'levels/**'
      """)

  @Argument(help: "The pack.", completion: .file())
  var file: String

  @Option(name: [.customShort("C"), .customLong("directory")], help: "The directory to make.", completion: .directory)
  var directory: String

  @OptionGroup var part: PartOption
  @OptionGroup var check: CheckOptions
  @OptionGroup var threads: JobsOption
  @OptionGroup var bases: BaseOptions
  @OptionGroup var key: KeyOptions
  @OptionGroup var output: OutputOptions

  static var leavesNothingBehind: Bool { false }
  var isQuiet: Bool { output.isQuiet }

  func run(in session: Session) async throws(PackError) -> Outcome {
    let jobs = try threads.count()
    let name = try check.name()
    let selection = try part.selection()
    let resolved = try session.key(key, for: file)
    let (pack, part) = try await naming(file) { () async throws(PackError) in
      let pack = try bases.open(file, key: resolved.key)
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
