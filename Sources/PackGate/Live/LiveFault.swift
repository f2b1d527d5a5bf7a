/// A fault that a live check found.
struct LiveFault: Hashable, Sendable {
  /// The rule that it breaks, each in one check.
  enum Kind: Sendable, CaseIterable {
    case otherManifest, missing, size, incomplete, content, encoding, insecure, host, redirect, wrongRange, noResumption, goneEarlier, type,
      shortCaching, longCaching, stale, noLength, certificate, refused,
      busy, clock, sharing, early
  }

  let kind: Kind
  /// The pack that it is about, if it is about one.
  var pack: String?
  /// The fault, for a person: lower case, no period.
  let message: String
  /// Whether it has the level below the one of its rule.
  var isLesser = false
  /// The number that was found, if the fault is about numbers, and the expected one.
  var actual: UInt64?
  var limit: UInt64?
}

/// What a live check found.
struct LiveSighting: Sendable {
  /// The faults: in the order of the files, whatever the order of the answers.
  var faults: [LiveFault] = []
  /// What was asked, for the report.
  var summary = ""
}
