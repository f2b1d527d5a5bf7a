import TestSupport
import Testing

@Suite("A pack that opens later, on a simulated device", .bounded)
struct SimulatedOpenerTests {
  /// Plays the installation of a release that was built on a day of November 2026, with the keys of an app.
  private func play(on day: Int64) async throws -> SimulationReport {
    let directory = try TemporaryDirectory()
    var random = SeededGenerator(seed: 54)
    for name in ["game", "finale"] { try directory.write(random.bytes(60_000), to: "build/\(name)/index.html") }
    try directory.write(
      Array(
        """
        app: {bundleID: com.example.arcade, group: group.com.example.arcade}
        serve: {baseURL: "https://cdn.example.com/packs/"}
        perPackKeys: true
        packs:
          - {id: game, root: build/game, delivery: essential}
          - {id: finale, root: build/finale, install: packed, opens: 2026-11-10T00:00:00Z}

        """.utf8), to: "packer.yml")
    let time = try Releases.present(ManifestTime(secondsSince1970: 1_793_491_200 + (day - 1) * 86_400))
    var build = ReleaseBuild(try PackerConfiguration.read(directory("packer.yml")), time: BuildTime(time, isFixed: true))
    build.files = FaultyFiles()
    let root = try Releases.key()
    _ = try await build.run(key: root, signers: [ReleaseSigner(try Releases.signer())])
    let release = try SimulatedRelease(reading: directory("dist"))
    let keys = try InfoPlist.read(directory("dist/Info.fragment.plist")).keys
    let rules = try SystemRules(InfoPlist(parsing: InfoPlist.fragment(of: keys), path: "Info.plist"))
    let ring = KeyRing()
    for id in ["game", "finale"] { ring.add(try root.packKey(for: PackName(id))) }
    let settings = SimulationSettings(
      .install, of: release, rules: rules, trusted: TrustedKeys([try Releases.signer().publicKey]), keys: ring)
    return try await PackSimulatorTests.play(settings)
  }

  @Test("is on the device before its time, where nothing opens it, and that is no finding")
  func before() async throws {
    let report = try await play(on: 1)
    #expect(report.findings.isEmpty && report.notReady.isEmpty, "\(report.story)")
    #expect(report.events.contains { $0.text == "finale: version 1 is on the device, and opens later" }, "\(report.story)")
    #expect(!report.events.contains { $0.text.contains("is opened") }, "\(report.story)")
  }

  @Test("is opened in the first session if the release has its opener")
  func after() async throws {
    let report = try await play(on: 12)
    #expect(report.findings.isEmpty && report.notReady.isEmpty, "\(report.story)")
    #expect(report.events.contains { $0.text == "finale: version 1 is opened" }, "\(report.story)")
  }
}
