import TestSupport
import Testing

@testable import PackBuild
@testable import PackGate
@testable import PackProject

@Suite("Checks of a built app")
struct AppCheckTests {
  private static let ids = ["PK4012", "PK4013", "PK4014", "PK4015", "PK4017", "PK6009", "PK6010"]

  @Test("without a built app, its rules are neither checked nor skipped, unless one is named")
  func without() throws {
    var sample = try GateSample()
    sample.release.app = nil
    let report = sample.report { $0.required = ["all", "PK4"] }
    #expect(report.findings.isEmpty && report.rules.allSatisfy { $0.missing.isEmpty })
    #expect(ReleaseRule.all.map(\.id).filter { id in !report.rules.contains { $0.rule.id == id } } == Self.ids)
    let required = sample.report { $0.required = ["PK4012"] }
    #expect(required.findings.map(\.message) == ["1 required rule was not checked: no built app (--app FILE)"])
    let named = sample.report { $0.only = ["PK4013"] }
    #expect(named.rules.map(\.missing) == [[.app, .entitlements]])
  }

  @Test("an app that is not signed has one note and one skipped rule, which a pipeline can require")
  func unsigned() throws {
    var sample = try GateSample()
    sample.release.app?.bundle.groups = .unsigned
    sample.release.app?.extensions[0].groups = .unsigned
    let report = sample.report()
    #expect(report.findings.map(\.rule.id) == ["PK4015", "PK4015"] && report.findings.allSatisfy { $0.level == .note })
    #expect(report.rules.filter { !$0.missing.isEmpty }.map(\.rule.id) == ["PK4013", "PK4017"])
    let text = TextReport(isStrict: true).lines(report)
    #expect(text.contains("2 rules skipped: no entitlements (--app with a signed app)"))
    #expect(text.last == "dist/manifest.json: ok, 2 notes, 2 rules skipped")
    #expect(sample.report { $0.required = ["all"] }.verdict(isStrict: false) == .other)
  }

