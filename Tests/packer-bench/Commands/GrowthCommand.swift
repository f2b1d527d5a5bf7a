import ArgumentParser

/// `packer-bench growth`
struct GrowthCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "growth", abstract: "Measures how time and memory grow with the size and the number of files of a tree.",
    discussion: """
      Measures trees of media in several sizes, then trees of small texts with several numbers of files. Each tree is made below the scratch \
      directory and removed again. A tree that does not fit there three times is left out, with a message.
      """)

  @Option(help: ArgumentHelp("The sizes, separated by commas, the smallest first.", valueName: "sizes"))
  var sizes = "50MB,150MB,500MB,1600MB,3000MB"

  @Option(help: ArgumentHelp("The numbers of files, separated by commas, the smallest first.", valueName: "numbers"))
  var counts = "1000,5000,20000,60000,200000"

  @OptionGroup var options: ArenaOptions

  func run() throws {
    let sizes = try sizes.split(separator: ",").map { text in
      guard let size = ByteCount(parsing: String(text)) else { throw ValidationError("'\(text)' is not a size") }
      return size.bytes
    }
    let counts = try counts.split(separator: ",").map { text in
      guard let count = Int(text), count > 0 else { throw ValidationError("'\(text)' is not a number of files") }
      return count
    }
    let arena = try options.makeArena()
    var bytes: [GrowthRecord] = []
    for size in sizes {
      // The average file size is the same at every size.
      let plan = CorpusPlan(.media, size: Int(size), count: max(40, Int(size / 275_000)), seed: 1)
      if let record = try measure(plan, axis: "bytes", units: Double(size), arena) { bytes.append(record) }
    }
    try judge(bytes, "bytes", arena.recorder)
    try judgeMemory(bytes, arena.recorder)
    var files: [GrowthRecord] = []
    for count in counts {
      let plan = CorpusPlan(.texts, size: 90_000_000, count: count, seed: 1)
      if let record = try measure(plan, axis: "files", units: Double(count), arena) { files.append(record) }
    }
    try judge(files, "files", arena.recorder)
  }

  private func measure(_ plan: CorpusPlan, axis: String, units: Double, _ arena: Arena) throws(PackError) -> GrowthRecord? {
    let disk = Disk()
    let place = "\(arena.scratch)/growth"
    let pack = "\(place).pack"
    let tree = "\(place).tree"
    let total = plan.files.reduce(0) { $0 + UInt64($1.size) }
    let needed = 3 * (total + 4_096 * UInt64(plan.files.count))
    let free = try disk.freeSpace(arena.scratch)
    guard free > needed else {
      print(
        "growth: \(plan.files.count) files of \(ByteCount(total)) are left out: they need \(ByteCount(needed)), and \(ByteCount(free)) are free"
      )
      return nil
    }
    try disk.removeAll(place)
    try CorpusWriter().write(plan, to: place)
    let corpus = try MeasuredCorpus(name: "growth", directory: place)
    let packing = try arena.contest().run([
      Contest.Entrant(
        name: "pack", preparation: "rm -f \(pack)", script: arena.pack(corpus, to: pack, level: nil), output: corpus.footprint)
    ])
    let reading = try arena.contest().run([
      Contest.Entrant(
        name: "unpack", preparation: "rm -rf \(tree)", script: arena.unpack(pack, to: tree), output: corpus.footprint,
        check: { () throws(PackError) in try ContentCheck.requireSameTree(tree, as: place, name: "packer unpack") },
        cleanup: "rm -rf \(tree)"),
      Contest.Entrant(
        name: "verify", script: "exec \(arena.packer) check \(pack) --key \(arena.scratch)/key --allow-unportable-paths --quiet"),
    ])
    let record = GrowthRecord(
      axis: axis, size: total, files: plan.files.count, units: units, rounds: arena.rounds, packSize: try disk.size(pack),
      pack: Cost(packing, "pack"), unpack: Cost(reading, "unpack"), verify: Cost(reading, "verify"))
    for path in [place, pack, tree] { try disk.removeAll(path) }
    try arena.recorder.add(record, saying: record.line)
    return record
  }

  /// Records the largest time per unit, divided by that of the smallest tree.
  private func judge(_ records: [GrowthRecord], _ axis: String, _ recorder: Recorder) throws(PackError) {
    guard let first = records.first, records.count > 1 else { return }
    for (verb, cost) in [("pack", \GrowthRecord.pack), ("unpack", \GrowthRecord.unpack)] {
      for (quantity, time) in [("wall", \Cost.wall), ("cpu", \Cost.cpu)] {
        func perUnit(_ record: GrowthRecord) -> Double { record[keyPath: cost][keyPath: time] / record.units }
        let largest = records.map(perUnit).max() ?? 0
        let scale = axis == "bytes" ? 1e9 : 1e6
        try recorder.add(
          Figure(
            corpus: "growth", verb: verb, quantity: quantity,
            against: axis == "bytes" ? "\(ByteCount(first.size))" : "\(first.files) files",
            values: [largest / perUnit(first)], ours: largest * scale, theirs: perUnit(first) * scale,
            unit: axis == "bytes" ? "ns/B" : "us/file", limit: quantity == "wall" ? Limit(1.2) : nil))
      }
    }
  }

  /// Records the memory at the size closest to 1.6 GB, divided by the memory at the size closest to 150 MB.
  private func judgeMemory(_ records: [GrowthRecord], _ recorder: Recorder) throws(PackError) {
    func nearest(_ size: Double) -> GrowthRecord? { records.min { abs($0.units - size) < abs($1.units - size) } }
    guard let small = nearest(150e6), let large = nearest(1_600e6), small.size < large.size else { return }
    for (verb, cost) in [("pack", \GrowthRecord.pack), ("unpack", \.unpack), ("verify", \.verify)]
      as [(String, KeyPath<GrowthRecord, Cost>)]
    {
      let memory = (small[keyPath: cost].memory, large[keyPath: cost].memory)
      try recorder.add(
        Figure(
          corpus: "growth", verb: verb, quantity: "memory", against: "itself at \(ByteCount(small.size))",
          values: [memory.1 / max(memory.0, 1e-9)],
          ours: memory.1, theirs: memory.0, unit: "MiB", limit: Limit(1.3, 1.1)))
    }
  }
}

/// The measurements of one tree.
private struct GrowthRecord: Encodable {
  let type = "growth"
  /// The quantity that grows: `bytes` or `files`.
  let axis: String
  let size: UInt64
  let files: Int
  /// The number by which times are divided.
  let units: Double
  let rounds: Int
  let packSize: UInt64
  let pack: Cost
  let unpack: Cost
  let verify: Cost

  var line: String {
    let scale = axis == "bytes" ? 1e9 : 1e6
    let unit = axis == "bytes" ? "ns/B" : "us/file"
    func show(_ name: String, _ cost: Cost) -> String {
      Recorder.right("\(name) \(Recorder.amount(cost.wall, "s")), \(Recorder.decimal(cost.wall / units * scale, 2)) \(unit)", 36)
        + Recorder.right(Recorder.amount(cost.memory, "MiB"), 12)
    }
    return Recorder.left("growth", 10) + Recorder.right("\(ByteCount(size))", 10) + Recorder.right("\(files) files", 16)
      + show("pack", pack)
      + show("unpack", unpack)
  }
}
