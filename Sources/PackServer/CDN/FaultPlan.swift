import PackWork

/// What a server does wrong on purpose, and to which requests.
package struct FaultPlan: Sendable {
  /// The body comes at so many bytes per second.
  package var bytesPerSecond: UInt64?
  /// The connection ends after so many bytes of the body.
  package var truncation: UInt64?
  /// The file is one byte longer than it is.
  package var hasWrongSize = false
  /// One bit in the middle of the file is another one.
  package var isCorrupt = false
  /// The file is somewhere else, which the client has to follow.
  package var redirects = false
  /// Ranges are passed over, and no more are offered.
  package var ignoresRanges = false
  /// Nothing but this status.
  package var status: Int?

  /// The files that are meant, as patterns of their names with `*` and `?`. Packs where there is none.
  package var patterns: [String] = []
  /// How many requests are meant, from the first one on.
  package var times: Int?
  /// The share of the requests that are meant, from 0 to 1.
  package var chance: Double?
  /// The random seed: the same seed selects the same requests.
  package var seed: UInt64 = 0

  package init() {}

  /// Whether anything is done wrong at all.
  package var isEmpty: Bool {
    bytesPerSecond == nil && truncation == nil && !hasWrongSize && !isCorrupt && !redirects && !ignoresRanges && status == nil
  }

  func means(_ name: String) -> Bool {
    (patterns.isEmpty ? ["*.pack"] : patterns).contains { Self.matches(Array($0.unicodeScalars)[...], Array(name.unicodeScalars)[...]) }
  }

  /// The words for what is done wrong, for a log.
  var note: String {
    var words: [String] = []
    if let status { words.append("status \(status)") }
    if redirects { words.append("redirect") }
    if ignoresRanges { words.append("no ranges") }
    if hasWrongSize { words.append("wrong size") }
    if isCorrupt { words.append("corrupt") }
    if let truncation { words.append("truncated at \(truncation)") }
    if let bytesPerSecond { words.append("\(bytesPerSecond) bytes/s") }
    return words.joined(separator: ", ")
  }

  /// Only the last `*` ever needs a second try, so time stays within pattern × name.
  private static func matches(_ pattern: ArraySlice<Unicode.Scalar>, _ name: ArraySlice<Unicode.Scalar>) -> Bool {
    var (pattern, name) = (pattern, name)
    var star: (pattern: ArraySlice<Unicode.Scalar>, name: ArraySlice<Unicode.Scalar>)?
    while let scalar = name.first {
      if pattern.first == "*" {
        star = (pattern, name)
        pattern = pattern.dropFirst()
      } else if let wanted = pattern.first, wanted == "?" || wanted == scalar {
        pattern = pattern.dropFirst()
        name = name.dropFirst()
      } else if let last = star {
        star = (last.pattern, last.name.dropFirst())
        pattern = last.pattern.dropFirst()
        name = last.name.dropFirst()
      } else {
        return false
      }
    }
    return pattern.allSatisfy { $0 == "*" }
  }
}

/// Decides request by request whether a plan is carried out.
final class FaultDice: Sendable {
  private struct State {
    var struck = 0
    var random: UInt64
  }

  private let plan: FaultPlan
  private let state: Monitor<State>

  init(_ plan: FaultPlan) {
    self.plan = plan
    state = Monitor(State(random: plan.seed))
  }

  /// The plan, where it is carried out on a request for a file; else one that does nothing.
  func plan(for name: String) -> FaultPlan {
    guard !plan.isEmpty, plan.means(name) else { return FaultPlan() }
    return state.withLock { state in
      if let times = plan.times, state.struck >= times { return FaultPlan() }
      if let chance = plan.chance, Self.next(&state.random) >= chance { return FaultPlan() }
      state.struck += 1
      return plan
    }
  }

  /// SplitMix64, from 0 to 1.
  private static func next(_ state: inout UInt64) -> Double {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    mixed ^= mixed >> 31
    return Double(mixed >> 11) / Double(1 << 53)
  }
}
