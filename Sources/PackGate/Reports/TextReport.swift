/// A report for people, line by line.
package struct TextReport: ReportForm {
  /// Whether warnings count.
  private let isStrict: Bool
  /// Whether it has only what needs attention: errors, warnings and the verdict.
  private let isQuiet: Bool

  package init(isStrict: Bool, isQuiet: Bool = false) { (self.isStrict, self.isQuiet) = (isStrict, isQuiet) }

  /// The largest number of findings of one rule that are shown one by one.
  private static let mostSingle = 5
  /// The largest number of lines that findings of one rule have together.
  private static let mostLines = 20

  package func document(_ report: ReleaseReport) -> [UInt8] { Self.document(lines: lines(report)) }

  package func document(_ error: PackError, hint: String?) -> [UInt8] { Self.document(lines: ["error: \(error.message)"]) }

  package func lines(_ report: ReleaseReport) -> [String] {
    guard !isQuiet else {
      return Self.lines(report.findings.filter { !$0.isAccepted && $0.level != .note }) + [verdict(report)]
    }
    var lines = [report.subject]
    lines += Table.fields(report.facts.map { ($0.name, $0.value) })
    lines += Self.table(report.budget)
    lines += Self.lines(report.findings)
    let skipped = report.rules.filter { !$0.missing.isEmpty }
    if !skipped.isEmpty {
      let missing = Set(skipped.flatMap(\.missing))
      let reasons = ReleaseInput.allCases.filter(missing.contains).map(\.absence).joined(separator: ", ")
      lines.append("\(Table.count(skipped.count, "rule", "rules")) skipped: \(reasons)")
    }
    lines.append(verdict(report))
    return lines
  }

  /// Returns the last line, with the result.
  package func verdict(_ report: ReleaseReport) -> String {
    let skipped = report.rules.count { !$0.missing.isEmpty }
    let result =
      switch report.verdict(isStrict: isStrict) {
      case nil: "ok"
      case .live: "not right at the server"
      case .budget: "over your own budgets"
      default: "not fit to be released"
      }
    let parts = [result, report.summary, skipped == 0 ? nil : "\(Table.count(skipped, "rule", "rules")) skipped"].compactMap(\.self)
    return "\(report.subject): \(parts.joined(separator: ", "))"
  }

  /// Returns the findings in their order. Many findings of one rule become one with a count, in the place of the first.
  private static func lines(_ findings: [ReleaseFinding]) -> [String] {
    struct Group: Hashable {
      let rule: String
      let level: FindingLevel
      let reason: String?
    }
    let groups = Dictionary(grouping: findings) { Group(rule: $0.rule.id, level: $0.level, reason: $0.acceptedBecause) }
    var done: Set<Group> = []
    return findings.flatMap { finding -> [String] in
      let group = Group(rule: finding.rule.id, level: finding.level, reason: finding.acceptedBecause)
      guard let all = groups[group], all.count > mostSingle else { return lines(finding) }
      return done.insert(group).inserted ? lines(together: all) : []
    }
  }

  private static func lines(together findings: [ReleaseFinding]) -> [String] {
    let word = findings[0].isAccepted ? "accepted" : findings[0].level.rawValue
    var lines = ["\(word) \(findings[0].rule.id): \(findings[0].rule.title), \(findings.count) times"]
    if let reason = findings[0].acceptedBecause { return lines + ["  accepted because: \(reason)"] }
    lines += findings.prefix(mostLines).map { "  \($0.headline)" }
    if findings.count > mostLines { lines.append("  and \(findings.count - mostLines) more, all with --json") }
    if let phone = findings.compactMap(\.phone).first { lines.append("  on a phone: \(phone)") }
    let hints = Set(findings.compactMap(\.hint))
    let hint = findings.compactMap(\.hint).first?.split(separator: "\n") ?? []
    return lines + hint.map { "  hint\(hints.count > 1 ? " for the first" : ""): \($0)" }
  }

  private static func lines(_ finding: ReleaseFinding) -> [String] {
    let word = finding.isAccepted ? "accepted" : finding.level.rawValue
    let place = finding.file.flatMap { file in finding.line.map { "\(file):\($0): " } } ?? ""
    var lines = ["\(word) \(finding.rule.id): \(place)\(finding.headline)"]
    if let reason = finding.acceptedBecause {
      lines.append("  accepted because: \(reason)")
      return lines
    }
    // A single one may be in the headline.
    if finding.details.count > 1 || !finding.details.allSatisfy(finding.headline.contains) { lines += finding.details.map { "  \($0)" } }
    if let phone = finding.phone { lines.append("  on a phone: \(phone)") }
    lines += finding.hint?.split(separator: "\n").map { "  hint: \($0)" } ?? []
    return lines
  }

  /// Returns a table of the needed and the allowed sizes.
  private static func table(_ rows: [ReleaseReport.BudgetRow]) -> [String] {
    guard !rows.isEmpty else { return [] }
    let hasPlist = rows.contains { $0.allowed != nil }
    let hasApps = rows.contains { $0.released != nil }
    var cells = [["", "needed"] + (hasPlist ? ["Info.plist"] : []) + (hasApps ? ["released apps"] : [])]
    for row in rows {
      var line = [row.key, SizeText.short(row.needed)]
      if hasPlist { line.append(row.allowed.map(SizeText.short) ?? "missing") }
      if hasApps { line.append(row.released.map(SizeText.short) ?? "") }
      cells.append(line)
    }
    return Table.columns(cells, numbers: [1, 2, 3])
  }
}
