import ArgumentParser

/// The options of `verify` that apply to a whole release.
struct GateOptions: ParsableArguments {
  @OptionGroup var inputs: GateInputs

  @Flag(name: .customLong("quick"), help: "Skip the checks that read pack contents.")
  var isQuick = false

  @Flag(name: .customLong("strict"), help: "Treat warnings as errors.")
  var isStrict = false

  @Option(help: ArgumentHelp("Check only this rule, or the rules that start with this, as in PK3. Repeatable.", valueName: "rule"))
  var only: [String] = []

  @Option(help: ArgumentHelp("Fail if this rule was skipped, or one that starts with this; all: any rule. Repeatable.", valueName: "rule"))
  var require: [String] = []

  @Option(help: ArgumentHelp("Accept the findings of this rule. They are still shown. Repeatable.", valueName: "rule"))
  var ignore: [String] = []

  @Option(help: ArgumentHelp("Output format: text, json, github or junit. (default: text)", valueName: "format"))
  var format: String?

  @Option(
    name: .customLong("report"),
    help: ArgumentHelp("Also write the findings to a file, as in junit=report.xml. Repeatable.", valueName: "format=file"))
  var reports: [String] = []

  /// The first of these options that was given, or nil. None of them applies to single packs.
  var given: String? {
    let options: [(String, Bool)] = [
      ("--config", inputs.configuration != nil), ("--plist", inputs.plist != nil), ("--app", inputs.app != nil),
      ("--platform", inputs.platform != nil), ("--run", inputs.runPath != nil), ("--lock", inputs.lockFile.lock != nil),
      ("--published", inputs.published.published != nil), ("--trust", !inputs.keyTexts.trust.isEmpty),
      ("--quick", isQuick), ("--strict", isStrict), ("--only", !only.isEmpty), ("--ignore", !ignore.isEmpty),
      ("--require", !require.isEmpty),
      ("--format", format != nil && format != "json"), ("--report", !reports.isEmpty),
    ]
    return options.first { $0.1 }?.0
  }

  /// The output formats of findings.
  enum Format: String, CaseIterable {
    case text, json, github, junit

    static func parse(_ text: String) throws(PackError) -> Format {
      guard let format = Format(rawValue: text) else {
        throw PackError(.usage, "there is no format '\(text)'", hint: "use one of \(allCases.map(\.rawValue).joined(separator: ", "))")
      }
      return format
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
