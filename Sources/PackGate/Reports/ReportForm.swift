/// A form of what the gate found, for people or for a program.
package protocol ReportForm: Sendable {
  /// Returns the report in this form.
  func document(_ report: ReleaseReport) throws(PackError) -> [UInt8]
  /// Returns an error that prevented the checks, so that no reader takes it for a release without findings.
  func document(_ error: PackError, hint: String?) -> [UInt8]
}

extension ReportForm {
  package func document(_ error: PackError, hint: String?) -> [UInt8] { Self.document(lines: ["error: \(error.message)"]) }

  /// Returns lines without characters that a terminal would interpret.
  static func document(lines: [String]) -> [UInt8] { Array(lines.map { printable($0) + "\n" }.joined().utf8) }
}
