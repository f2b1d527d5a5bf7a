import Foundation
import TestSupport
import Testing

@testable import PackProject

@Suite("What a release costs the players of earlier ones", .bounded)
struct DifferenceTests {
  /// Releases of one app after each other, with random changes.
  private struct History {
    let directory: TemporaryDirectory
    var random: SeededGenerator
    /// The files of each pack.
    private var packs: [String: [String: [UInt8]]] = [:]
    private(set) var releases: [SimulatedRelease] = []

    private static let deliveries = ["core": "essential", "level": "prefetch", "music": "prefetch", "voices": "onDemand"]

    init(seed: UInt64) async throws {
      directory = try TemporaryDirectory()
      random = SeededGenerator(seed: seed)
      for id in Self.deliveries.keys.sorted() where id == "core" || Bool.random(using: &random) { addPack(id) }
      for number in 0..<Int.random(in: 2...4, using: &random) {
        if number > 0 { change() }
        try await release()
      }
    }

    private mutating func bytes() -> [UInt8] { random.bytes(Int.random(in: 1...60_000, using: &random)) }

    private mutating func addPack(_ id: String) {
      var files: [String: [UInt8]] = [:]
      for number in 0..<Int.random(in: 1...8, using: &random) { files["d\(number % 3)/\(number)"] = bytes() }
      packs[id] = files
    }

    private mutating func change() {
      for id in Self.deliveries.keys.sorted() {
        guard var files = packs[id] else {
          if Int.random(in: 0..<3, using: &random) == 0 { addPack(id) }
          continue
        }
        guard Int.random(in: 0..<8, using: &random) > 0 || id == "core" else {
          packs[id] = nil
          continue
        }
        for path in files.keys.sorted() {
          switch Int.random(in: 0..<8, using: &random) {
          case 0: files[path]?[0] ^= 1
          case 1: files["moved/\(path)"] = files.removeValue(forKey: path)
          case 2 where files.count > 1: files[path] = nil
          case 3: files["\(path).new"] = bytes()
          case 4: files["\(path).copy"] = files[path] ?? []
          default: break
          }
        }
        packs[id] = files
      }
    }

    private mutating func release() async throws {
      try? FileManager.default.removeItem(atPath: directory("build"))
      var text = """
        app: {bundleID: com.example.arcade, group: group.com.example.arcade}
        serve: {baseURL: "https://cdn.example.com/packs/"}
        headroom: 2 %
        packs:

        """
      for (id, files) in packs.sorted(by: { $0.key < $1.key }) {
        for (path, bytes) in files { try directory.write(bytes, to: "build/\(id)/\(path)") }
        let install = id == "music" ? ", install: packed" : ""
        text += "  - {id: \(id), root: build/\(id), delivery: \(Self.deliveries[id] ?? ""), level: fast\(install)}\n"
      }
      try directory.write(text.utf8, to: "packer.yml")
      let time = try Releases.present(ManifestTime(secondsSince1970: 1_793_491_200 + Int64(releases.count) * 864_000))
      var build = ReleaseBuild(try PackerConfiguration.read(directory("packer.yml")), time: BuildTime(time, isFixed: true))
      build.jobs = 1
      build.files = FaultyFiles()
      _ = try await build.run(key: try Releases.key(), signers: [ReleaseSigner(try Releases.signer())])
      var recording = ReleaseRecording(dist: directory("dist"), lockPath: directory("packer.lock.json"))
      recording.files = FaultyFiles()
      recording.configuration = build.configuration
      _ = try recording.record()
      let place = directory("release-\(releases.count)")
      try FileManager.default.copyItem(atPath: directory("dist"), toPath: place)
      releases.append(try SimulatedRelease(reading: place))
    }

    /// Compares an earlier release with the last one.
    func difference(from number: Int) async throws -> DifferenceReport {
      let key = Shared(try Releases.key())
      var comparison = Comparison(
        from: .release(try ComparedRelease(reading: releases[number].path)),
        to: .release(try ComparedRelease(reading: releases[releases.count - 1].path)), key: key)
      let lock = try ReleaseLock.read(directory("packer.lock.json"))
      comparison.history = ReleaseHistory(lock, try PackerConfiguration.read(directory("packer.yml")))
      return try await comparison.run()
    }

    /// Plays the update from an earlier release on a device that has all its packs.
    func play(_ event: DeliveryEvent, from number: Int) async throws -> SimulationReport.Traffic {
      let release = releases[releases.count - 1]
      let rules = try SystemRules(InfoPlist.read("\(release.path)/Info.fragment.plist"))
      var settings = SimulationSettings(
        event, of: release, rules: rules, trusted: TrustedKeys([try Releases.signer().publicKey]), keys: KeyRing(try Releases.key()))
      settings.earlier = releases[number]
      settings.asked = Set(releases[number].packs.map(\.id)).intersection(release.packs.map(\.id))
      let report = try await PackSimulatorTests.play(settings)
      #expect(report.findings.isEmpty, "\(report.story)")
      return report.traffic
    }
  }

  @Test("is what a simulated device downloads, to the byte, and adds up", arguments: 0..<Effort.number(quick: 3, full: 30) as Range<UInt64>)
  func downloads(_ number: UInt64) async throws {
    let seed = SeededGenerator().seed &+ number
    let history = try await History(seed: seed)
    let last = history.releases.count - 1
    for number in 0..<last {
      let report = try await history.difference(from: number)
      let update = report.downloads.first { $0.manifest == history.releases[number].manifest.version }
      #expect(report.downloads.count <= last, "seed \(seed)")
      let traffic = try await history.play(.periodic, from: number)
      let expected = Dictionary(uniqueKeysWithValues: (update?.packs ?? []).map { ($0.id, $0.size) })
      #expect(traffic.packs == expected && traffic.packSize == update?.size ?? 0, "seed \(seed), release \(number)")
      #expect(try await history.play(.update, from: number).packSize == update?.sizeWithApp ?? 0, "seed \(seed), release \(number)")
      for pack in report.packs { check(pack, "seed \(seed), release \(number), \(pack.id ?? "")") }
    }
  }

  /// Checks that sizes add up.
  private func check(_ pack: PackDifference, _ comment: Comment) {
    guard let files = pack.files else {
      #expect(pack.kind == .unchanged || pack.kind == .repacked, comment)
      return
    }
    let sum = TreeChanges.sum(files.changes)
    if pack.kind != .removed {
      #expect(sum.packedSize + files.unchanged.packedSize + (pack.packRest ?? 0) == pack.after?.packSize, comment)
    }
    if let rest = pack.updateRest { #expect(sum.updateSize + files.unchanged.updateSize + rest == pack.update?.size, comment) }
    if pack.update != nil { #expect(pack.updateRest != nil, comment) }
  }
}
