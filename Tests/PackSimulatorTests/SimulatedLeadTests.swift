import Foundation
import TestSupport
import Testing

@Suite("An essential pack with a lead, on a simulated device", .bounded)
struct SimulatedLeadTests {
  private let directory: TemporaryDirectory
  private let release: SimulatedRelease

  init() async throws {
    let directory = try TemporaryDirectory()
    var random = SeededGenerator(seed: 54)
    try directory.write(random.bytes(60_000), to: "build/game/index.html")
    try directory.write(random.bytes(900_000), to: "build/game/later.bin")
    try directory.write(random.bytes(20_000), to: "build/extra/level.bin")
    try directory.write(Array("[launch]\nindex.html\n".utf8), to: "game.order")
    try directory.write(
      Array(
        """
        app: {bundleID: com.example.arcade, group: group.com.example.arcade}
        serve: {baseURL: "https://cdn.example.com/packs/"}
        packs:
          - {id: game, root: build/game, delivery: essential, install: packed, layout: game.order}
          - {id: extra, root: build/extra, delivery: prefetch}

        """.utf8), to: "packer.yml")
    let time = try Releases.present(ManifestTime(secondsSince1970: 1_793_491_200))
    var build = ReleaseBuild(try PackerConfiguration.read(directory("packer.yml")), time: BuildTime(time, isFixed: true))
    build.jobs = 1
    build.files = FaultyFiles()
    _ = try await build.run(key: try Releases.key(), signers: [ReleaseSigner(try Releases.signer())])
    self.directory = directory
    release = try SimulatedRelease(reading: directory("dist"))
  }

  private var pack: ManifestPack { get throws { try Releases.present(release.manifest.packs.first { $0.id == "game" }) } }

  private func settings(_ faults: String...) throws -> SimulationSettings {
    let keys = try InfoPlist.read(directory("dist/Info.fragment.plist")).keys
    let rules = try SystemRules(InfoPlist(parsing: InfoPlist.fragment(of: keys), path: "Info.plist"))
    var settings = SimulationSettings(
      .install, of: release, rules: rules, trusted: TrustedKeys([try Releases.signer().publicKey]), keys: KeyRing(try Releases.key()))
    settings.faults = try faults.map { try SimulatedFault(parsing: $0) }
    return settings
  }

  @Test("the numbers of the release count the lead as essential, and the pack with the others")
  func budget() throws {
    let (pack, demand) = (try pack, ReleaseDemand(release.packs, manifestSize: 7))
    let (stream, extra) = (try Releases.present(pack.stream), try Releases.present(release.packs.first { $0.id == "extra" }))
    #expect(stream.size < 300_000 && pack.size > 900_000)
    #expect(demand.essentialDownload == stream.size + 7 && demand.otherDownload == pack.size + extra.size)
    #expect(demand.essentialInstalled == (stream.size + 4095) / 4096 * 4096)
    #expect(demand.otherInstalled == pack.sizeOnDevice + extra.sizeOnDevice && demand.largestEssential == stream.size)
    let list = try Releases.present(directory.bytes(of: "dist/packages.json"))
    #expect(String(decoding: list, as: UTF8.self).contains("\"essential\":true") == false, "it has no leads")
    let budget = try Releases.present(release.manifest.budget)
    #expect(budget.essentialDownloadAllowance < 600_000 && budget.downloadAllowance > pack.size + extra.size + stream.size)
  }

  @Test("the lead is here at the first start, and each byte of the pack comes once")
  func clean() async throws {
    let report = try await play(settings())
    #expect(report.codes.isEmpty && report.findings.isEmpty && report.notReady.isEmpty, "\(report.story)")
    #expect(report.packs.first { $0.id == "game" }?.wasHereAtLaunch == true)
    #expect(report.events.contains { $0.text == "game: can be played, with the lead that was downloaded" }, "\(report.story)")
    let stream = try Releases.present(try pack.stream)
    let leaves = stream.size - stream.launch - (try pack.size - stream.tail)
    #expect(report.traffic.packs["game"] == (try pack.size) + leaves, "\(report.traffic)")
  }

  @Test("if the lead does not come, the pack does, after the first start", arguments: ["game:truncate", "game:size", "game:forgotten"])
  func faults(_ fault: String) async throws {
    let report = try await play(settings(fault))
    #expect(report.notReady.isEmpty && report.findings.isEmpty, "\(report.story)")
    guard fault == "game:truncate" else { return }
    #expect(report.events.contains { $0.remedy == "handed over again as a non-essential one" }, "\(report.story)")
    #expect(report.packs.first { $0.id == "game" }?.wasHereAtLaunch == true, "\(report.story)")
  }

  @Test("a system that manages the packs brings essential ones whole, so they have no leads", arguments: ["managed", "apple"])
  func managed(_ hosting: String) async throws {
    let text = String(decoding: try Releases.present(directory.bytes(of: "packer.yml")), as: UTF8.self)
    let changed = text.replacing("packs/\"}", with: "packs/\", manifestURL: \"https://cdn.example.com/assets.json\"}")
    try directory.write(Array("hosting: \(hosting)\n\(changed)".utf8), to: "other.yml")
    let time = try Releases.present(ManifestTime(secondsSince1970: 1_793_491_200))
    var build = ReleaseBuild(try PackerConfiguration.read(directory("other.yml")), time: BuildTime(time, isFixed: true))
    build.files = FaultyFiles()
    _ = try await build.run(key: try Releases.key(), signers: [ReleaseSigner(try Releases.signer())])
    let release = try SimulatedRelease(reading: directory("dist"))
    let game = try Releases.present(release.manifest.packs.first { $0.id == "game" })
    #expect(game.stream == nil && ReleaseDemand(release.packs, manifestSize: 0).essentialDownload == game.size)
  }
}
