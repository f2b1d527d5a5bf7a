import ArgumentParser

/// `packer-bench layers`
struct LayersCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "layers", abstract: "Measures opening and reading a pack over a delta, against the full pack.",
    discussion: """
      Two versions of a directory are packed, and the delta between them is made. Measured is the processor time of one thread: of opening the \
      second version, for the first time and with the digests that a store keeps; of reading up to 64 KiB of each of 64 files right after it was \
      opened, and once more; and of reading all files in the order of their paths. A base is opened with its delta.
      """)

  @Argument(help: "The directory of the first version.", completion: .directory)
  var old: String

  @Argument(help: "The directory of the second version.", completion: .directory)
  var new: String

  @Option(help: ArgumentHelp("The seed of the choice of files.", valueName: "n"))
  var seed: UInt64 = 1

  @OptionGroup var options: ArenaOptions

  func run() async throws {
    let arena = try options.makeArena()
    let key = try KeyReference(parsing: "\(arena.scratch)/key").resolve { _ in }
    let place = "\(arena.scratch)/layers"
    let disk = Disk()
    try disk.removeAll(place)
    try disk.makeDirectories(place)
    let paths = LayersContest.Paths(old: "\(place)/old.pack", new: "\(place)/new.pack", delta: "\(place)/new.delta")
    for (directory, path) in [(old, paths.old), (new, paths.new)] {
      var job = PackJob(source: directory, output: path, name: try PackName("layers"))
      (job.settings.allowsUnportablePaths, job.settings.allowsSecrets) = (true, true)
      _ = try await job.run(key: key)
    }
    var job = DeltaJob(from: try Pack.open(paths.old, key: key), to: try Pack.open(paths.new, key: key), output: paths.delta)
    job.mode = .packed
    _ = try await job.run(key: key)
    let contest = try LayersContest(paths, key: key, seed: seed)
    var results: [LayersContest.Way: [LayersContest.Times]] = [:]
    for _ in 0..<arena.rounds {
      for way in LayersContest.Way.allCases { results[way, default: []].append(try contest.run(way, key: key)) }
    }
    let name = new.split(separator: "/").last.map(String.init) ?? new
    let full = results[.full] ?? []
    for (title, way, time) in LayersContest.rows {
      let (ours, theirs) = ((results[way] ?? []).map { $0[keyPath: time] }, full.map { $0[keyPath: time] })
      try arena.recorder.add(
        Figure(
          corpus: name, verb: title, quantity: "cpu", against: "the full pack", values: zip(ours, theirs).map { $0 / $1 },
          ours: ours.median, theirs: theirs.median, unit: "s", limit: nil))
    }
    try disk.removeAll(place)
  }
}

/// A pack that is read as a full pack and over a delta, in turn.
private struct LayersContest {
  struct Paths {
    let old: String
    let new: String
    let delta: String
  }

  /// A way to read the second version.
  enum Way: CaseIterable {
    case full
    /// Over the delta, whose digests are computed when it is opened.
    case delta
    /// Over the delta, whose digests were kept.
    case kept
  }

  /// Processor times of this thread, in seconds.
  struct Times {
    var opening = 0.0
    var first = 0.0
    var second = 0.0
    var all = 0.0
  }

  static var rows: [(String, Way, KeyPath<Times, Double>)] {
    [
      ("open for the first time", .delta, \.opening), ("open", .kept, \.opening), ("read 64 KiB, cold", .kept, \.first),
      ("read 64 KiB, warm", .kept, \.second), ("read all", .kept, \.all),
    ]
  }

  private let paths: Paths
  private let keeper = DigestBuffer()
  private let contentRoot: [UInt8]
  /// Files, and the range that is read of each.
  private let choices: [(path: String, range: Range<UInt64>)]

  init(_ paths: Paths, key: borrowing PackKey, seed: UInt64) throws(PackError) {
    self.paths = paths
    let pack = try Pack.open(paths.new, key: key)
    contentRoot = pack.contentRoot
    var files: [Entry] = []
    try pack.forEachEntry { if $0.size > 0 { files.append($0) } }
    guard !files.isEmpty else { throw PackError(.usage, "there is no file with content") }
    var noise = Noise(seed: seed)
    choices = (0..<64).map { _ in
      let file = files[noise.below(files.count)]
      let start = noise.below(Int(file.size))
      return (file.path, UInt64(start)..<min(file.size, UInt64(start) + 65_536))
    }
    // Keeps the digests.
    _ = try open(.kept, key: key)
  }

  func run(_ way: Way, key: borrowing PackKey) throws(PackError) -> Times {
    var times = Times()
    let start = Stopwatch.threadTime()
    let pack = try open(way, key: key)
    times.opening = Stopwatch.threadTime() - start
    guard pack.contentRoot == contentRoot else { throw PackError(.internalError, "two contents differ") }
    for choice in choices {
      // Nothing of a pack that was just opened is in memory.
      let pack = try open(way, key: key)
      let entry = try pack.entry(at: choice.path)
      for time in [\Times.first, \.second] {
        let start = Stopwatch.threadTime()
        try pack.read(entry, range: choice.range) { _ in }
        times[keyPath: time] += Stopwatch.threadTime() - start
      }
    }
    var entries: [Entry] = []
    try pack.forEachEntry { entries.append($0) }
    let reading = Stopwatch.threadTime()
    for entry in entries where entry.kind == .file { try pack.read(entry) { _ in } }
    times.all = Stopwatch.threadTime() - reading
    return times
  }

  private func open(_ way: Way, key: borrowing PackKey) throws(PackError) -> Pack {
    guard way != .full else { return try Pack.open(paths.new, key: key) }
    return try Pack.open(
      paths.delta, key: key, over: [try Pack.open(paths.old, key: key)], keeper: way == .kept ? keeper : nil)
  }
}
