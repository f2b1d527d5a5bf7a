/// What devices told of one version of a pack by requesting *seen* files, and what follows from it.
package struct SeenCounts: Hashable, Sendable {
  package let id: String
  package let version: UInt64
  /// The requests, by how many of a hundred tell at random, and by what they tell.
  private var counts: [UInt64: [SeenFile.Outcome: UInt64]] = [:]

  init(id: String, version: UInt64) { (self.id, self.version) = (id, version) }

  mutating func add(_ file: SeenFile) { counts[file.randomised, default: [:]][file.outcome, default: 0] += 1 }

  /// The number of requests.
  package var reports: UInt64 { counts.values.reduce(0) { $0 + $1.values.reduce(0, +) } }

  /// The requests that tell one thing, as they came.
  package func count(_ outcome: SeenFile.Outcome) -> UInt64 { counts.values.reduce(0) { $0 + ($1[outcome] ?? 0) } }

  /// An estimate of the share of devices on which the version was rolled back, without what was told at random; it may be below zero.
  package var rolledBack: Double {
    let total = Double(reports)
    guard total > 0 else { return 0 }
    var sum = 0.0
    for group in groups { sum += group.total * (group.share - group.random / 2) / (1 - group.random) }
    return sum / total
  }

  /// The standard deviation of ``rolledBack``.
  var deviation: Double {
    let total = Double(reports)
    guard total > 0 else { return 1 }
    var variance = 0.0
    for group in groups {
      // As if there were two more of each, so that none or all of a few is no certainty.
      let share = (group.share * group.total + 2) / (group.total + 4)
      let truth = 1 - group.random
      variance += group.total * share * (1 - share) / (truth * truth)
    }
    return variance.squareRoot() / total
  }

  /// The smallest difference of two shares that is no chance, 99 times in a hundred.
  package static func smallestDifference(_ one: SeenCounts, _ other: SeenCounts) -> Double {
    twoSided * (one.deviation * one.deviation + other.deviation * other.deviation).squareRoot()
  }

  /// The share above which the version was rolled back with a certainty of 99 %.
  var leastRolledBack: Double { rolledBack - Self.oneSided * deviation }

  /// The quantiles of the normal distribution for 99 %.
  private static let (twoSided, oneSided) = (2.5758, 2.3263)

  private struct Group {
    let total: Double
    /// Of these, those that tell of a rollback.
    let share: Double
    /// The share at random.
    let random: Double
  }

  private var groups: [Group] {
    counts.sorted { $0.key < $1.key }.map { randomised, outcomes in
      let total = outcomes.values.reduce(0, +)
      return Group(
        total: Double(total), share: Double(total - (outcomes[.confirmed] ?? 0)) / Double(total), random: Double(randomised) / 100)
    }
  }
}
