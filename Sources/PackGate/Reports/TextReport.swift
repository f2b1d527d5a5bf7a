/// A report for people, line by line.
package enum TextReport {
  /// Returns the complete report.
  ///
  /// - Parameter isStrict: whether warnings count.
  package static func lines(_ report: ReleaseReport, isStrict: Bool) -> [String] {
    var lines = [report.subject]
    let width = report.facts.map(\.name.count).max() ?? 0
    lines += report.facts.map { "  \(left($0.name, width))  \($0.value)" }
    lines += table(report.budget)
    for finding in report.findings { lines += Self.lines(finding) }
    let skipped = report.rules.filter { !$0.missing.isEmpty }
    if !skipped.isEmpty {
      let missing = Set(skipped.flatMap(\.missing))
      let reasons = ReleaseInput.allCases.filter(missing.contains).map(\.absence).joined(separator: ", ")
      lines.append("\(skipped.count) \(skipped.count == 1 ? "rule" : "rules") skipped: \(reasons)")
    }
    lines.append(verdict(report, isStrict: isStrict))
    return lines
  }

  /// Returns the last line, with the result.
  package static func verdict(_ report: ReleaseReport, isStrict: Bool) -> String {
    let counts = report.summary.map { ", \($0)" } ?? ""
    return "\(report.subject): \(report.verdict(isStrict: isStrict) == nil ? "ok" : "not fit to be released")\(counts)"
  }

  private static func lines(_ finding: ReleaseFinding) -> [String] {
    let word = finding.isAccepted ? "accepted" : finding.level.rawValue
    let place = finding.file.flatMap { file in finding.line.map { "\(file):\($0): " } } ?? ""
    var lines = ["\(word) \(finding.rule.id): \(place)\(finding.headline)"]
    if let reason = finding.acceptedBecause {
      lines.append("  accepted because: \(reason)")
      return lines
    }
    lines += finding.details.map { "  \($0)" }
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
    let widths = cells[0].indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
    return cells.map { line in
      "  " + line.enumerated().map { $0 == 0 ? left($1, widths[$0]) : right($1, widths[$0]) }.joined(separator: "  ")
    }
  }

  private static func left(_ text: String, _ width: Int) -> String { text + String(repeating: " ", count: max(0, width - text.count)) }

  private static func right(_ text: String, _ width: Int) -> String { String(repeating: " ", count: max(0, width - text.count)) + text }
}
