import TestSupport
import Testing

@testable import PackBuild
@testable import PackGate
@testable import PackProject

@Suite("The checks before a release", .bounded)
struct ReleaseGateTests {
  @Test("a clean release has no findings, and every rule is checked")
  func clean() throws {
    let report = try GateSample().report()
    #expect(report.findings.map(\.message) == [])
    #expect(report.verdict(isStrict: true) == nil)
    #expect(report.rules.allSatisfy { $0.missing.isEmpty })
    #expect(report.rules.map(\.rule) == ReleaseRule.all)
  }

  @Test("every fault is found only by its rule and those that it names", arguments: Violation.all)
  func violation(_ violation: Violation) throws {
    var sample = try GateSample()
    try violation.change(&sample)
    let report = sample.report()
    #expect(
      Set(report.findings.map(\.rule.id)) == violation.also.union([violation.rule]),
      "\(report.findings.map { "\($0.rule.id) \($0.headline)" })")
    let finding = try #require(report.findings.first { $0.rule.id == violation.rule })
    #expect(finding.level == violation.level)
    #expect(finding.kind == violation.kind)
    if let hint = violation.hint {
      #expect(finding.hint?.contains(hint) == true, "\(finding.hint ?? "no hint")")
    } else {
      #expect(finding.hint == nil)
    }
    #expect(report.verdict(isStrict: false) == (violation.level == .error ? violation.kind : nil))
    #expect(report.verdict(isStrict: true) == (violation.level == .note ? nil : violation.kind))
  }

  @Test("files that packs share with their base are no duplicates, but those of two packs over it besides are")
  func sharedWithBase() throws {
    var sample = try GateSample()
    sample.change(1) { $0.basePack = "core" }
    sample.release.shared = [SharedContent(packs: ["core", "game-kart"], path: "lib/phaser.js", size: 1 << 20)]
    #expect(sample.report().findings.map(\.rule.id) == [])
    sample.release.shared[0].packs = ["game-kart", "game-poker"]
    #expect(sample.report().findings.map(\.rule.id) == ["PK6006"])
    // Only the copies of the two others count, and the larger file that only the base shares is not the example.
    sample.release.shared[0].packs = ["core", "game-kart", "game-poker"]
    sample.release.shared.append(SharedContent(packs: ["core", "game-kart"], path: "lib/three.js", size: 1 << 21))
    let finding = sample.report().findings.first
    #expect(finding?.actual == 1 << 20 && finding?.message.contains("lib/phaser.js") == true)
  }

  @Test("every rule has a sample release that breaks it")
  func everyRule() {
    #expect(ReleaseRule.all.map(\.id).filter { id in !Violation.all.contains { $0.rule == id } } == [])
  }

  @Test("ids ascend and are unique, and every rule has an explanation")
  func stories() {
    let ids = ReleaseRule.all.map(\.id)
    #expect(ids == ids.sorted() && Set(ids).count == ids.count)
    for rule in ReleaseRule.all {
      #expect(rule.id.wholeMatch(of: /PK[1-8]\d{3}/) != nil)
      #expect(!rule.title.hasSuffix(".") && rule.title.first?.isLowercase == true, "\(rule.id)")
      for text in [rule.what, rule.onPhone, rule.remedy] {
        #expect(text.hasSuffix(".") && text.count > 10, "\(rule.id): \(text)")
      }
    }
  }

  // MARK: Hints

  @Test("the hint builds a single unsound pack by itself, but all packs if several are unsound, because a build of one refuses the others")
  func rebuilds() throws {
    let faults: [@Sendable (inout PackSighting) -> Void] = [
      { $0.size = 1 }, { $0.size = nil }, { $0.sha256 = GateSample.digest(77) }, { $0.start?.packVersion = 9 },
      { $0.content?.isNamed = false }, { $0.failure = PackError(.damagedPayload, "damaged") },
    ]
    for fault in faults {
      var sample = try GateSample()
      fault(&sample.release.packs[1])
      #expect(Set(sample.report().findings.map(\.hint)) == ["packer build game-kart"])
      fault(&sample.release.packs[2])
      #expect(Set(sample.report().findings.map(\.hint)) == ["packer build"])
      #expect(sample.report().findings.count == 2)
    }
  }

  @Test("names in hints are quoted for a shell")
  func quotedHints() throws {
    var sample = try GateSample()
    sample.release.beside.strayPacks = ["dist/a b; echo hi.pack"]
    sample.release.plist?.path = "My App/Info.plist"
    sample.release.plist?.keys.maxInstallSize = 1
    sample.release.lock?.apps[0].version = "1.0; id"
    sample.release.lock?.apps[0].hosts = ["old.example.com"]
    let hints = sample.report().findings.compactMap(\.hint)
    #expect(
      Set(hints) == [
        "rm 'dist/a b; echo hi.pack'", "packer plist merge 'My App/Info.plist'", "packer release retire '1.0; id'",
      ])
  }

  @Test(
    "files are moved to a place beside the directory, whatever its path",
    arguments: [
      ("dist", "outside-of-release"), ("a b/dist/", "'a b/outside-of-release'"), ("/dist", "/outside-of-release"),
      (".", "./../outside-of-release"),
      ("-d/dist", "./-d/outside-of-release"),
    ])
  func asidePlaces(directory: String, place: String) throws {
    var sample = try GateSample()
    sample.release.setting.directory = directory
    sample.release.beside.foreign = [ForeignFiles(path: "-x", count: 1)]
    #expect(sample.report().findings.map(\.hint) == ["mkdir -p \(place) && mv -n ./-x \(place)/"])
  }

  @Test("a limit about which sources disagree is given with both numbers")
  func bothLimits() throws {
    var sample = try GateSample()
    sample.release.configuration?.hosting = .apple
    sample.release.plist = nil
    try sample.fill(to: 211)
    let message = try #require(sample.report().findings.first { $0.rule.id == "PK6002" }?.message)
    #expect(
      message.hasPrefix("packs of one app: 211 packs; the limit is 100 packs (")
        && message.hasSuffix("; others report 200; an error above that)"))
  }

  // MARK: The Info.plist

  @Test("a false boolean of another hosting mode counts as missing, and the key that a merge writes is allowed in every mode")
  func harmlessKeys() throws {
    var sample = try GateSample()
    sample.release.plist?.names.formUnion(["BAHasManagedAssetPacks", "BAUsesAppleHosting", InfoPlist.mergedValuesKey])
    sample.release.plist?.keys.hasManagedAssetPacks = false
    sample.release.plist?.keys.usesAppleHosting = false
    #expect(sample.report().findings.map(\.message) == [])
    sample.release.plist?.keys.usesAppleHosting = true
    #expect(sample.report().findings.map(\.rule.id) == ["PK4003"])
  }

  @Test("an app group may start with a team identifier, as on a Mac")
  func teamGroup() throws {
    for (group, rules) in [("ABCDE12345.com.example", []), ("group.com.example", []), ("com.example", ["PK4009"])] {
      var sample = try GateSample()
      sample.release.app = nil
      sample.release.plist?.keys.appGroupIdentifier = group
      sample.release.configuration?.app.group = group
      #expect(sample.report().findings.map(\.rule.id) == rules, "\(group)")
    }
  }

  // MARK: Budgets

  @Test("an allowance that is exactly used up fails, and one byte more passes")
  func exactFit() throws {
    var sample = try GateSample()
    sample.release.plist?.keys.essentialDownloadAllowance = 3_004_000
    var report = sample.report()
    #expect(
      report.findings.map(\.message) == [
        "BAEssentialDownloadAllowance allows 3004000 bytes; this release needs 3004001 bytes (1 byte too much)"
      ])
    #expect(report.verdict(isStrict: false) == .other)
    sample.release.plist?.keys.essentialDownloadAllowance = 3_004_001
    report = sample.report()
    #expect(report.findings.isEmpty)
  }

  @Test("a manifest above its ceiling is an error, and one at its ceiling is a warning")
  func ceiling() throws {
    var sample = try GateSample()
    sample.release.manifest.size = 65_536
    #expect(sample.report().findings.map(\.level) == [.warning])
    sample.release.manifest.size = 65_537
    #expect(sample.report().findings.map(\.message) == ["dist/manifest.json is 65537 bytes, more than the 65536 bytes reserved for it"])
  }

  @Test("for a release that fits the current app but not an older one, the finding has the version, the budget, both numbers and the error")
  func releasedApp() throws {
    var sample = try GateSample()
    var old = try #require(sample.release.lock?.apps[0])
    old.version = "1.9.0"
    old.budget?.downloadAllowance = 7_500_000
    sample.release.lock?.apps.insert(old, at: 0)
    var report = sample.report()
    #expect(report.verdict(isStrict: false) == .released)
    let finding = try #require(report.findings.first)
    #expect(report.findings.count == 1)
    #expect(finding.rule.id == "PK3007")
    #expect(finding.message == "app 1.9.0: BADownloadAllowance allows 7.50 MB; this release needs 8.00 MB (500 kB too much)")
    #expect(finding.phone?.code == 112)
    #expect(finding.actual == 8_000_000 && finding.limit == 7_500_000)
    // A retired version does not count.
    sample.release.lock?.apps[0].isRetired = true
    report = sample.report()
    #expect(report.findings.isEmpty)
  }

  @Test("if the manifest makes the download exceed a released app's essential allowance, the finding has error 203")
  func releasedManifest() throws {
    var sample = try GateSample()
    sample.release.lock?.apps[0].budget?.essentialDownloadAllowance = 3_004_000
    let finding = try #require(sample.report().findings.first)
    #expect(finding.rule.id == "PK3007" && finding.phone?.code == 203)
  }

  @Test("on-demand packs count in none of the four sizes")
  func onDemand() throws {
    var sample = try GateSample()
    sample.change(2) { $0.size = 900_000_000 }
    #expect(sample.report().findings.isEmpty)
  }

  // MARK: Findings that count

  @Test("with findings of several kinds, the first of wrong key, signature, damaged, truncated, released, other and budget decides")
  func precedence() throws {
    var sample = try GateSample()
    func worsen(_ rule: String) throws {
      let violation = try #require(Violation.all.first { $0.rule == rule && $0.level == .error })
      try violation.change(&sample)
    }
    for (rule, kind) in [
      ("PK3019", .budget), ("PK2010", .other), ("PK3007", .released), ("PK2006", .truncated), ("PK2004", .damaged), ("PK5002", .signature),
    ] as [(String, FindingKind)] {
      try worsen(rule)
      #expect(sample.report().verdict(isStrict: false) == kind)
    }
    sample.release.packs[0].failure = PackError(.wrongKey, "made with another key")
    #expect(sample.report().verdict(isStrict: false) == .wrongKey)
  }

  @Test("an accepted finding is still shown, with its reason, and does not count")
  func accepted() throws {
    var sample = try GateSample()
    sample.release.plist?.keys.maxInstallSize = 12_287_999
    sample.release.configuration?.ignored = [Violation.ignoring("PK3004")]
    let report = sample.report()
    #expect(report.findings.map(\.acceptedBecause) == ["we know"])
    #expect(report.verdict(isStrict: true) == nil)
    #expect(report.summary == "1 accepted finding")
    #expect(TextReport(isStrict: false).lines(report).contains("  accepted because: we know"))
  }

  @Test("a finding that is accepted for one pack counts for other packs")
  func acceptedForOnePack() throws {
    var sample = try GateSample()
    sample.release.contents[0].junk = ["'.DS_Store' (Finder metadata)"]
    sample.release.contents[1].junk = ["'.DS_Store' (Finder metadata)"]
    sample.release.configuration?.ignored = [Violation.ignoring("PK6003", pack: "core")]
    #expect(sample.report().counting(isStrict: false).map(\.pack) == ["game-kart"])
  }

  @Test(
    "a finding about a released app is accepted only for that app, and up to a last second",
    arguments: [
      (nil, nil, false), ("2.1.0", nil, false), (nil, "2026-12-31T00:00:00Z", false), ("2.0.0", "2026-12-31T00:00:00Z", false),
      ("2.1.0", "2026-11-21T11:59:59Z", false), ("2.1.0", "2026-11-21T12:00:00Z", true),
    ] as [(String?, String?, Bool)])
  func acceptedForAnApp(app: String?, until: String?, isAccepted: Bool) throws {
    var sample = try GateSample()
    sample.release.lock?.apps[0].budget?.downloadAllowance = 8_000_000
    var exception = Violation.ignoring("PK3007")
    (exception.app, exception.until) = (app, until.map(GateSample.time))
    sample.release.configuration?.ignored = [exception]
    let finding = try #require(sample.report().findings.first { $0.rule.id == "PK3007" })
    #expect(finding.isAccepted == isAccepted)
  }

  @Test("tampering, an untrusted signature and a wrong key cannot be accepted", arguments: ["PK1001", "PK2004", "PK2006", "PK5002"])
  func notAccepted(rule: String) async throws {
    var sample = try GateSample()
    sample.release.configuration?.ignored = [Violation.ignoring(rule)]
    try #require(Violation.all.first { $0.rule == rule }).change(&sample)
    #expect(sample.report { $0.ignored = [rule] }.verdict(isStrict: false) != nil)
    var verification = ReleaseVerification("dist", now: sample.release.setting.now)
    verification.ignored = [rule]
    verification.isQuick = true
    let refused = verification
    await #expect(throws: PackError.self) { try await refused.run(key: nil) }
  }

  @Test("only the requested rules are checked")
  func only() throws {
    var sample = try GateSample()
    sample.release.plist?.keys.maxInstallSize = 12_287_999
    sample.release.contents[1].junk = ["'.DS_Store' (Finder metadata)"]
    let report = sample.report { $0.only = ["PK6"] }
    #expect(report.findings.map(\.rule.id) == ["PK6003"])
    #expect(report.rules.allSatisfy { $0.rule.id.hasPrefix("PK6") })
  }

  @Test("rules without their inputs are skipped, and the report says so")
  func missingInputs() throws {
    var sample = try GateSample()
    sample.release.plist = nil
    sample.release.lock = nil
    sample.release.configuration = nil
    let report = sample.report()
    #expect(report.findings.isEmpty)
    #expect(report.rules.contains { $0.rule.id == "PK3007" && $0.missing == [.lock] })
    let text = TextReport(isStrict: false).lines(report).joined(separator: "\n")
    #expect(text.contains("rules skipped: no Info.plist (--plist FILE), no lock file (--lock FILE), no packer.yml (--config FILE)"))
  }

  @Test("a missing input of several facts is named once, and no rule is skipped without a reason")
  func missingOnce() throws {
    var sample = try GateSample()
    sample.release = Facts(setting: sample.release.setting, contentKeys: ContentKeys(), manifest: ManifestSighting(path: "m", size: 0))
    for rule in ReleaseRule.all {
      let missing = rule.missing(in: sample.release)
      #expect(Set(missing) == rule.needs.subtracting([.catalogue]) && missing.count == Set(missing).count, "\(rule.id)")
    }
  }

  @Test("a required rule without its inputs is one error, also if other rules are requested")
  func required() throws {
    var sample = try GateSample()
    #expect(sample.report { $0.required = ["all"] }.findings.isEmpty)
    sample.release.lock = nil
    sample.release.plist = nil
    #expect(sample.report { $0.required = ["PK2"] }.findings.isEmpty)
    let report = sample.report {
      $0.only = ["PK3007", "PK2"]
      $0.required = ["all"]
    }
    #expect(report.findings.map(\.message) == ["1 required rule was not checked: no lock file (--lock FILE)"])
    #expect(report.findings.map(\.details) == [["PK3007"]] && report.verdict(isStrict: false) == .other)
    #expect(sample.report { $0.required = ["PK4"] }.findings.map(\.rule.id) == ["PK1007"])
    let text = TextReport(isStrict: false).verdict(report)
    #expect(text == "dist/manifest.json: not fit to be released, 1 error, 1 rule skipped")
  }

  // MARK: One finding for one cause

  @Test("a wrong key is one finding for all packs, and for one pack it names the pack")
  func wrongKey() throws {
    var sample = try GateSample()
    sample.release.packs[1].failure = PackError(.wrongKey, "made with another key")
    #expect(sample.report { $0.only = ["PK1001"] }.findings.map(\.headline) == ["game-kart: made with another key"])
    sample.release.contentKeys.id = "ffff"
    for index in sample.release.packs.indices { sample.release.packs[index].failure = PackError(.wrongKey, "made with another key") }
    var findings = sample.report { $0.only = ["PK1001"] }.findings
    #expect(findings.map(\.headline) == ["3 packs were made with key \(GateSample.keyID), but the key given is ffff"])
    #expect(findings.map(\.details) == [["core", "game-kart", "game-poker"]])
    sample.release.packs[0].start?.keyID = "1111"
    findings = sample.report { $0.only = ["PK1001"] }.findings
    #expect(findings.map(\.headline) == ["3 packs were made with 2 other keys, but the key given is ffff"])
    #expect(findings.first?.details.first == "core: made with another key")
  }

  @Test("two packs that were swapped are one finding, and a copied one says which pack it is")
  func swapped() throws {
    var sample = try GateSample()
    func put(_ other: Int, in number: Int, of original: [PackSighting]) {
      let path = sample.release.packs[number].path
      sample.release.packs[number] = original[other]
      sample.release.packs[number].path = path
      sample.release.packs[number].content?.isNamed = false
      sample.release.packs[number].failure = PackError(.digestMismatch, "another pack")
    }
    let original = sample.release.packs
    put(1, in: 0, of: original)
    var report = sample.report()
    #expect(report.findings.map(\.headline) == ["core: \(original[0].path) is the pack 'game-kart'"])
    put(0, in: 1, of: original)
    report = sample.report()
    #expect(report.findings.map(\.headline) == ["2 files are other packs of this release"])
    #expect(report.findings.first?.details == ["\(original[0].path) is the pack 'game-kart'", "\(original[1].path) is the pack 'core'"])
    #expect(report.verdict(isStrict: false) == .damaged)
    // If that rule is not requested, the others report it.
    #expect(Set(sample.report { $0.only = ["PK2003", "PK2004"] }.findings.map(\.rule.id)) == ["PK2003"])
  }

  @Test("damage of a pack is reported beside two packs that were swapped")
  func swappedAndDamaged() throws {
    var sample = try GateSample()
    for (number, digest) in [(0, sample.release.packs[1].sha256), (1, sample.release.packs[0].sha256)] {
      sample.release.packs[number].sha256 = digest
    }
    sample.release.packs[2].failure = PackError(.truncated, "pack ends inside its seek table")
    #expect(Set(sample.report().findings.map(\.rule.id)) == ["PK2006", "PK2008"])
  }

  @Test("more than five findings of a rule are shown as one with a count, and their number is still that of all")
  func grouped() throws {
    var sample = try GateSample()
    sample.release.beside.strayPacks = (1...5).map { "dist/\($0).pack" }
    func lines(isQuiet: Bool = false) -> [String] { TextReport(isStrict: false, isQuiet: isQuiet).lines(sample.report()) }
    #expect(lines().count { $0.hasPrefix("error PK2002: dist/") } == 5)
    sample.release.beside.strayPacks = (100..<130).map { "dist/\($0).pack" }
    #expect(lines().filter { $0.hasPrefix("error ") } == ["error PK2002: a pack file is not in the manifest, 30 times"])
    #expect(lines().contains("  dist/119.pack is not in the manifest") && lines().contains("  and 10 more, all with --json"))
    #expect(lines().contains("  hint for the first: rm dist/100.pack"))
    #expect(lines().last == "dist/manifest.json: not fit to be released, 30 errors")
    sample.release.configuration?.ignored = [Violation.ignoring("PK2002")]
    #expect(lines().count { $0.contains("PK2002") } == 1)
  }

  @Test("a quiet report has only errors, warnings and the verdict")
  func quiet() throws {
    var sample = try GateSample()
    sample.release.contents[1].emptyDirectories = ["'levels'"]
    #expect(TextReport(isStrict: false, isQuiet: true).lines(sample.report()) == ["dist/manifest.json: ok, 1 note"])
    sample.release.contents[1].lostPage = "www/index.html"
    let lines = TextReport(isStrict: false, isQuiet: true).lines(sample.report())
    #expect(lines.first?.hasPrefix("warning PK6008: game-kart: ") == true)
    #expect(lines.last == "dist/manifest.json: ok, 1 warning, 1 note")
    #expect(!lines.contains { $0.contains("levels") })
  }

  // MARK: Variables of Xcode

  @Test("a value with a variable that Xcode replaces is called that, and is not an error")
  func variables() throws {
    var sample = try GateSample()
    sample.release.plist?.keys.manifestURL = "https://$(HOST)/packs/manifest.json"
    sample.release.plist?.keys.allowList = AllowList(["${HOST}"])
    sample.release.plist?.keys.downloadAllowance = nil
    let key = "BAInitialDownloadRestrictions.BADownloadAllowance"
    sample.release.plist?.keys.problems = [
      .init(key: key, value: "'$(SIZE)'", message: "\(key) is '$(SIZE)', but must be a number", hint: nil)
    ]
    let findings = sample.report().findings
    #expect(findings.map(\.rule.id) == ["PK4001", "PK4005", "PK4008"])
    #expect(
      findings.allSatisfy { $0.level == .warning && $0.message.contains("with a variable that Xcode replaces") || $0.rule.id == "PK4005" })
    #expect(findings.allSatisfy { $0.phone == nil || $0.rule.id == "PK4005" })
  }

  // MARK: Report formats

  @Test("an error that prevents the checks is one finding for GitHub and for JUnit")
  func failures() {
    let error = PackError(
      .invalidConfiguration, "packer.yml:1:1: 'packs' is <3>", details: ["packer.yml:1:1: 'packs' is <3>", "packer.yml:2:1: b"])
    #expect(
      GitHubReport.lines(error, hint: "mend it") == [
        "::error title=packer verify%3A invalid-configuration::packer.yml:1:1: 'packs' is <3>%0Apacker.yml:2:1: b%0Ahint: mend it"
      ])
    let text = String(decoding: JUnitReport(isStrict: false).document(error, hint: nil), as: UTF8.self)
    #expect(text.contains("tests=\"1\" failures=\"0\" errors=\"1\""))
    #expect(text.contains("<error message=\"packer.yml:1:1: 'packs' is &lt;3&gt;\" type=\"invalid-configuration\">"))
  }

  /// Returns a report with a number of errors, one warning and one note.
  private func report(errors: Int) throws -> ReleaseReport {
    var sample = try GateSample()
    let rest = String(repeating: errors > 500 ? "x" : "", count: 100)
    sample.release.beside.strayPacks = (0..<errors).map { "dist/old|\($0)%,\n.pack" + rest }
    sample.release.manifest.manifest?.issued = GateSample.time("2026-11-22T12:00:00Z")
    sample.release.plist?.usesNonExemptEncryption = false
    return sample.report()
  }

  @Test("for 500 findings, GitHub gets ten annotations of a kind, and the last one has the number of the others")
  func annotations() throws {
    let lines = GitHubReport(isStrict: false).lines(try report(errors: 500))
    let errors = lines.filter { $0.hasPrefix("::error ") }
    #expect(errors.count == 10)
    #expect(errors.last == "::error title=packer verify::and 491 more in the step summary")
    #expect(lines.count { $0.hasPrefix("::warning ") } == 1)
    #expect(lines.count { $0.hasPrefix("::notice ") } == 1)
    #expect(lines.first?.hasPrefix("::error ") == true, "the most severe first")
    #expect(lines.allSatisfy { !$0.contains("\n") })
    #expect(errors[0].contains("file=dist/old|0%25%2C%0A.pack,title=PK2002 "))
    #expect(errors[0].contains("::dist/old|0%25,%0A.pack is not in the manifest%0Ahint: rm "))
  }

  @Test("ten findings of a kind are all annotated")
  func tenAnnotations() throws {
    let lines = GitHubReport(isStrict: false).lines(try report(errors: 10))
    #expect(lines.count { $0.hasPrefix("::error ") } == 10)
    #expect(!lines.contains { $0.contains("more in the step summary") })
  }

  @Test("the step summary ends before the size limit, and has the number of the findings left out", arguments: [0, 10, 900, 5000, 1 << 20])
  func summary(limit: Int) throws {
    let report = try report(errors: 8000)
    let text = GitHubReport(isStrict: false).summary(report, limit: limit)
    #expect(text.utf8.count <= limit)
    if limit >= 900 {
      #expect(text.hasSuffix(" more\n"))
      #expect(text.contains("### packer verify"))
      #expect(text.split(separator: "\n").filter { $0.hasPrefix("| error") }.allSatisfy { !$0.contains("old|") })
    }
  }

  @Test(
    "a step summary is appended, and ends before the whole file exceeds the size limit",
    arguments: [0, 1000, 1_048_000, 1_048_576, 1_050_000])
  func stepSummary(before: Int) throws {
    let directory = try TemporaryDirectory()
    try directory.write([UInt8](repeating: 0x61, count: before), to: "summary.md")
    let report = try report(errors: 20)
    try StepSummary.append(to: directory("summary.md")) { GitHubReport(isStrict: false).summary(report, limit: $0) }
    let bytes = try #require(directory.bytes(of: "summary.md"))
    #expect(bytes.count <= max(before, 1 << 20))
    #expect(bytes.prefix(before).allSatisfy { $0 == 0x61 })
    #expect(before > 1000 || bytes.count > before + 1000)
  }

  @Test("JUnit has a case for every rule and every finding, and counts them")
  func junit() throws {
    let report = try report(errors: 3)
    let text = JUnitReport(isStrict: false).text(report)
    let cases = ReleaseRule.all.count - 1 + 3
    #expect(text.contains("<testsuites name=\"packer verify\" tests=\"\(cases)\" failures=\"3\" errors=\"0\" skipped=\"0\">"))
    #expect(text.split(separator: "<testcase ").count - 1 == cases)
    #expect(text.split(separator: "<failure ").count - 1 == 3)
    #expect(JUnitReport(isStrict: true).text(report).split(separator: "<failure ").count - 1 == 4)
  }

  @Test("characters that XML does not allow are escaped")
  func junitEscapes() throws {
    var sample = try GateSample()
    sample.release.beside.strayPacks = ["dist/\u{1}<&\"\u{FFFF}.pack"]
    let text = JUnitReport(isStrict: false).text(sample.report())
    #expect(text.contains("dist/\\u{1}&lt;&amp;&quot;\\u{ffff}.pack is not in the manifest"))
  }
}

