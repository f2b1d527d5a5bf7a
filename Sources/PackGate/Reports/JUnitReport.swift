/// A report as JUnit XML, which most build servers read. It has one test case for each finding, and one for each rule without findings.
package struct JUnitReport: ReportForm {
  /// Whether warnings are failures. Otherwise they are output of test cases that pass.
  private let isStrict: Bool

  package init(isStrict: Bool) { self.isStrict = isStrict }

  package func document(_ report: ReleaseReport) -> [UInt8] { Array(text(report).utf8) }

  package func document(_ error: PackError, hint: String?) -> [UInt8] { Array(Self.text(error, hint: hint).utf8) }

  func text(_ report: ReleaseReport) -> String {
    var cases: [String] = []
    var failures = 0
    var skipped = 0
    for outcome in report.rules {
      let findings = report.findings.filter { $0.rule.id == outcome.rule.id }
      if !outcome.missing.isEmpty {
        skipped += 1
        let reason = "skipped: \(outcome.missing.map(\.absence).joined(separator: ", "))"
        cases.append(Self.testCase(outcome.rule, nil, "<skipped message=\"\(Self.escape(reason))\"/>"))
      } else if findings.isEmpty {
        cases.append(Self.testCase(outcome.rule, nil, nil))
      }
      for finding in findings {
        let text = Self.escape(Self.body(finding))
        if let reason = finding.acceptedBecause {
          skipped += 1
          cases.append(
            Self.testCase(outcome.rule, finding, "<skipped message=\"\(Self.escape("accepted: \(reason): \(finding.headline)"))\"/>"))
        } else if finding.level == .error || isStrict && finding.level == .warning {
          failures += 1
          cases.append(
            Self.testCase(
              outcome.rule, finding,
              "<failure message=\"\(Self.escape(finding.headline))\" type=\"\(Self.escape(finding.kind.rawValue))\">\(text)</failure>"))
        } else {
          cases.append(Self.testCase(outcome.rule, finding, "<system-out>\(Self.escape(finding.level.rawValue)): \(text)</system-out>"))
        }
      }
    }
    let counts = "tests=\"\(cases.count)\" failures=\"\(failures)\" errors=\"0\" skipped=\"\(skipped)\""
    return """
      <?xml version="1.0" encoding="UTF-8"?>
      <testsuites name="packer verify" \(counts)>
      <testsuite name="\(Self.escape(report.subject))" \(counts)>
      \(cases.joined(separator: "\n"))
      </testsuite>
      </testsuites>

      """
  }

  /// Returns a document with one test case, for an error that prevented the checks.
  private static func text(_ error: PackError, hint: String?) -> String {
    let counts = "tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\""
    return """
      <?xml version="1.0" encoding="UTF-8"?>
      <testsuites name="packer verify" \(counts)>
      <testsuite name="packer verify" \(counts)>
      <testcase classname="packer.verify" name="the release can be checked"><error message="\(escape(error.message))" \
      type="\(escape(error.code.rawValue))">\(escape(error.report(hint: hint)))</error></testcase>
      </testsuite>
      </testsuites>

      """
  }

  private static func testCase(_ rule: ReleaseRule, _ finding: ReleaseFinding?, _ content: String?) -> String {
    let about = [finding?.pack, finding?.app.map { "app \($0)" }].compactMap(\.self)
    let name = "\(rule.id) \(rule.title)" + (about.isEmpty ? "" : " (\(about.joined(separator: ", ")))")
    let start = "<testcase classname=\"packer.verify.\(rule.id)\" name=\"\(escape(name))\""
    return content.map { "\(start)>\($0)</testcase>" } ?? "\(start)/>"
  }

  private static func body(_ finding: ReleaseFinding) -> String {
    var lines = [finding.headline]
    if let file = finding.file { lines.append("file: \(file)\(finding.line.map { ":\($0)" } ?? "")") }
    lines += finding.details
    if let phone = finding.phone { lines.append("on a phone: \(phone)") }
    if let hint = finding.hint { lines.append("hint: \(hint)") }
    return lines.joined(separator: "\n")
  }

  /// Returns a text with the escapes for an element or an attribute. Characters that XML does not allow become `\u{…}`.
  private static func escape(_ text: String) -> String {
    MarkupText.attribute(text).unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar {
      case "\n": result += "&#10;"
      case "\t": result += "&#9;"
      case "\u{20}"..."\u{7E}", "\u{A0}"..."\u{D7FF}", "\u{E000}"..."\u{FFFD}", "\u{10000}"..."\u{10FFFF}":
        result.unicodeScalars.append(scalar)
      default: result += "\\u{\(String(scalar.value, radix: 16))}"
      }
    }
  }
}
