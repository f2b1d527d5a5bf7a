import ArgumentParser

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

    let findings = try await ruleFindings(configuration) ?? app.check(against: wanted).map(Line.init)
    let all = findings + targets.check(hosting: wanted.hosting).map(Line.init)
    for finding in all {
      let hint = finding.hint?.split(separator: "\n").map { "hint: \($0)" } ?? []
      let kind = [finding.level, finding.rule].compactMap(\.self).joined(separator: " ")
      session.console.result(finding.json, ["\(finding.file): \(kind): \(finding.message)"] + hint)
    }
    let (errors, warnings) = (all.count { $0.level == "error" }, all.count { $0.level == "warning" })
    let counts = [
      errors == 0 ? nil : Table.count(errors, "error", "errors"), warnings == 0 ? nil : Table.count(warnings, "warning", "warnings"),
    ]
    let verdict = errors + warnings == 0 ? "ok" : counts.compactMap { $0 }.joined(separator: ", ")
    session.console.result(
      ["type": "file", "file": .text(path), "errors": .number(errors), "warnings": .number(warnings)], ["\(path): \(verdict)"])
    return errors > 0 || isStrict && warnings > 0 ? .findings("\(path): \(verdict)") : .done
  }

  /// Returns what the rules of `packer verify` find. Returns nil if there is only the fragment of a release, and no manifest.
  private func ruleFindings(_ configuration: PackerConfiguration?) async throws(PackError) -> [Line]? {
    // As `verify` does it, so that both agree.
    let configuration = if let configuration { configuration } else { try ReleasePlaces.configuration(at: nil) }
    let place = release.dist ?? ReleasePlaces.place(ReleaseFile.folder, beside: configuration)
    guard ReleasePlaces.exists("\(place)/\(ReleaseFile.manifest)") else { return nil }
    var verification = ReleaseVerification.ofPlist(path, for: place, configuration, now: try ManifestTime.now())
    verification.platform = try release.platform.map(DeviceProfile.Platform.init(option:))
    verification.wording = { $0.hint }
    return try await verification.run(key: nil).findings.filter { !$0.isAccepted }.map { Line($0, in: path) }
  }
}

/// A finding, in the form that both kinds of checks have in common.
private struct Line {
  let file: String
  /// The rule of `packer verify`; nil if only a fragment was compared.
  let rule: String?
  let level: String
  let message: String
  let hint: String?
  let json: JSON

  init(_ finding: PlistFinding) {
    (file, rule, level, message, hint) = (finding.file, nil, finding.level.rawValue, finding.message, finding.hint)
    json = finding.json
  }

  init(_ finding: ReleaseFinding, in path: String) {
    (file, rule, level, message) = (finding.file ?? path, finding.rule.id, finding.level.rawValue, finding.message)
    hint = finding.hint
    json = [
      "type": "finding", "file": .text(file), "rule": .text(rule), "level": .text(level),
      "actual": .text(finding.actual.map { "\($0)" }), "wanted": .text(finding.limit.map { "\($0)" }), "message": .text(message),
      "hint": .text(hint),
    ]
  }
}
