import ArgumentParser

/// The options that say how a release is checked, and how the findings are shown.
struct GateOptions: ParsableArguments {
  @OptionGroup var inputs: GateInputs

  @Flag(name: .customLong("quick"), help: "Skip the checks that read pack contents.")
  var isQuick = false

  @Flag(name: .customLong("strict"), help: "Treat warnings as errors.")
  var isStrict = false

  @Option(help: ArgumentHelp("Check only this rule, or the rules that start with this, as in PK3. Repeatable.", valueName: "rule"))
  var only: [String] = []

  @Option(
    help: ArgumentHelp(
      "Fail if this rule was skipped, or one that starts with this; all: any rule. Repeatable.", valueName: "rule", visibility: .hidden))
  var require: [String] = []

  @Option(help: ArgumentHelp("Accept the findings of this rule. They are still shown. Repeatable.", valueName: "rule", visibility: .hidden))
  var ignore: [String] = []

  @Option(help: ArgumentHelp("Output format: text, json, github or junit. (default: text)", valueName: "format"))
  var format: String?

  @Option(
    name: .customLong("report"),
    help: ArgumentHelp("Also write the findings to a file, as in junit=report.xml. Repeatable.", valueName: "format=file"))
  var reports: [String] = []

  /// The output formats of findings.
  enum Format: String, CaseIterable {
    case text, json, github, junit

    static func parse(_ text: String) throws(PackError) -> Format {
      guard let format = Format(rawValue: text) else {
        throw PackError(.usage, "there is no format '\(text)'", hint: "use one of \(allCases.map(\.rawValue).joined(separator: ", "))")
      }
      return format
    }

    func form(isStrict: Bool) -> any ReportForm {
      switch self {
      case .text: TextReport(isStrict: isStrict)
      case .json: JSONReport(isStrict: isStrict)
      case .github: GitHubReport(isStrict: isStrict)
      case .junit: JUnitReport(isStrict: isStrict)
      }
    }
  }

  /// Returns the format of standard output.
  func printed(isJSON: Bool) throws(PackError) -> Format {
    let format = try format.map { (text) throws(PackError) in try Format.parse(text) }
    guard isJSON else { return format ?? .text }
    guard let format, format != .json else { return .json }
    throw PackError(
      .usage, "--json and --format \(format.rawValue) exclude each other",
      hint: "write the other one to a file with --report \(format.rawValue)=FILE")
  }

  /// Returns the report files to write, with their formats.
  func files() throws(PackError) -> [(format: Format, path: String)] {
    let files = try reports.map { (text) throws(PackError) -> (format: Format, path: String) in
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, !parts[1].isEmpty else {
        throw PackError(.usage, "--report is '\(text)', which is not FORMAT=FILE", hint: "write --report junit=report.xml")
      }
      return (try Format.parse(parts[0]), parts[1])
    }
    for (index, file) in files.enumerated() where files[..<index].contains(where: { $0.path == file.path }) {
      throw PackError(.usage, "two reports have the same file \(file.path)", hint: "give each --report a file of its own")
    }
    return files
  }
}

/// A report as JSON Lines: the findings, the release and the result.
private struct JSONReport: ReportForm {
  let isStrict: Bool

  func document(_ report: ReleaseReport) -> [UInt8] {
    (report.findings.map(\.json) + [report.json, Outcome(report, isStrict: isStrict).json]).flatMap(Console.encode)
  }

  func document(_ error: PackError, hint: String?) -> [UInt8] { Console.encode(Outcome.failed(error, isReported: false).json) }
}

extension Outcome {
  init(_ report: ReleaseReport, isStrict: Bool) {
    self = report.verdict(isStrict: isStrict).map { .verdict($0, TextReport(isStrict: isStrict).verdict(report)) } ?? .done
  }
}
