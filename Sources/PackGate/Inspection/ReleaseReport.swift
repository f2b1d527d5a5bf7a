/// The result of verifying a release.
package struct ReleaseReport: Sendable {
  /// The path of the manifest, as the caller named it.
  package let subject: String
  /// Rows of text about the release, for people.
  package let facts: [Fact]
  /// The four sizes that the release needs, with their limits.
  package let budget: [BudgetRow]
  /// What players of recorded releases download, newest first.
  package let downloads: [ReleaseUpdate]
  /// Every finding: the most severe first, accepted findings last.
  package let findings: [ReleaseFinding]
  /// Every requested rule in ascending order of the ids, with the inputs that were missing.
  package let rules: [RuleOutcome]

  /// One row about the release.
  package struct Fact: Hashable, Sendable {
    /// The label of the row.
    package let name: String
    /// The text of the row.
    package let value: String
  }

  /// One of the four sizes of an Info.plist.
  package struct BudgetRow: Hashable, Sendable {
    /// Apple's key for the size.
    package let key: String
    /// The number of bytes that the release needs.
    package let needed: UInt64
    /// The number of bytes in the Info.plist; nil if no Info.plist was given or it has no such number.
    package let allowed: UInt64?
    /// The smallest number of bytes among the app versions that are not retired; nil if none has a budget.
    package let released: UInt64?
  }

  /// A rule, with the reason if it was not checked.
  package struct RuleOutcome: Hashable, Sendable {
    /// The rule.
    package let rule: ReleaseRule
    /// The inputs that were missing; empty if the rule was checked.
    package let missing: [ReleaseInput]
  }

  /// Returns the findings that count: errors that are not accepted, and with `isStrict` also warnings.
  package func counting(isStrict: Bool) -> [ReleaseFinding] {
    findings.filter { !$0.isAccepted && ($0.level == .error || isStrict && $0.level == .warning) }
  }

  /// Returns the kind that decides the exit status; nil if no finding counts.
  package func verdict(isStrict: Bool) -> FindingKind? {
    counting(isStrict: isStrict).map(\.kind).min()
  }

  /// The number of findings of each level, such as `2 errors, 1 warning, 1 accepted finding`; nil if there are none.
  package var summary: String? {
    let open = findings.filter { !$0.isAccepted }
    let counts = [
      (open.count { $0.level == .error }, "error", "errors"), (open.count { $0.level == .warning }, "warning", "warnings"),
      (open.count { $0.level == .note }, "note", "notes"), (findings.count { $0.isAccepted }, "accepted finding", "accepted findings"),
    ].filter { $0.0 > 0 }
    return counts.isEmpty ? nil : counts.map(Table.count).joined(separator: ", ")
  }
}

extension ReleaseReport {
  /// What was checked.
  package var json: JSON {
    let facts = Dictionary(facts.map { ($0.name, JSON.text($0.value)) }, uniquingKeysWith: { first, _ in first })
    let budget = budget.map { line -> JSON in
      ["key": .text(line.key), "needed": .number(line.needed), "allowed": .number(line.allowed), "released": .number(line.released)]
    }
    // What players of recorded releases download, in bytes.
    let updates = downloads.map { update -> JSON in
      ["fromManifest": .number(update.manifest), "size": .number(update.size), "packSize": .number(update.packSize)]
    }
    return [
      "type": "release", "manifest": .text(subject), "facts": .sorted(facts), "budget": .list(budget), "updates": .list(updates),
      "findings": .number(findings.count), "rules": .texts(rules.filter { $0.missing.isEmpty }.map(\.rule.id)),
      "notChecked": .texts(rules.filter { !$0.missing.isEmpty }.map(\.rule.id)),
    ]
  }
}
