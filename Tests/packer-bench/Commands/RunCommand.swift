import ArgumentParser

/// The options for the measured tool, the scratch directory, the rounds and the records.
struct ArenaOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The packer to measure.", valueName: "path"))
  var packer: String

  @Option(help: ArgumentHelp("A directory on a tmpfs for outputs. It is made if it does not exist.", valueName: "dir"))
  var scratch: String

  @Option(help: ArgumentHelp("The number of times each side runs.", valueName: "n"))
  var rounds = 5

  @Option(help: ArgumentHelp("A file that records are added to, as JSON Lines.", valueName: "file"))
  var json: String?

  func makeArena() throws(PackError) -> Arena {
    try Arena(packer: packer, scratch: scratch, recorder: Recorder(path: json), rounds: max(1, rounds))
  }
}

/// A corpus with its name, given as `name=dir`.
struct CorpusOption: ExpressibleByArgument {
  let name: String
  let directory: String

  init?(argument: String) {
    let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { return nil }
    name = parts[0]
    directory = parts[1]
  }
}

/// `packer-bench run`
struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Compares the commands of packer with the tools that could be used instead, as whole processes.")

  @Option(name: .customLong("corpus"), help: ArgumentHelp("A tree to measure on. Repeatable.", valueName: "name=dir"))
  var corpora: [CorpusOption]

  @Option(help: ArgumentHelp("Only these parts, separated by commas: pack, pack19, unpack, one, list, verify, peers.", valueName: "parts"))
  var only: String?

  @Flag(name: .customLong("level19"), help: "Also compare packing at level 19, which takes minutes.")
  var comparesLevel19 = false

  @Option(
    name: .customLong("peers"), help: ArgumentHelp("Measure all other tools on this corpus too. Repeatable.", valueName: "name"))
  var peerCorpora: [String] = []

  @OptionGroup var options: ArenaOptions

  func run() throws {
    var parts = Set(Comparison.Part.allCases).subtracting([.peers])
    if !comparesLevel19 { parts.remove(.pack19) }
    if let only {
      parts = []
      for name in only.split(separator: ",") {
        guard let part = Comparison.Part(rawValue: String(name)) else { throw ValidationError("there is no part '\(name)'") }
        parts.insert(part)
      }
    }
    let arena = try options.makeArena()
    for option in corpora {
      let corpus = try MeasuredCorpus(name: option.name, directory: option.directory)
      let record = CorpusRecord(corpus)
      try arena.recorder.add(record, saying: record.line)
      try Comparison(corpus, arena: arena).run(peerCorpora.contains(option.name) ? parts.union([.peers]) : parts)
    }
  }
}

/// A record of a corpus.
private struct CorpusRecord: Encodable {
  let type = "corpus"
  let corpus: String
  let files: Int
  let size: UInt64
  let shape: MeasuredCorpus.Shape

  init(_ corpus: MeasuredCorpus) {
    self.corpus = corpus.name
    files = corpus.items.count
    size = corpus.size
    shape = corpus.shape
  }

  var line: String { "\(corpus): \(files) files, \(ByteCount(size)), measured as \(shape.rawValue)" }
}
