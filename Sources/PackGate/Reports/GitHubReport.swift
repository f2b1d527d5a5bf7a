extension PackError {
  /// The message, the details and the hint, a line each.
  func report(hint: String?) -> String {
    ([message] + details.filter { $0 != message } + (hint.map { ["hint: \($0)"] } ?? [])).joined(separator: "\n")
  }
}

/// A report for GitHub Actions: annotations on standard output, and a step summary in Markdown.
///
/// GitHub shows ten annotations of each kind for a step and drops the rest silently, so the tenth annotation gives the number of the others. GitHub
/// drops a summary above 1 MiB completely, so the summary ends before that.
package struct GitHubReport: ReportForm {
  /// Whether warnings count.
  private let isStrict: Bool

  package init(isStrict: Bool) { self.isStrict = isStrict }

  /// The number of annotations that GitHub shows of one kind for a step.
  static let mostAnnotations = 10
  /// The largest summary of one step, in bytes.
  package static let largestSummary = 1 << 20

  package func document(_ report: ReleaseReport) -> [UInt8] { Self.document(lines: lines(report)) }

  package func document(_ error: PackError, hint: String?) -> [UInt8] { Self.document(lines: Self.lines(error, hint: hint)) }

  /// Returns the annotations, the most severe first, and the verdict as the last line.
  func lines(_ report: ReleaseReport) -> [String] {
    var lines: [String] = []
    for level in FindingLevel.allCases {
      let findings = report.findings.filter { !$0.isAccepted && $0.level == level }
      let shown = findings.count > Self.mostAnnotations ? findings.prefix(Self.mostAnnotations - 1) : findings[...]
      lines += shown.map { Self.annotation(Self.command(level), $0) }
      if shown.count < findings.count {
        lines.append("::\(Self.command(level)) title=packer verify::and \(findings.count - shown.count) more in the step summary")
      }
    }
    lines.append(TextReport(isStrict: isStrict).verdict(report))
    return lines
  }

  /// Returns one annotation for an error that prevented the checks.
  static func lines(_ error: PackError, hint: String?) -> [String] {
    ["::error title=\(property("packer verify: \(error.code.rawValue)"))::\(data(error.report(hint: hint)))"]
  }

  /// Returns the summary in Markdown.
  ///
  /// - Parameter limit: the largest size in bytes.
  package func summary(_ report: ReleaseReport, limit: Int = largestSummary) -> String {
    var text = "### packer verify\n\n\(MarkdownText.cell(TextReport(isStrict: isStrict).verdict(report)))\n\n"
    if !report.budget.isEmpty {
      text += "| Budget | needed | Info.plist | released apps |\n|---|--:|--:|--:|\n"
      for row in report.budget {
        let sizes = [row.needed, row.allowed, row.released].map { $0.map(SizeText.short) ?? "" }
        text += "| \(row.key) | \(sizes.joined(separator: " | ")) |\n"
      }
      text += "\n"
    }
    guard !report.findings.isEmpty else { return text.utf8.count <= limit ? text : "" }
    text += "| | Rule | Finding | What to do |\n|---|---|---|---|\n"
    for (number, finding) in report.findings.enumerated() {
      let phone = finding.phone.map { "<br>on a phone: \(MarkdownText.cell("\($0)"))" } ?? ""
      let remedy = finding.acceptedBecause.map { "accepted: \(MarkdownText.cell($0))" } ?? finding.hint.map(MarkdownText.cell) ?? ""
      let row =
        "| \(finding.isAccepted ? "accepted" : finding.level.rawValue) | \(finding.rule.id) | \(MarkdownText.cell(finding.headline))\(phone) | \(remedy) |\n"
      let rest = "\nand \(report.findings.count - number) more\n"
      guard text.utf8.count + row.utf8.count + rest.utf8.count <= limit else {
        return text.utf8.count + rest.utf8.count <= limit ? text + rest : ""
      }
      text += row
    }
    return text
  }

  private static func command(_ level: FindingLevel) -> String {
    switch level {
    case .error: "error"
    case .warning: "warning"
    case .note: "notice"
    }
  }

  private static func annotation(_ command: String, _ finding: ReleaseFinding) -> String {
    var properties: [String] = []
    if let file = finding.file { properties.append("file=\(property(file))") }
    if let line = finding.line { properties.append("line=\(line)") }
    properties.append("title=\(property("\(finding.rule.id) \(finding.rule.title)"))")
    var text = finding.headline
    if let phone = finding.phone { text += "\non a phone: \(phone)" }
    if let hint = finding.hint { text += "\nhint: \(hint)" }
    return "::\(command) \(properties.joined(separator: ","))::\(data(text))"
  }

  /// Returns a text with the escapes for the message of an annotation.
  private static func data(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar {
      case "%": result += "%25"
      case "\r": result += "%0D"
      case "\n": result += "%0A"
      default: result.unicodeScalars.append(scalar)
      }
    }
  }

  /// Returns a text with the escapes for a property of an annotation.
  private static func property(_ text: String) -> String {
    data(text).unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar {
      case ":": result += "%3A"
      case ",": result += "%2C"
      default: result.unicodeScalars.append(scalar)
      }
    }
  }
}
