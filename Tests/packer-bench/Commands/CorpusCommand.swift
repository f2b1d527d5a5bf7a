import ArgumentParser

/// `packer-bench corpus`
struct CorpusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "corpus", abstract: "Makes a tree like a real one. The same seed gives the same bytes.")

  @Argument(help: "game, site, media or texts.")
  var kind: CorpusKind

  @Argument(help: "The directory to make.", completion: .directory)
  var directory: String

  @Option(help: ArgumentHelp("The total size of all files.", valueName: "size"))
  var size: String?

  @Option(help: ArgumentHelp("The number of files.", valueName: "n"))
  var files: Int?

  @Option(help: ArgumentHelp("The seed of the random numbers.", valueName: "n"))
  var seed: UInt64 = 1

  func run() throws {
    let plan = CorpusPlan(kind, size: try bytes(), count: files ?? kind.usualCount, seed: seed)
    try CorpusWriter().write(plan, to: directory)
    let written = plan.files.reduce(0) { $0 + $1.size }
    print("\(directory): \(plan.files.count) files, \(ByteCount(UInt64(written)))")
  }

  private func bytes() throws -> Int {
    guard let size else { return kind.usualSize }
    guard let count = ByteCount(parsing: size), count.bytes < 1 << 40 else {
      throw ValidationError("'\(size)' is not a size")
    }
    return Int(count.bytes)
  }
}

/// `packer-bench update`
struct UpdateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "update", abstract: "Changes a tree in place as a new version of a game would: about 3 % of the files.")

  @Argument(help: "The directory to change.", completion: .directory)
  var directory: String

  @Option(help: ArgumentHelp("The seed of the random numbers.", valueName: "n"))
  var seed: UInt64 = 1

  func run() throws {
    let update = try CorpusWriter().update(directory, seed: seed)
    print(
      "\(directory): \(update.edited) edited, \(update.exportedAgain) exported again, \(update.moved) moved, "
        + "\(update.removed) removed, \(update.added) added")
  }
}