  @Test("a missing extension is an error where a phone misses it, otherwise a warning")
  func missingExtension() throws {
    func level(_ change: (inout GateSample) throws -> Void) throws -> FindingLevel? {
      var sample = try GateSample()
      sample.release.app?.extensions = []
      try change(&sample)
      return sample.report { $0.only = ["PK4012"] }.findings.first?.level
    }
    #expect(try level { _ in } == .error)
    #expect(try level { $0.change(0) { $0.delivery = .prefetch } } == .warning)
    #expect(try level { $0.change(0) { $0.platforms = ["macOS"] } } == .error)
    #expect(
      try level {
        $0.change(0) { $0.platforms = ["macOS"] }
        $0.release.plist?.platform = .iOS
      } == .warning)
    #expect(
      try level {
        $0.change(0) { $0.delivery = .prefetch }
        $0.release.configuration?.hosting = .managed
      } == .error)
  }

  @Test("an extension for another point is named, and the managed one counts only for managed packs")
  func points() throws {
    var sample = try GateSample()
    let plist = """
      <plist version="1.0"><dict><key>CFBundleIdentifier</key><string>com.example.arcade.x</string>
      <key>NSExtension</key><dict><key>NSExtensionPointIdentifier</key><string>\(AppTargets.managedPoint)</string></dict></dict></plist>
      """
    sample.release.app?.extensions[0].plist = try InfoPlist(parsing: Array(plist.utf8), path: "Info.plist")
    let findings = sample.report { $0.only = ["PK4012"] }.findings
    #expect(findings.map(\.details) == [["Payload/Game.app/Extensions/Downloader.appex is for \(AppTargets.managedPoint)"]])
    #expect(findings.map(\.file) == ["build/Game.ipa"])
    sample.release.configuration?.hosting = .apple
    #expect(sample.report { $0.only = ["PK4012"] }.findings.isEmpty)
  }

  @Test("without a group in the Info.plist, app and extension must share any")
  func sharedGroup() throws {
    var sample = try GateSample()
    sample.release.plist?.keys.appGroupIdentifier = nil
    sample.release.app?.bundle.groups = .known(["group.a", "group.b"])
    sample.release.app?.extensions[0].groups = .known(["group.b"])
    #expect(sample.report { $0.only = ["PK4013"] }.findings.isEmpty)
    sample.release.app?.extensions[0].groups = .known([])
    #expect(
      sample.report { $0.only = ["PK4013"] }.findings.map(\.message)
        == ["the app may use 'group.a', 'group.b', but Payload/Game.app/Extensions/Downloader.appex no app group"])
    sample.release.plist?.keys.appGroupIdentifier = "group.c"
    #expect(sample.report { $0.only = ["PK4013"] }.findings.map(\.level) == [.error, .error])
    sample.release.app?.extensions[0].groups = .known(["group.b"])
    #expect(sample.report { $0.only = ["PK4013"] }.findings.map(\.level) == [.warning, .warning])
    sample.release.configuration?.hosting = .managed
    sample.release.plist?.keys.appGroupID = "group.a"
    #expect(sample.report { $0.only = ["PK4013"] }.findings.map(\.level) == [.error])
    sample.release.app?.extensions[0].groups = .known([])
    sample.release.plist?.keys.appGroupID = "group.b"
    let findings = sample.report { $0.only = ["PK4013"] }.findings
    #expect(findings.map(\.message) == ["Payload/Game.app/Extensions/Downloader.appex may use no app group, but BAAppGroupID is 'group.b'"])
  }

  @Test("a class of data protection that locks files is named for app and extension, others are not")
  func dataProtection() throws {
    func messages(_ own: String?, _ theirs: String?) throws -> [String] {
      var sample = try GateSample()
      sample.release.app?.bundle.protection = own
      sample.release.app?.extensions[0].protection = theirs
      return sample.report { $0.only = ["PK4017"] }.findings.map(\.message)
    }
    func text(_ name: String) -> String {
      "com.apple.developer.default-data-protection is \(name), so files of the app cannot be opened while the phone is locked"
    }
    let both = try messages("NSFileProtectionComplete", "NSFileProtectionCompleteUnlessOpen")
    #expect(
      Set(both) == [
        "Payload/Game.app: \(text("NSFileProtectionComplete"))",
        "Payload/Game.app/Extensions/Downloader.appex: \(text("NSFileProtectionCompleteUnlessOpen"))",
      ])
    #expect(try messages(nil, "NSFileProtectionComplete").count == 1)
    #expect(try messages("NSFileProtectionCompleteUntilFirstUserAuthentication", "NSFileProtectionNone").isEmpty)
    #expect(try messages(nil, nil).isEmpty)
  }

  @Test("the reports name the built app and what was read in it")
  func reports() throws {
    var sample = try GateSample()
    let app = try #require(sample.release.app)
    sample.release.plist?.path = app.path
    sample.release.plist?.place = app.bundle.plistPlace
    sample.release.plist?.platform = .iOS
    sample.release.plist?.keys.downloadAllowance = 1
    sample.release.app?.extensions = []
    let report = sample.report()
    let text = TextReport(isStrict: false).lines(report)
    #expect(text.contains("  Info.plist     build/Game.ipa: Payload/Game.app/Info.plist"))
    #expect(text.contains("  app            2.1.0 for iOS, 4 files searched for secrets"), "\(text)")
    #expect(text.contains("  hint: run 'packer plist merge' on the project's Info.plist, then build the app again"))
    let lines = GitHubReport(isStrict: false).lines(report).filter { $0.contains("PK3002") || $0.contains("PK4012") }
    #expect(lines.count == 2 && lines.allSatisfy { $0.contains("file=build/Game.ipa") }, "\(lines)")
    #expect(JUnitReport(isStrict: false).text(report).contains("file: build/Game.ipa"))
  }

  @Test("an app of another project is named as what was given")
  func otherApp() throws {
    var sample = try GateSample()
    let app = try #require(sample.release.app)
    sample.release.plist = PlistSighting(of: app)
    #expect(sample.release.plist?.title == "build/Game.ipa: Payload/Game.app/Info.plist" && sample.release.plist?.platform == .iOS)
    sample.release.configuration?.app.bundleID = "com.example.other"
    let finding = try #require(sample.report { $0.only = ["PK4011"] }.findings.first)
    #expect(finding.hint?.contains("give --app the app com.example.other") == true)
  }
}
