/// What `verify` has to say about a release.
package struct ReleaseReport: Sendable {
  /// What was looked at: the manifest, as the caller named it.
  package let subject: String
  /// What was seen, as rows for people.
  package let facts: [Fact]
  /// What the release asks for, and what it may have.
  package let budget: [BudgetRow]
  /// Every finding, the most severe first; accepted ones last.
  package let findings: [ReleaseFinding]
  /// Every rule that was asked for, in ascending order of the ids, and what became of it.
  package let rules: [RuleOutcome]

  /// One row about the release.
  package struct Fact: Hashable, Sendable {
    /// What it is about.
    package let name: String
    /// What there is to say.
    package let value: String
  }

  /// One of the four numbers.
  package struct BudgetRow: Hashable, Sendable {
    /// Apple's name of the number.
    package let key: String
    /// The bytes that the release asks for.
    package let needed: UInt64
    /// The bytes of the Info.plist, where one was given.
    package let allowed: UInt64?
    /// The smallest number among the app versions in players' hands, where there are any.
    package let released: UInt64?
  }

  /// A rule, and why it was not checked.
  package struct RuleOutcome: Hashable, Sendable {
    /// The rule.
    package let rule: ReleaseRule
    /// What was missing; empty where the rule was checked.
    package let missing: [ReleaseInput]
  }

  /// The findings that count.
  package func counting(isStrict: Bool) -> [ReleaseFinding] {
    findings.filter { !$0.isAccepted && ($0.level == .error || isStrict && $0.level == .warning) }
  }

  /// The kind that decides the exit status, nil where nothing counts.
  package func verdict(isStrict: Bool) -> FindingKind? {
    counting(isStrict: isStrict).map(\.kind).min()
  }

  /// How many there are of each level, in words, such as `2 errors, 1 warning, 1 accepted`; nil where there are none.
  package var summary: String? {
    func count(_ number: Int, _ one: String, _ many: String) -> String? {
      number == 0 ? nil : "\(number) \(number == 1 ? one : many)"
    }
    let open = findings.filter { !$0.isAccepted }
    let parts = [
      count(open.count { $0.level == .error }, "error", "errors"),
      count(open.count { $0.level == .warning }, "warning", "warnings"),
      count(open.count { $0.level == .note }, "note", "notes"),
      count(findings.count { $0.isAccepted }, "accepted finding", "accepted findings"),
    ].compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }
}
