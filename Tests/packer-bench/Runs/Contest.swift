import PackFormat

/// Commands that do the same job, run in turns.
struct Contest {
  /// One side of a comparison.
  struct Entrant {
    let name: String
    /// What has to be there, or gone, before each run; not measured.
    var preparation = ""
    let script: String
    /// About how many bytes a run writes to the tmpfs.
    var output: UInt64 = 0
    /// How often it runs at most: slow ones need not run as often as others.
    var rounds = Int.max
    /// Holds the output of each run against what it must be; not measured.
    var check: (() throws(PackError) -> Void)?
    /// What is done after each run, checked or not; not measured.
    var cleanup = ""
  }

  let stopwatch: Stopwatch
  let rounds: Int
  /// Only the first output of each entrant is checked where that costs more than a run.
  var checksEveryRound = false
  /// An entrant that took longer than this, in seconds, runs no more often than twice, and no more than once where it took three times that.
  var patience = 20.0

  /// Runs everybody once a round, in an order rotated by one each time, so that whatever else the machine does hits all alike.
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

  /// Leaves as much memory free that this machine has in use as a run will take for its output, where that is much.
  ///
  /// A virtual machine gives memory that was free for two seconds back to its host, and getting it again costs several times what writing
  /// to it costs. Whoever runs next would pay that for what ran before, by chance and not by merit. So this waits until what was removed last
  /// has been given back, then takes what will be needed and frees it. Processors that come out of a rest are slow for some milliseconds, which
  /// shorter runs would pay more of than longer ones: they are kept busy in between.
  private func warmMemory(for output: UInt64) throws(PackError) {
    guard output >= 500_000_000 else { return }
    let file = "\(stopwatch.scratch)/warm"
    _ = try stopwatch.run("sleep 3; head -c \(output) /dev/zero >\(file)")
    _ = try stopwatch.run("rm -f \(file)")
    _ = try stopwatch.run("for ((job = 0; job < $(nproc); job++)); do for ((turn = 0; turn < 200000; turn++)); do :; done & done; wait")
  }

  /// What everybody took in each round.
  struct Results {
    private var samples: [String: [Int: Measurement]] = [:]

    mutating func add(_ measurement: Measurement, of name: String, round: Int) {
      samples[name, default: [:]][round] = measurement
    }

    /// The measurements of one entrant in the order of the rounds.
    subscript(name: String) -> [Measurement] {
      (samples[name] ?? [:]).sorted { $0.key < $1.key }.map(\.value)
    }

    /// One entrant's figure over another's, for each round that both ran in.
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
  /// The one in the middle, or what lies between the two in the middle; 0 where there is none.
  var median: Double {
    guard !isEmpty else { return 0 }
    let sorted = sorted()
    let middle = count / 2
    return count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }
}
