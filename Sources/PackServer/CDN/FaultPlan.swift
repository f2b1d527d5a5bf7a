/// The faults that a server simulates, and the requests that they affect.
package struct FaultPlan: Sendable {
  /// The number of bytes of the body after which the connection is closed; nil to send all.
  package var truncation: UInt64?
  /// Whether the file is served one byte longer than it is.
  package var hasWrongSize = false
  /// Whether one bit in the middle of the file is flipped.
  package var isCorrupt = false
  /// Whether requests are redirected to another path.
  package var redirects = false
  /// Whether `Range` is ignored and `Accept-Ranges` is not sent.
  package var ignoresRanges = false
  /// The status that is sent instead of the file.
  package var status: Int?

  /// The affected files, as patterns of their names with `*` and `?`. If empty, all packs are affected.
  package var patterns: [String] = []
  /// The number of affected requests, from the first one on; nil for all.
  package var times: Int?
  /// The share of affected requests, from 0 to 1; nil for all.
  package var chance: Double?
  /// The random seed: the same seed selects the same requests.
  package var seed: UInt64 = 0

  package init() {}

  /// Whether the plan has no faults.
  package var isEmpty: Bool {
    truncation == nil && !hasWrongSize && !isCorrupt && !redirects && !ignoresRanges && status == nil
  }

  func means(_ name: String) -> Bool {
    (patterns.isEmpty ? ["*.pack"] : patterns).contains { Glob.matches($0, name: name) }
  }

  /// The faults in words, for the log.
  var note: String {
    var words: [String] = []
    if let status { words.append("status \(status)") }
    if redirects { words.append("redirect") }
    if ignoresRanges { words.append("no ranges") }
    if hasWrongSize { words.append("wrong size") }
    if isCorrupt { words.append("corrupt") }
    if let truncation { words.append("truncated at \(truncation)") }
    return words.joined(separator: ", ")
  }
}

/// Decides for each request whether a plan applies.
final class FaultDice: Sendable {
  private struct State {
    var struck = 0
    var random: SplitMix64
  }

  private let plan: FaultPlan
  private let state: Monitor<State>

  init(_ plan: FaultPlan) {
    self.plan = plan
    state = Monitor(State(random: SplitMix64(seed: plan.seed)))
  }

  /// Returns the plan if it applies to this request for a file, or else a plan without faults.
  func plan(for name: String) -> FaultPlan {
    guard !plan.isEmpty, plan.means(name) else { return FaultPlan() }
    return state.withLock { state in
      if let times = plan.times, state.struck >= times { return FaultPlan() }
      if let chance = plan.chance, state.random.fraction() >= chance { return FaultPlan() }
      state.struck += 1
      return plan
    }
  }
}
