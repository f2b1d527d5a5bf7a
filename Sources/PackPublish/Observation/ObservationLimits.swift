/// A share that must not be exceeded, such as 0.5 %.
package struct ShareLimit: Hashable, Sendable, CustomStringConvertible {
  private let millionths: UInt64
  package let description: String

  /// Reads a number of percent with at most four decimals, such as `0.5` or `0.5%`. Returns nil for anything else, and for more than 100.
  package init?(_ text: String) {
    let number = text.hasSuffix("%") ? text.dropLast() : text[...]
    let parts = number.split(separator: ".", omittingEmptySubsequences: false)
    let decimals = parts.count == 2 ? parts[1] : ""
    guard (1...2).contains(parts.count), (1...3).contains(parts[0].utf8.count), parts.count == 1 || (1...4).contains(decimals.utf8.count),
      (parts[0] + decimals).utf8.allSatisfy({ (0x30...0x39).contains($0) }), let whole = UInt64(parts[0]),
      let part = UInt64(decimals + String(repeating: "0", count: 4 - decimals.utf8.count))
    else { return nil }
    millionths = whole * 10_000 + part
    guard millionths <= 1_000_000 else { return nil }
    description = "\(number) %"
  }

  /// The share in percent.
  var percent: Double { Double(millionths) / 10_000 }

  /// Returns a share in percent, with two decimals.
  package static func percent(_ share: Double) -> String {
    let hundredths = Int64((share.magnitude * 10_000).rounded())
    let sign = share < 0 && hundredths > 0 ? "-" : ""
    return "\(sign)\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100) %"
  }

  /// Whether a part of a whole is more than the share.
  package func isExceeded(by part: UInt64, of whole: UInt64) -> Bool {
    let (left, right) = (part.multipliedFullWidth(by: 1_000_000), whole.multipliedFullWidth(by: millionths))
    return (left.high, left.low) > (right.high, right.low)
  }

  /// Returns a part of a whole in percent, with two decimals, rounded up if it is not 0: what is above a limit never looks as if it were at it.
  package static func percent(_ part: UInt64, of whole: UInt64) -> String {
    guard whole > 0 else { return "0.00 %" }
    let hundredths = (part.times(10_000).adding(whole - 1)) / whole
    return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100) %"
  }
}

/// The limits at which a pipeline stops.
package struct ObservationLimits: Hashable, Sendable {
  /// The largest share of requests that fail.
  package var errors: ShareLimit?
  /// The largest share of the devices that requested a delta, and then got the whole pack.
  package var fallbacks: ShareLimit?
  /// The largest share of devices on which the newest version of a pack was rolled back, as *seen* files tell it.
  package var rollbacks: ShareLimit?
  /// The least number of requests that show anything.
  package var leastRequests: UInt64

  package init(errors: ShareLimit? = nil, fallbacks: ShareLimit? = nil, rollbacks: ShareLimit? = nil, leastRequests: UInt64) {
    (self.errors, self.fallbacks, self.rollbacks, self.leastRequests) = (errors, fallbacks, rollbacks, leastRequests)
  }

  /// Returns what is above the limits, as sentences: of all requests, and of those for the files of each release, so that the many requests for an old one
  /// do not hide the faults of the newest. Too few requests for the newest files are a finding, because they show nothing.
  package func findings(_ observation: Observation) -> [String] {
    let told = rollbacks.map { self.findings(observation.seen, allowing: $0) } ?? []
    guard errors != nil || fallbacks != nil else { return told }
    var findings = told + self.findings("all requests", observation.total, isNeeded: true)
    if observation.versions.isEmpty {
      findings.append("no release is known, so which files are new and which are deltas is not, either")
    } else if let unknown = fallbacks.map({ _ in observation.unknownDeltas }), unknown > 0 {
      findings.append(
        "\(unknown) requests were for packs or deltas of no known release, so fall-backs cannot be told: name it with --release, as what was published"
      )
    }
    for version in observation.versions {
      let isNewest = version == observation.versions.last
      // One that only changed the manifest has no files of its own.
      let hasFiles = observation.files.contains { $0.release == version }
      findings += self.findings(
        "files that are new in manifest \(version)", observation.total(of: version), isNeeded: isNewest && hasFiles)
    }
    return findings
  }

  /// Returns what *seen* files tell of the newest version of each pack: only what is no chance.
  private func findings(_ seen: [SeenCounts], allowing limit: ShareLimit) -> [String] {
    guard !seen.isEmpty else { return ["no seen file was requested, which shows nothing"] }
    let newest = seen.enumerated().filter { $0.offset == 0 || seen[$0.offset - 1].id != $0.element.id }.map(\.element)
    return newest.compactMap { counts in
      guard counts.reports >= max(1, leastRequests) else {
        return "\(counts.id) \(counts.version): \(counts.reports) seen files show too little; \(max(1, leastRequests)) are needed"
      }
      guard counts.leastRolledBack * 100 > limit.percent else { return nil }
      return "\(counts.id) \(counts.version): rolled back on \(ShareLimit.percent(counts.rolledBack)) of devices, "
        + "at least \(ShareLimit.percent(counts.leastRolledBack)) for 99 %; allowed are \(limit)"
    }
  }

  private func findings(_ what: String, _ counts: Observation.Counts, isNeeded: Bool) -> [String] {
    guard counts.requests >= leastRequests, counts.requests > 0 else {
      return isNeeded ? ["\(what): \(counts.requests) requests show too little; \(max(1, leastRequests)) are needed"] : []
    }
    var findings: [String] = []
    if let errors, errors.isExceeded(by: counts.failed, of: counts.requests) {
      findings.append(
        "\(what): \(ShareLimit.percent(counts.failed, of: counts.requests)) failed, \(counts.failed) of \(counts.requests); allowed are \(errors)"
      )
    }
    if let fallbacks, fallbacks.isExceeded(by: counts.fallbacks, of: counts.devices) {
      findings.append(
        "\(what): \(ShareLimit.percent(counts.fallbacks, of: counts.devices)) of the devices that requested a delta then fetched the whole pack, "
          + "\(counts.fallbacks) of \(counts.devices); allowed are \(fallbacks)")
    }
    return findings
  }
}
