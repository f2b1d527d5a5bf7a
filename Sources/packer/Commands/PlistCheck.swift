import ArgumentParser
import PackBuild
import PackFormat
import PackProject

/// `packer plist check`
struct PlistCheck: Verb {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Checks an app's Info.plist against a release, and changes nothing.",
    discussion: """
      Anything that would fail on a phone is an error: a missing key, a value of the wrong type, a number that is too small, a host that \
      is not allowed. Anything larger than needed is a warning. The exit status is 1 if there are errors; with --strict, also if there \
      are warnings. The files of the extension are checked if they are given.

      Examples:
        packer plist check App/Info.plist
        packer plist check App/Info.plist -c packer.yml --strict
        packer plist check App/Info.plist --extension Downloader/Info.plist --entitlements App/App.entitlements
      """)

  @Argument(help: "The app's Info.plist.", completion: .file(extensions: ["plist"]))
  var path: String

  @OptionGroup var release: ReleaseKeysOptions

  @Option(
    name: .customLong("extension"), help: ArgumentHelp("The downloader extension's Info.plist.", valueName: "plist"),
    completion: .file(extensions: ["plist"]))
  var downloaderPath: String?

  @Option(
    name: .customLong("entitlements"), help: ArgumentHelp("The entitlements of app or extension. Repeatable.", valueName: "file"),
    completion: .file(extensions: ["entitlements"]))
  var entitlementPaths: [String] = []

  @Flag(name: .customLong("strict"), help: "Treat warnings as errors.")
  var isStrict = false

  @OptionGroup var output: OutputOptions

  var isQuiet: Bool { output.isQuiet }

  func run(in session: Session) async throws(PackError) -> Outcome {
    let configuration = try release.configuration()
    let app = try InfoPlist.read(path)
    let wanted = try release.wanted(configuration, for: app)
    var targets = AppTargets(app: app, bundleID: configuration?.app.bundleID)
    if let downloaderPath { targets.downloader = try InfoPlist.read(downloaderPath) }
    for path in entitlementPaths { targets.entitlements.append(try InfoPlist.read(path)) }

    let findings = app.check(against: wanted) + targets.check(hosting: wanted.hosting)
    for finding in findings {
      let hint = finding.hint.map { ["hint: \($0)"] } ?? []
      session.console.result(PlistFindingRecord(finding), ["\(finding.file): \(finding.level.rawValue): \(finding.message)"] + hint)
    }
    let errors = findings.count { $0.level == .error }
    let counts = [
      errors == 0 ? nil : Table.count(errors, "error", "errors"),
      errors == findings.count ? nil : Table.count(findings.count - errors, "warning", "warnings"),
    ]
    let verdict = findings.isEmpty ? "ok" : counts.compactMap { $0 }.joined(separator: ", ")
    session.console.result(PlistRecord(file: path, errors: errors, warnings: findings.count - errors), ["\(path): \(verdict)"])
    return errors > 0 || isStrict && !findings.isEmpty ? .findings("\(path): \(verdict)") : .done
  }
}

private struct PlistFindingRecord: Encodable {
  let type = "finding"
  let file: String
  let kind: String
  let level: String
  let key: String
  let actual: String?
  let wanted: String?
  let message: String
  let hint: String?

  init(_ finding: PlistFinding) {
    file = finding.file
    kind = finding.kind.rawValue
    level = finding.level.rawValue
    key = finding.key
    actual = finding.actual
    wanted = finding.wanted
    message = finding.message
    hint = finding.hint
  }
}

private struct PlistRecord: Encodable {
  let type = "file"
  let file: String
  let errors: Int
  let warnings: Int
}
