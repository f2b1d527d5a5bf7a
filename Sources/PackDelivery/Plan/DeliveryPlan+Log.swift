extension DeliveryPlan {
  /// The values of a plan for a log. Their number does not depend on the number of packs.
  func logValues(for facts: DeliveryFacts, _ manifestVersion: UInt64, rebuilt: Int) -> [LogValue] {
    var reasons: [String: Int] = [:]
    for postponement in postponed { reasons[postponement.reason.name, default: 0] += 1 }
    var values: [LogValue] = [
      .public("event", facts.event.rawValue), .public("manifest", manifestVersion), .public("downloads", downloads.count),
      .public("bytes", downloadSize), .public("running", underWay.count), .public("arrived", handOver.count), .public("ready", ready.count),
    ]
    if let allowance {
      values += [.public("essentialLeft", allowance.essential), .public("otherLeft", allowance.other)]
    }
    if !reasons.isEmpty {
      values.append(.public("postponed", reasons.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: ",")))
    }
    if !undecided.isEmpty { values.append(.public("undecided", undecided.count)) }
    let deltas = downloads.count(where: \.isDelta)
    if deltas > 0 { values.append(.public("deltas", deltas)) }
    // Without this, deltas that never work would not be noticed.
    let fallbacks = downloads.compactMap { download in download.fallback.map { "\(download.id):\($0.rawValue)" } }
    if !fallbacks.isEmpty { values.append(.public("fullInsteadOfDelta", fallbacks.prefix(8).joined(separator: ","))) }
    if rebuilt > 0 { values.append(.public("rebuilt", rebuilt)) }
    return values
  }
}

extension Postponement.Reason {
  /// The name of the reason, without its numbers.
  fileprivate var name: String {
    switch self {
    case .notAsked: "not-requested"
    case .cancelled: "cancelled"
    case .beforeLaunch: "before-launch"
    case .allowance: "allowance"
    case .batch: "batch"
    case .space: "space"
    case .failed: "failed"
    case .base: "base"
    case .manifestExpired: "manifest-expired"
    }
  }
}
