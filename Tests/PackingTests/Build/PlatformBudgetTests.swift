import Foundation
import TestSupport
import Testing

@testable import PackBuild
@testable import PackGate
@testable import PackProject

@Suite("Budgets of platforms", .bounded)
struct PlatformBudgetTests {
  private static let configuration = """
    app: {bundleID: com.example.arcade, group: group.com.example.arcade}
    serve: {baseURL: "https://cdn.example.com/packs/"}
    headroom: 0 %
    packs:
      - {id: core, root: build/core, delivery: essential}
      - {id: desk, root: build/games/poker, delivery: essential, platforms: [macOS]}
      - {id: pocket, root: build/games/kart, delivery: prefetch, platforms: [iOS, visionOS]}
      - {id: voices-de, root: build/voices, delivery: prefetch, language: de}
      - {id: voices-en, root: build/movie, delivery: prefetch, language: en}

    """

  private static let fragments = DeviceProfile.Platform.allCases.map(ReleaseFile.infoFragment(for:))

  private func keys(_ project: ReleaseProject, _ name: String) throws -> BackgroundAssetsKeys {
    try InfoPlist.read(project.directory("dist/\(name)")).keys
  }

  @Test("a pack counts only in the plists of its platforms, and packs of all languages count")
  func fragments() async throws {
    let project = try ReleaseProject(Self.configuration)
    let report = try await project.build()
    let packs = Dictionary(uniqueKeysWithValues: try project.packs().map { ($0.id, $0) })
    func size(_ ids: String...) throws -> UInt64 { try ids.reduce(0) { try $0 + #require(packs[$1]).size } }
    let ceiling = try #require(report.release).manifestCeiling
    let (phone, mac, tv) = (
      try keys(project, Self.fragments[0]), try keys(project, Self.fragments[1]), try keys(project, Self.fragments[2])
    )
    #expect(phone.essentialDownloadAllowance == (try size("core")) + ceiling + 1)
    #expect(mac.essentialDownloadAllowance == (try size("core", "desk")) + ceiling + 1)
    #expect(tv.essentialDownloadAllowance == phone.essentialDownloadAllowance)
    // With room for a retry of the largest essential pack.
    #expect(phone.downloadAllowance == (try size("pocket", "voices-de", "voices-en", "core")) + 1)
    #expect(mac.downloadAllowance == (try size("voices-de", "voices-en", "desk")) + 1)
    #expect(tv.downloadAllowance == (try size("voices-de", "voices-en", "core")) + 1)
    #expect(mac.essentialMaxInstallSize == (try #require(packs["core"])).sizeOnDevice + (try #require(packs["desk"])).sizeOnDevice + 1)
    #expect(try keys(project, Self.fragments[3]) == phone)
    // The common one is enough for every platform.
    let common = try #require(try keys(project, ReleaseFile.infoFragment).budget)
    #expect(common.essentialDownloadAllowance == mac.essentialDownloadAllowance)
    #expect(common.maxInstallSize == phone.maxInstallSize)
    #expect(try project.manifest().budget == common)
    let text = String(decoding: try #require(project.directory.bytes(of: "dist/budget.txt")), as: UTF8.self)
    for heading in ["For iOS, visionOS, at most", "For macOS, at most", "For tvOS, at most"] {
      #expect(text.contains(heading), "\(heading)")
    }
    let json = String(decoding: try #require(project.directory.bytes(of: "dist/budget.json")), as: UTF8.self)
    #expect(json.contains("\"platforms\": {") && json.contains("\"macOS\": {"))
  }

  @Test("if all platforms have the same packs, there is one fragment")
  func same() async throws {
    let project = try ReleaseProject()
    try await project.build()
    #expect(Self.fragments.allSatisfy { project.directory.bytes(of: "dist/\($0)") == nil })
    let json = String(decoding: try #require(project.directory.bytes(of: "dist/budget.json")), as: UTF8.self)
    #expect(!json.contains("\"platforms\""))
    // A build without the difference removes what the build before made.
    try project.configure(Self.configuration)
    try await project.build()
    #expect(Self.fragments.allSatisfy { project.directory.bytes(of: "dist/\($0)") != nil })
    try project.configure(ReleaseProject.configuration)
    try await project.build()
    #expect(Self.fragments.allSatisfy { project.directory.bytes(of: "dist/\($0)") == nil })
  }

  @Test(
    "the platform of an Info.plist is what Xcode wrote, and unknown if it names none or several",
    arguments: [
      ("", nil), ("<key>CFBundleSupportedPlatforms</key><array><string>iPhoneOS</string></array>", .iOS),
      ("<key>CFBundleSupportedPlatforms</key><array><string>MacOSX</string></array><key>LSRequiresIPhoneOS</key><true/>", .macOS),
      ("<key>CFBundleSupportedPlatforms</key><array><string>iPhoneOS</string><string>MacOSX</string></array>", nil),
      ("<key>CFBundleSupportedPlatforms</key><array><string>WatchOS</string></array>", nil),
      ("<key>DTPlatformName</key><string>appletvos</string>", .tvOS), ("<key>DTPlatformName</key><string>xros</string>", .visionOS),
      ("<key>LSRequiresIPhoneOS</key><true/>", .iOS), ("<key>LSRequiresIPhoneOS</key><false/>", nil),
      ("<key>LSMinimumSystemVersion</key><string>14.0</string>", .macOS),
      ("<key>LSMinimumSystemVersion</key><string>14.0</string><key>LSRequiresIPhoneOS</key><true/>", nil),
    ] as [(String, DeviceProfile.Platform?)])
  func evidence(members: String, platform: DeviceProfile.Platform?) throws {
    let text = "<?xml version=\"1.0\"?><plist version=\"1.0\"><dict>\(members)</dict></plist>"
    #expect(try InfoPlist(parsing: Array(text.utf8), path: "Info.plist").platform == platform)
  }

  @Test("the keys for a platform come from its fragment, and without one from the common one")
  func wanted() async throws {
    let project = try ReleaseProject(Self.configuration)
    try await project.build()
    let dist = project.directory("dist")
    #expect(try InfoPlist.wanted(dist: dist, configuration: nil, platform: .iOS) == keys(project, Self.fragments[0]))
    #expect(try InfoPlist.wanted(dist: "\(dist)/", configuration: nil, platform: .macOS) == keys(project, Self.fragments[1]))
    #expect(try InfoPlist.wanted(dist: dist, configuration: nil) == keys(project, ReleaseFile.infoFragment))
    try project.configure(ReleaseProject.configuration)
    try await project.build()
    #expect(try InfoPlist.wanted(dist: dist, configuration: nil, platform: .macOS) == keys(project, ReleaseFile.infoFragment))
  }

  // MARK: The gate

  /// A release whose prefetch pack is for macOS only, in an app whose numbers have no room for it.
  private func sample(_ platform: DeviceProfile.Platform?) throws -> GateSample {
    var sample = try GateSample()
    sample.change(1) { $0.platforms = ["macOS"] }
    sample.release.configuration?.packs[1].platforms = ["macOS"]
    try sample.refit()
    sample.release.plist?.platform = platform
    sample.release.plist?.keys.downloadAllowance = 3_000_001
    sample.release.plist?.keys.maxInstallSize = 1
    return sample
  }

  private static let tooSmall: Set<String> = ["PK3002", "PK3004"]

  @Test(
    "numbers without room for the pack of a platform are refused in its plist, and in one that names no platform",
    arguments: [.macOS, nil] as [DeviceProfile.Platform?])
  func refused(platform: DeviceProfile.Platform?) throws {
    #expect(Set(try sample(platform).report().findings.map(\.rule.id)).isSuperset(of: Self.tooSmall))
  }

  @Test("the plist of another platform needs no room for it")
  func otherPlatform() throws {
    let found = Set(try sample(.iOS).report().findings.map(\.rule.id))
    #expect(found.isEmpty, "\(found)")
  }

  @Test("a released app of another platform needs no room for it", arguments: [("iOS", false), ("macOS", true)])
  func releasedPlatform(platform: String, isFound: Bool) throws {
    var sample = try sample(.iOS)
    sample.release.lock?.apps[0].platform = platform
    sample.release.lock?.apps[0].budget?.downloadAllowance = 3_000_001
    #expect(sample.report().findings.map(\.rule.id) == (isFound ? ["PK3007"] : []))
  }

  @Test("the fragment of a platform that does not fit its packs, or is above the manifest's numbers, is found")
  func companion() async throws {
    let project = try ReleaseProject(Self.configuration)
    try await project.build()
    func disagreements(_ name: String) throws -> [String] {
      let place = ReleaseInspection.Place(directory: project.directory("dist"), manifest: project.directory("dist/manifest.json"))
      let manifest = try project.manifest()
      let all = CompanionReading.all(names: [name], place: place, manifest: manifest, packs: manifest.packs, files: FaultyFiles())
      return all.flatMap(\.disagreements)
    }
    for name in Self.fragments { #expect(try disagreements(name) == []) }
    let phone = try #require(project.directory.bytes(of: "dist/\(Self.fragments[0])"))
    try project.directory.write(phone, to: "dist/\(Self.fragments[1])")
    #expect(try disagreements(Self.fragments[1]).contains { $0.contains("BAEssentialMaxInstallSize") })
    let large = String(decoding: phone, as: UTF8.self).replacing("<integer>", with: "<integer>9")
    try project.directory.write(large.utf8, to: "dist/\(Self.fragments[0])")
    #expect(try disagreements(Self.fragments[0]).count == 4)
  }
}
