import ArgumentParser

/// `packer-bench levels`
struct LevelsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "levels", abstract: "Measures time, memory and size at each compression level.")

  @Option(name: .customLong("corpus"), help: ArgumentHelp("A tree to measure on. Repeatable.", valueName: "name=dir"))
  var corpora: [CorpusOption]

  @Option(help: ArgumentHelp("The levels, separated by commas. Levels that packer does not have are left out.", valueName: "levels"))
  var levels = "fast,balanced,smallest,1,3,6,9,12,15,19"

  @OptionGroup var options: ArenaOptions

  func run() throws {
    let arena = try options.makeArena()
    for option in corpora {
      let corpus = try MeasuredCorpus(name: option.name, directory: option.directory)
      for level in levels.split(separator: ",").map(String.init) {
        try measure(level, corpus, arena)
      }
    }
  }

  private func measure(_ level: String, _ corpus: MeasuredCorpus, _ arena: Arena) throws(PackError) {
    let disk = Disk()
    let pack = "\(arena.scratch)/level.pack"
    let tree = "\(arena.scratch)/level.tree"
    let probe = "\(arena.scratch)/probe"
    try disk.makeDirectories(probe)
    let (_, status, _) = try arena.stopwatch.attempt(
      "\(arena.packer) pack \(probe) -o \(pack) --key \(arena.scratch)/key --quiet --level \(level)")
    // 64: usage. Any other failure is reported by the run itself.
    guard status != 64 else {
      print("\(corpus.name): this packer has no level '\(level)'")
      return
    }
    let packing = try arena.contest().run([
      Contest.Entrant(name: level, preparation: "rm -f \(pack)", script: arena.pack(corpus, to: pack, level: level))
    ])
    let unpacking = try arena.contest().run([
      Contest.Entrant(
        name: level, preparation: "rm -rf \(tree)", script: arena.unpack(pack, to: tree),
        check: { () throws(PackError) in try ContentCheck.requireSameTree(tree, as: corpus.directory, name: "level \(level)") },
        cleanup: "rm -rf \(tree)")
    ])
    let record = LevelRecord(
      corpus: corpus.name, level: level, size: try disk.size(pack), contentSize: corpus.size, packWall: packing.median(level) { $0.wall },
      packCPU: packing.median(level) { $0.cpu }, packMemory: packing.median(level) { Double($0.peakMemory) } / 1_048_576,
      unpackWall: unpacking.median(level) { $0.wall }, unpackCPU: unpacking.median(level) { $0.cpu },
      unpackMemory: unpacking.median(level) { Double($0.peakMemory) } / 1_048_576)
    try arena.recorder.add(record, saying: record.line)
    try disk.removeAll(pack)
  }
}

/// The measurements of one level.
private struct LevelRecord: Encodable {
  let type = "level"
  let corpus: String
  let level: String
  let size: UInt64
  let contentSize: UInt64
  let packWall: Double
  let packCPU: Double
  let packMemory: Double
  let unpackWall: Double
  let unpackCPU: Double
  let unpackMemory: Double

  var line: String {
    Recorder.left(corpus, 10) + Recorder.left("level \(level)", 16) + Recorder.right("\(ByteCount(size))", 12)
      + Recorder.right(Recorder.amount(packWall, "s"), 12) + Recorder.right(Recorder.amount(packCPU, "s"), 12)
      + Recorder.right(Recorder.amount(packMemory, "MiB"), 12) + Recorder.right(Recorder.amount(unpackWall, "s"), 12)
      + Recorder.right(Recorder.amount(unpackMemory, "MiB"), 12)
  }
}
