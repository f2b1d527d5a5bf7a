import Foundation
import TestSupport
import Testing

@Suite("The platform and the languages of the simulated device", .bounded)
struct SimulatedDeviceTests {
  private let directory: TemporaryDirectory
  private let release: SimulatedRelease

  init() async throws {
    directory = try TemporaryDirectory()
    var random = SeededGenerator(seed: 1)
    for name in ["core", "desk", "de", "en"] { try directory.write(random.bytes(9000), to: "build/\(name)/data.bin") }
    let text = """
      app: {bundleID: com.example.arcade, group: group.com.example.arcade}
      serve: {baseURL: "https://cdn.example.com/packs/"}
      headroom: 0 %
      packs:
        - {id: core, root: build/core, delivery: essential}
        - {id: desk, root: build/desk, delivery: essential, platforms: [macOS]}
        - {id: voices-de, root: build/de, delivery: prefetch, language: de}
        - {id: voices-en, root: build/en, delivery: prefetch, language: en}

      """
    release = try await Self.build(text, in: directory)
  }

  private static func build(_ text: String, in directory: TemporaryDirectory) async throws -> SimulatedRelease {
    try directory.write(text.utf8, to: "packer.yml")
    let time = try #require(ManifestTime(secondsSince1970: 1_793_491_200))
    var build = ReleaseBuild(try PackerConfiguration.read(directory("packer.yml")), time: BuildTime(time, isFixed: true))
    build.files = FaultyFiles()
    _ = try await build.run(key: try Releases.key(), signers: [ReleaseSigner(try Releases.signer())])
    return try SimulatedRelease(reading: directory("dist"))
  }

  private func settings(_ device: DeviceProfile?, _ release: SimulatedRelease? = nil) throws -> SimulationSettings {
    let fragment = InfoPlist.fragment(in: directory("dist"), for: device?.platform ?? .iOS)
    var settings = SimulationSettings(
      .install, of: release ?? self.release, rules: try SystemRules(InfoPlist.read(fragment)),
      trusted: TrustedKeys([try Releases.signer().publicKey]), keys: KeyRing(try Releases.key()))
    if let device { settings.device = device }
    return settings
  }

  @Test(
    "only the packs of the device are downloaded, and nothing is missing; the numbers of its platform are enough",
    arguments: [
      (nil, ["core", "voices-de"]), (DeviceProfile(platform: .iOS, languages: ["en-GB"]), ["core", "voices-en"]),
      (DeviceProfile(platform: .macOS, languages: []), ["core", "desk"]),
      (DeviceProfile(platform: .macOS, languages: nil), ["core", "desk", "voices-de", "voices-en"]),
      (DeviceProfile(platform: .tvOS, languages: ["fr", "de-CH"]), ["core", "voices-de"]),
    ] as [(DeviceProfile?, [String])])
  func packs(device: DeviceProfile?, ids: [String]) async throws {
    let report = try await play(settings(device))
    #expect(report.packs.map(\.id) == ids)
    #expect(report.findings.isEmpty && report.codes.isEmpty && report.notReady.isEmpty && report.launches == 1, "\(report.story)")
    let others = Set(["desk", "voices-de", "voices-en"]).subtracting(ids)
    #expect(others.allSatisfy { id in !report.events.contains { $0.pack == id } }, "\(report.story)")
    #expect(report.events.contains { $0.text.contains("other devices") } == !others.isEmpty)
  }

  @Test("a group of which a device gets no pack is a finding, and none with a fallback language; on demand as well")
  func fallback() async throws {
    let text = """
      app: {bundleID: com.example.arcade, group: group.com.example.arcade}
      serve: {baseURL: "https://cdn.example.com/packs/"}
      packs:
        - {id: core, root: build/core, delivery: essential}
        - {id: voices-de, root: build/de, delivery: prefetch, language: de}
        - {id: voices-en-US, root: build/en, delivery: prefetch, language: en-US}
        - {id: songs-de, root: build/desk, delivery: onDemand, language: de, platforms: [iOS]}

      """
    let without = try await Self.build(text, in: directory)
    for (languages, groups) in [
      (["es"], ["voices-*", "songs-*"]), (["en-GB", "de"], []), (["en-GB"], ["songs-*"]), ([], []), (nil, []), (["de"], []),
    ] as [([String]?, [String])] {
      let report = try await play(settings(DeviceProfile(platform: .iOS, languages: languages), without))
      #expect(report.findings.map(\.kind) == groups.map { _ in .missing }, "\(report.story)")
      for (finding, group) in zip(report.findings, groups) { #expect(finding.message.contains("none of '\(group)'"), "\(report.story)") }
    }
    // The songs are only for iOS.
    let television = try await play(settings(DeviceProfile(platform: .tvOS, languages: ["en"]), without))
    #expect(television.findings.isEmpty, "\(television.story)")

    let with = try await Self.build(text + "fallbackLanguage: en\n", in: directory)
    let report = try await play(settings(DeviceProfile(platform: .tvOS, languages: ["es"]), with))
    #expect(report.findings.isEmpty && report.notReady.isEmpty, "\(report.story)")
    #expect(report.packs.map(\.id) == ["core", "voices-en-US"])
  }

  @Test("an update to a release with the device's language replaces the fallback")
  func newLanguage() async throws {
    let text = """
      app: {bundleID: com.example.arcade, group: group.com.example.arcade}
      serve: {baseURL: "https://cdn.example.com/packs/"}
      fallbackLanguage: en
      packs:
        - {id: voices-de, root: build/de, language: de}
        - {id: voices-en, root: build/en, language: en}

      """
    let old = try await Self.build(text, in: directory)
    let copy = directory("old")
    try FileManager.default.copyItem(atPath: directory("dist"), toPath: copy)
    _ = try ReleaseRecording(dist: directory("dist"), lockPath: directory("packer.lock.json")).record()
    let new = try await Self.build(text + "  - {id: voices-es, root: build/desk, language: es}\n", in: directory)
    #expect(old.manifest.version < new.manifest.version)
    var settings = try settings(DeviceProfile(platform: .iOS, languages: ["es-MX"]), new)
    (settings.event, settings.earlier) = (.update, try SimulatedRelease(reading: copy))
    let report = try await play(settings)
    #expect(report.findings.isEmpty && report.packs.map(\.id) == ["voices-es"] && report.notReady.isEmpty, "\(report.story)")
    #expect(report.events.contains { $0.pack == "voices-en" }, "\(report.story)")
  }

  @Test("the numbers of another platform are too small for an essential pack")
  func otherNumbers() async throws {
    var settings = try settings(DeviceProfile(platform: .macOS, languages: []))
    var keys = try InfoPlist.read(directory("dist/\(ReleaseFile.infoFragment(for: .iOS))")).keys
    // The manifest and one of the two packs.
    keys.essentialDownloadAllowance = 15_000
    keys.downloadAllowance = 9000
    settings.rules = try SystemRules(InfoPlist(parsing: InfoPlist.fragment(of: keys), path: "Info.plist"))
    #expect(try await play(settings).findings.contains { $0.pack == "desk" || $0.pack == "core" })
    settings.device.platform = .iOS
    let report = try await play(settings)
    #expect(report.findings.isEmpty, "\(report.story)")
  }
}