@Suite("The search for plaintext in a pack")
struct PackSurveyTests {
  @Test("signatures of files and paths are found at whatever offsets the pack is split into pieces", arguments: [1, 2, 3, 7, 64, 5000])
  func plaintext(pieceSize: Int) {
    var bytes = [UInt8](repeating: 0x55, count: 4000)
    bytes.replaceSubrange(100..<108, with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
    bytes.replaceSubrange(3990..<4000, with: Array("img/he.png".utf8))
    var search = PlaintextSearch()
    search.add(path: "img/he.png")
    for start in stride(from: 0, to: bytes.count, by: pieceSize) {
      search.look(at: bytes.byteSpan.extracting(start..<min(start + pieceSize, bytes.count)))
    }
    #expect(search.sightings == ["a PNG image, 1 time", "the path 'img/he.png', 1 time"])
  }

  @Test("a few chance occurrences of four bytes are not reported, many are")
  func chance() {
    var search = PlaintextSearch()
    var bytes = [UInt8](repeating: 0x55, count: 1000)
    for index in 0..<3 { bytes.replaceSubrange(index * 10..<index * 10 + 4, with: [0x50, 0x4B, 0x03, 0x04]) }
    search.look(at: bytes.byteSpan)
    #expect(search.sightings.isEmpty)
    search.look(at: bytes.byteSpan)
    #expect(search.sightings == ["a ZIP archive, 6 times"])
  }
}
