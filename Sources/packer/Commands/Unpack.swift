import ArgumentParser
import PackFormat
import PackGate
import PackProject
import PackReading

/// `packer unpack`
struct Unpack: Verb {
  static let configuration = CommandConfiguration(
    commandName: "unpack",
    abstract: "Unpacks a pack into a directory.",
    discussion: """
      The directory must be new or empty. It appears whole or not at all. The pack is checked as by 'packer verify'.

      Examples:
        packer unpack game.pack -C restored --key game.key
        packer unpack game.pack -C restored --key env:GAME_KEY --json
      """)

  @Argument(help: "The pack.", completion: .file())
  var file: String

  @Option(name: [.customShort("C"), .customLong("directory")], help: "The directory to make.", completion: .directory)
  var directory: String

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
    let resolved = try session.key(key, for: file)
    let pack = try await naming(file) { () async throws(PackError) in
      let pack = try bases.open(file, key: resolved.key)
      if let name { try pack.checkName(name) }
      try await session.withProgress { (progress) async throws(PackError) in
        try await PackUnpacking.run(
          pack, to: directory, allowsUnportablePaths: try check.allowsUnportablePaths(in: file), jobs: jobs, progress: progress)
      }
      return pack
    }
    let entries = Table.count(pack.entryCount, "entry", "entries")
    session.console.result(
      UnpackRecord(
        directory: directory, entries: pack.entryCount, contentSize: pack.contentSize, contentRoot: pack.contentRoot.hex),
      ["\(directory): \(entries), \(ByteCount(pack.contentSize)), content root \(pack.contentRoot.hex)"])
    return .done
  }
}

private struct UnpackRecord: Encodable {
  let type = "directory"
  let directory: String
  let entries: Int
  let contentSize: UInt64
  let contentRoot: String
}
