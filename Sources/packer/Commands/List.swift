import ArgumentParser
import PackFormat
import PackPayload
import PackProject
import PackReading

/// `packer ls`
struct List: Verb {
  static let configuration = CommandConfiguration(
    commandName: "ls",
    abstract: "Lists the paths in a pack, one per line.",
    discussion: """
      With -l each line has the type (- file, d directory), x for an executable, the size in bytes, the first 12 digits of the \
      SHA-256 of the content, and the path.

      Examples:
        packer ls game.pack --key game.key
        packer ls game.pack --key game.key -l
        packer ls game.pack --key game.key --json
      """)

  @Argument(help: "The pack.", completion: .file())
  var file: String

  @Flag(name: [.customShort("l"), .customLong("long")], help: "Also show type, size and digest.")
  var isLong = false

  @OptionGroup var bases: BaseOptions
  @OptionGroup var key: KeyOptions
  @OptionGroup var output: OutputOptions

  var isQuiet: Bool { output.isQuiet }

  func run(in session: Session) async throws(PackError) -> Outcome {
    let resolved = try session.key(key, for: file)
    try naming(file) { () throws(PackError) in
      let pack = try bases.open(file, key: resolved.key)
      guard isLong || session.console.isJSON else {
        // Paths are printed from the block directly: no entry has to be created for them.
        try pack.forEachBlock { (block) throws(PackError) in
          try Task.checkCancelled()
          session.console.lines(block.pathLines())
          try session.console.checkOutput()
        }
        return
      }
      let width = String(pack.contentSize).count
      try pack.forEachEntry { (entry) throws(PackError) in
        try Task.checkCancelled()
        session.console.result(EntryRecord(entry), [isLong ? Self.line(entry, width) : entry.path])
        try session.console.checkOutput()
      }
    }
    return .done
  }

  private static func line(_ entry: Entry, _ width: Int) -> String {
    switch entry.kind {
    case .directory:
      "d- \(Table.right("-", width)) \(Table.left("-", 12)) \(entry.path)"
    case .file:
      "-\(entry.isExecutable ? "x" : "-") \(Table.right("\(entry.size)", width)) \(entry.sha256.prefix(6).hex) \(entry.path)"
    }
  }
}

private struct EntryRecord: Encodable {
  let type = "entry"
  let path: String
  let kind: String
  let size: UInt64
  let isExecutable: Bool
  let sha256: String?

  init(_ entry: Entry) {
    path = entry.path
    kind = entry.kind == .directory ? "directory" : "file"
    size = entry.size
    isExecutable = entry.isExecutable
    sha256 = entry.kind == .directory ? nil : entry.sha256.hex
  }
}
