import ArgumentParser

/// `packer-bench store`
struct StoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store", abstract: "Measures how long a store with many packs takes to open, and how much memory it needs.",
    discussion: """
      The packs are small, every second one is unpacked, and the store is below the scratch directory. Opening is timed in this process. Whole \
      processes are timed with 'packer store'.
      """)

  @Option(help: ArgumentHelp("The number of packs. A manifest can list at most 2 000.", valueName: "n"))
  var packs = 2_000

  @OptionGroup var options: ArenaOptions

  func run() async throws {
    let arena = try options.makeArena()
    let sample = try SampleStore(in: "\(arena.scratch)/store", key: "\(arena.scratch)/key")
    try await sample.fill(count: packs)
    var times: [String: [Double]] = [:]
    for _ in 0..<arena.rounds {
      let start = Stopwatch.now()
      let store = try await sample.open()
      times["open", default: []].append(Stopwatch.now() - start)
      guard await store.manifest?.manifest.packs.count == packs else { throw PackError(.internalError, "the manifest is not there") }
      times["open, with its manifest", default: []].append(Stopwatch.now() - start)
      let findings = try await store.reconcile()
      times["open and reconcile", default: []].append(Stopwatch.now() - start)
      guard findings.isEmpty else { throw PackError(.internalError, "an unchanged store needs repair: \(findings[0])") }
      let listing = Stopwatch.now()
      guard try await store.installed().count == packs else { throw PackError(.internalError, "not all packs are there") }
      times["list", default: []].append(Stopwatch.now() - listing)
    }
    for name in ["open", "open, with its manifest", "open and reconcile", "list"] {
      try arena.recorder.add(figure(name, times[name] ?? [], limit: name == "list" ? nil : Limit(0.1)))
    }
    try measureProcesses(sample, arena)
    try sample.remove()
  }

  private func figure(_ name: String, _ seconds: [Double], limit: Limit?) -> Figure {
    Figure(
      corpus: "store", verb: "\(name), \(packs) packs", quantity: "wall", against: "", values: seconds, ours: seconds.median, theirs: 0,
      unit: "s", limit: limit)
  }

  /// Measures whole processes, and how much more memory they need than with an empty store.
  private func measureProcesses(_ sample: SampleStore, _ arena: Arena) throws(PackError) {
    func script(_ root: String) -> String {
      "exec \(arena.packer) store reconcile --store \(root) --trust \(sample.publicKey) --quiet"
    }
    let results = try arena.contest().run([
      Contest.Entrant(name: "full", script: script(sample.root)),
      Contest.Entrant(name: "empty", script: script(sample.emptyRoot)),
    ])
    try arena.recorder.add(figure("packer store reconcile", results["full"].map(\.wall), limit: nil))
    func memory(_ name: String) -> [Double] { results[name].map { Double($0.peakMemory) / 1_048_576 } }
    let more = zip(memory("full"), memory("empty")).map { $0 - $1 }
    try arena.recorder.add(
      Figure(
        corpus: "store", verb: "packer store reconcile, more than for no pack", quantity: "memory", against: "", values: more,
        ours: more.median, theirs: 0, unit: "MiB", limit: Limit(8)))
  }
}
