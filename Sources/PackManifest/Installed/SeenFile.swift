/// A file whose name says what became of a version on a device that requests it (OBSERVE.md). It need not exist.
package struct SeenFile: Hashable, Sendable {
  /// What became of a version.
  package enum Outcome: String, Hashable, Sendable, CaseIterable {
    case confirmed
    /// Its process ended before it was confirmed.
    case crash = "rolled-back-crash"
    /// It was not confirmed in time.
    case timeout = "rolled-back-timeout"
    /// It could not be opened.
    case unreadable = "rolled-back-unreadable"
    /// The app rolled it back.
    case refused = "rolled-back-app"
  }

  /// The pack, and its version.
  package let id: String
  package let version: UInt64
  /// How many of a hundred devices that tell something tell anything at random.
  package let randomised: UInt64
  package let outcome: Outcome

  /// The most that can be at random.
  package static let mostRandomised: UInt64 = 90

  package init(id: String, version: UInt64, randomised: UInt64, outcome: Outcome) {
    (self.id, self.version, self.randomised, self.outcome) = (id, version, randomised, outcome)
  }

  /// The path below the address of packs.
  package var path: String { "seen/\(id)/\(version)/\(randomised)/\(outcome.rawValue)" }

  /// Reads the end of a path. Returns nil if it is no such file.
  package init?(endOf path: String) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).suffix(5)
    guard parts.count == 5, let first = parts.first, first == "seen" else { return nil }
    let texts = parts.dropFirst().map { String($0) }
    guard let name = try? PackName(texts[0]), let version = UInt64(texts[1]), let randomised = UInt64(texts[2]), "\(version)" == texts[1],
      version > 0, "\(randomised)" == texts[2], randomised <= Self.mostRandomised, let outcome = Outcome(rawValue: texts[3])
    else { return nil }
    self.init(id: name.text, version: version, randomised: randomised, outcome: outcome)
  }

  /// Returns what is told of an outcome. The share at random is half confirmed, and half of it rolled back for any reason.
  package static func told(_ outcome: Outcome, randomised: UInt64, using random: inout some RandomNumberGenerator) -> Outcome {
    guard UInt64.random(in: 0..<100, using: &random) < randomised else { return outcome }
    guard Bool.random(using: &random) else { return .confirmed }
    return [Outcome.crash, .timeout, .unreadable, .refused].randomElement(using: &random) ?? .refused
  }
}

/// Why versions fail, as records say it.
package enum RollbackReason {
  package static let crash = "its process ended before it was confirmed"

  package static func timeout(milliseconds: UInt64) -> String { "\(timeoutStart) within \(milliseconds) ms" }

  package static func unreadable(_ code: String) -> String { "\(unreadableStart): \(code)" }

  private static let timeoutStart = "not confirmed"
  private static let unreadableStart = "cannot be opened"

  /// Returns what became of a version that failed for a reason. Others than these are those of the app.
  package static func outcome(of reason: String) -> SeenFile.Outcome {
    if reason == crash { return .crash }
    if reason.hasPrefix(timeoutStart) { return .timeout }
    return reason.hasPrefix(unreadableStart) ? .unreadable : .refused
  }
}
