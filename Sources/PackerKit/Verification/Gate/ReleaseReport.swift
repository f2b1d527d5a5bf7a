/// What `verify` has to say about a release.
public struct ReleaseReport: Sendable {
  /// What was looked at: the manifest, as the caller named it.
  public let subject: String
  /// What was seen, as rows for people.
  public let facts: [Fact]
  /// What the release asks for, and what it may have.
  public let budget: [BudgetRow]
  /// Every finding, the most severe first; accepted ones last.
  public let findings: [ReleaseFinding]
  /// Every rule that was asked for, in ascending order of the ids, and what became of it.
  public let rules: [RuleOutcome]

  /// One row about the release.
  public struct Fact: Hashable, Sendable {
    /// What it is about.
    public let name: String
    /// What there is to say.
    public let value: String
  }

  /// One of the four numbers.
  public struct BudgetRow: Hashable, Sendable {
    /// Apple's name of the number.
    public let key: String
    /// The bytes that the release asks for.
    public let needed: UInt64
    /// The bytes of the Info.plist, where one was given.
    public let allowed: UInt64?
    /// The smallest number among the app versions in players' hands, where there are any.
    public let released: UInt64?
  }

  /// A rule, and why it was not checked.
  public struct RuleOutcome: Hashable, Sendable {
    /// The rule.
    public let rule: ReleaseRule
    /// What was missing; empty where the rule was checked.
    public let missing: [ReleaseInput]
  }

  /// The findings that count.
  public func counting(isStrict: Bool) -> [ReleaseFinding] {
    findings.filter { !$0.isAccepted && ($0.level == .error || isStrict && $0.level == .warning) }
  }

  /// The kind that decides the exit status, nil where nothing counts.
  public func verdict(isStrict: Bool) -> FindingKind? {
    counting(isStrict: isStrict).map(\.kind).min()
  }

  /// How many there are of each level, in words, such as `2 errors, 1 warning, 1 accepted`; nil where there are none.
  public var summary: String? {
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
