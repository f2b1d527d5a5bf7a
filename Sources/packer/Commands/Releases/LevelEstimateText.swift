/// The output for estimates of another compression level.
struct LevelEstimateText {
  /// The level as the user named it.
  let level: String
  let estimates: [LevelEstimate]

  /// Savings below one in this many bytes are not listed one by one.
  private static let leastShare: UInt64 = 50

  private var notable: [LevelEstimate] { estimates.filter { $0.saving * Self.leastShare >= $0.size } }

  /// The lines for people: the largest savings first.
  ///
  /// - Parameter limit: the largest number of packs that are listed.
  func lines(limit: Int) -> [String] {
    let listed = notable.prefix(limit)
    var lines = listed.map { estimate in
      let share = "\(100 * estimate.saving / max(1, estimate.size)) %"
      let saving = estimate.isMade ? "\(ByteCount(estimate.saving)) of \(ByteCount(estimate.size))" : share
      return "\(estimate.id): level \(level) would save about \(saving), in \(Self.time(estimate.seconds))"
    }
    let rest = notable.dropFirst(limit)
    if !rest.isEmpty {
      let saving = 100 * rest.reduce(0 as UInt64) { $0 + $1.saving } / max(1, rest.reduce(0 as UInt64) { $0 + $1.size })
      lines.append("\(Table.count(rest.count, "more pack", "more packs")): about \(saving) %")
    }
    return lines
  }

  private static func time(_ seconds: Double) -> String {
    seconds < 1 ? "less than a second" : seconds < 100 ? "about \(Int(seconds.rounded())) s" : "about \(Int((seconds / 60).rounded())) min"
  }

  func show(on console: Console) {
    if console.isJSON {
      for estimate in estimates { console.result(estimate.json(level: level)) }
      return
    }
    let lines = lines(limit: 10)
    guard lines.isEmpty else { return console.output(lines: lines) }
    console.output(
      lines: estimates.isEmpty
        ? ["no pack is large enough for an estimate of level \(level)"]
        : ["level \(level) would save less than 2 % in each pack that is large enough for an estimate"])
  }
}
