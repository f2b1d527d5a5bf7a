/// A form of what the gate found, for people or for a program.
package protocol ReportForm: Sendable {
  /// Returns the report in this form.
  func document(_ report: ReleaseReport) -> [UInt8]
  /// Returns an error that prevented the checks, so that no reader takes it for a release without findings.
  func document(_ error: PackError, hint: String?) -> [UInt8]
}

extension ReportForm {
  /// Returns lines without characters that a terminal would interpret.
  static func document(lines: [String]) -> [UInt8] { Array(lines.map { printable($0) + "\n" }.joined().utf8) }
}
