/// Runs commands that do the same job, in turns.
struct Contest {
  /// One side of a comparison.
  struct Entrant {
    let name: String
    /// The script to run before each run, not measured.
    var preparation = ""
    let script: String
    /// The approximate number of bytes that a run writes to the tmpfs.
    var output: UInt64 = 0
    /// The largest number of runs. Slow commands need fewer runs.
    var rounds = Int.max
    /// Checks the output of a run, not measured.
    var check: (() throws(PackError) -> Void)?
    /// The script to run after each run, not measured.
    var cleanup = ""
  }

  let stopwatch: Stopwatch
  let rounds: Int
  /// Whether the output of every round is checked, and not only the first one.
  var checksEveryRound = false
  /// A time in seconds: an entrant that takes longer runs at most twice, and one that takes three times as long runs only once.
  var patience = 20.0

  /// Runs each entrant once per round, in an order that rotates each time, so that other load on the machine affects all entrants equally.
  func run(_ entrants: [Entrant]) throws(PackError) -> Results {
    var results = Results()
    for round in 0..<rounds {
      for turn in entrants.indices {
        let entrant = entrants[(turn + round) % entrants.count]
        let slowest = results[entrant.name].map(\.wall).max() ?? 0
        guard round < entrant.rounds, slowest < patience || round < 2, slowest < 3 * patience || round < 1 else { continue }
        if !entrant.preparation.isEmpty { _ = try stopwatch.run(entrant.preparation) }
        try warmMemory(for: entrant.output)
        results.add(try stopwatch.run(entrant.script), of: entrant.name, round: round)
        if round == 0 || checksEveryRound { try entrant.check?() }
        if !entrant.cleanup.isEmpty { _ = try stopwatch.run(entrant.cleanup) }
      }
    }
    return results
  }

  /// Prepares free memory for a run with a large output, so that the machine does not have to get it from its host during the run.
  ///
  /// A virtual machine returns memory that was free for two seconds to its host, and getting it back costs several times as much as writing to
  /// it. That cost would depend on the previous run. So this waits until the memory of the last removed files has been returned, then allocates
  /// the needed amount and frees it. Idle processors are slow for some milliseconds afterwards, which affects short runs more than long ones.
  /// Therefore the processors are kept busy until the run starts.
  private func warmMemory(for output: UInt64) throws(PackError) {
    guard output >= 500_000_000 else { return }
    let file = "\(stopwatch.scratch)/warm"
    _ = try stopwatch.run("sleep 3; head -c \(output) /dev/zero >\(file)")
    _ = try stopwatch.run("rm -f \(file)")
    _ = try stopwatch.run("for ((job = 0; job < $(nproc); job++)); do for ((turn = 0; turn < 200000; turn++)); do :; done & done; wait")
  }

  /// The measurements of all entrants, by round.
  struct Results {
    private var samples: [String: [Int: Measurement]] = [:]

    mutating func add(_ measurement: Measurement, of name: String, round: Int) {
      samples[name, default: [:]][round] = measurement
    }

    /// Returns the measurements of one entrant in the order of the rounds.
    subscript(name: String) -> [Measurement] {
      (samples[name] ?? [:]).sorted { $0.key < $1.key }.map(\.value)
    }

    /// Returns one entrant's figure divided by another's, for each round in which both ran.
    func ratios(_ name: String, to other: String, _ value: (Measurement) -> Double) -> [Double] {
      let others = samples[other] ?? [:]
      return (samples[name] ?? [:]).sorted { $0.key < $1.key }.compactMap { round, measurement in
        others[round].map { value(measurement) / max(value($0), 1e-9) }
      }
    }

    func median(_ name: String, _ value: (Measurement) -> Double) -> Double {
      self[name].map(value).median
    }
  }
}

extension [Double] {
  /// The median, or 0 if the list is empty.
  var median: Double {
    guard !isEmpty else { return 0 }
    let sorted = sorted()
    let middle = count / 2
    return count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }
}
