import ArgumentParser
import PackBuild
import PackFormat
import PackGate
import PackManifest
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
        packer plist check Info.plist --extension Downloader/Info.plist
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

    let findings = try await ruleFindings(configuration) ?? app.check(against: wanted).map(PlistFindingRecord.init)
    let all = findings + targets.check(hosting: wanted.hosting).map(PlistFindingRecord.init)
    for finding in all {
      let hint = finding.hint?.split(separator: "\n").map { "hint: \($0)" } ?? []
      let kind = [finding.level, finding.rule].compactMap(\.self).joined(separator: " ")
      session.console.result(finding, ["\(finding.file): \(kind): \(finding.message)"] + hint)
    }
    let (errors, warnings) = (all.count { $0.level == "error" }, all.count { $0.level == "warning" })
    let counts = [
      errors == 0 ? nil : Table.count(errors, "error", "errors"), warnings == 0 ? nil : Table.count(warnings, "warning", "warnings"),
    ]
    let verdict = errors + warnings == 0 ? "ok" : counts.compactMap { $0 }.joined(separator: ", ")
    session.console.result(PlistRecord(file: path, errors: errors, warnings: warnings), ["\(path): \(verdict)"])
    return errors > 0 || isStrict && warnings > 0 ? .findings("\(path): \(verdict)") : .done
  }

  /// Returns what the rules of `packer verify` find. Returns nil if there is only the fragment of a release, and no manifest.
  private func ruleFindings(_ configuration: PackerConfiguration?) async throws(PackError) -> [PlistFindingRecord]? {
    // As `verify` does it, so that both agree.
    let configuration = if let configuration { configuration } else { try ReleasePlaces.configuration(at: nil) }
    let place = release.dist ?? ReleasePlaces.place(ReleaseFile.folder, beside: configuration)
    guard ReleasePlaces.exists("\(place)/\(ReleaseFile.manifest)") else { return nil }
    var verification = ReleaseVerification.ofPlist(path, for: place, configuration, now: try ManifestTime.now())
    verification.platform = try release.platform.map(DeviceProfile.Platform.init(option:))
    verification.wording = { $0.hint }
    return try await verification.run(key: nil).findings.filter { !$0.isAccepted }.map { PlistFindingRecord($0, path) }
  }
}

private struct PlistFindingRecord: Encodable {
  let type = "finding"
  let file: String
  /// The rule of `packer verify`; nil if only a fragment was compared.
  let rule: String?
  let kind: String?
  let level: String
  let key: String?
  let actual: String?
  let wanted: String?
  let message: String
  let hint: String?

  init(_ finding: PlistFinding) {
    file = finding.file
    rule = nil
    kind = finding.kind.rawValue
    level = finding.level.rawValue
    key = finding.key
    actual = finding.actual
    wanted = finding.wanted
    message = finding.message
    hint = finding.hint
  }

  init(_ finding: ReleaseFinding, _ path: String) {
    file = finding.file ?? path
    rule = finding.rule.id
    kind = nil
    level = finding.level.rawValue
    key = nil
    actual = finding.actual.map { "\($0)" }
    wanted = finding.limit.map { "\($0)" }
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
