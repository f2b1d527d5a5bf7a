import PackSimulator
import TestSupport
import Testing

/// Tests of many devices in the course of a rollout.
@Suite("Many devices over days", .bounded)
struct FleetTests {
  private static let start: Int64 = 1_800_000_000
  private static let base = "https://cdn.example.com/packs/"

  private static func entry(_ version: UInt8) -> ManifestPack {
    let digest = [UInt8](repeating: version, count: 32)
    return ManifestPack(
      id: "core", version: UInt64(version), url: base + ManifestPack.publishedName("core", digest), size: 1000 * UInt64(version),
      sha256: digest,
      contentRoot: digest, contentSize: 1000, installSize: 8192, files: 1, maxFrame: 1000, keyID: "0123456789abcdef", delivery: .prefetch,
      install: .packed)
  }

  /// Publishes version 1, then version 2 as a candidate at time 0, and what follows.
  private static func publications(_ share: UInt64, _ later: [(Int64, (inout Rollout) -> Void)] = []) throws -> [Fleet.Publication] {
    var rollout = Rollout(
      id: "winter", salt: Array(repeating: 7, count: 16), share: share, groups: ["testers"], state: .running,
      until: ManifestTime(secondsSince1970: start + 86_400)!)
    var manifest = Manifest(
      version: 1, issued: nil, expires: ManifestTime(secondsSince1970: 1_900_000_000)!, budget: nil,
      defaults: ManifestDefaults(baseURL: base),
      packs: [entry(1)])
    var publications = [try Fleet.Publication(manifest, at: 0)]
    var offering = entry(1)
    offering.candidate = ManifestCandidate(entry(2), in: "winter")
    manifest.packs = [offering]
    for (time, change) in [(0, { _ in })] + later {
      change(&rollout)
      manifest.version += 1
      manifest.rollouts = [rollout]
      publications.append(try Fleet.Publication(manifest, at: time))
    }
    return publications
  }

  private static func result(
    _ publications: [Fleet.Publication], days: Int64 = 2, _ change: (inout Fleet.Settings) -> Void = { _ in }
  ) throws -> Fleet.Result {
    var settings = Fleet.Settings()
    (settings.devices, settings.offline, settings.wrongClocks) = (600, 0, 0)
    change(&settings)
    return try Fleet(settings, publications, startingAt: start, duration: days * 86_400, countingEvery: 3600).run()
  }

  private static func count(_ result: Fleet.Result, _ state: Fleet.State, after hours: Int) -> Int { result.counts[hours][state.rawValue] }

  @Test("all devices are counted at all times, the share is what was asked for, and nobody begins when the time is over")
  func shares() throws {
    let result = try Self.result(Self.publications(2500))
    for counts in result.counts { #expect(counts.reduce(0, +) == 600) }
    let last = Self.count(result, .runs, after: 48)
    // Who was not started within the day stays without it.
    #expect((105...182).contains(last) && Self.count(result, .runs, after: 24) > last * 3 / 4)
    #expect(result.packBytes.reduce(0, +) >= UInt64(last) * 2000)
    #expect(result.ranAtHalt == 0 && result.returns.isEmpty)
  }

  @Test("a halt takes all of them back, without a byte of a pack; only devices without a network begin it later")
  func halt() throws {
    let halted = try Self.publications(5000, [(43_200, { $0.state = .halted })])
    let result = try Self.result(halted) { $0.edgeSeconds = 0 }
    // Only who was not started since still has it.
    #expect(result.ranAtHalt > 150 && result.ranAtHalt - result.returns.count == Self.count(result, .runs, after: 48))
    #expect(Self.count(result, .runs, after: 48) < 12)
    #expect((result.lateByEdge, result.lateOffline, result.bytesAfterHalt) == (0, 0, 0))
    #expect(result.packBytes.suffix(32).reduce(0, +) == 0)
    let offline = try Self.result(halted) { ($0.edgeSeconds, $0.offline) = (0, 0.3) }
    #expect(offline.lateByEdge == 0 && offline.lateOffline > 0 && offline.bytesAfterHalt == 0)
    // An edge that keeps a manifest for hours is what halts are slow by.
    let stale = try Self.result(halted) { $0.edgeSeconds = 36_000 }
    #expect(stale.lateByEdge > 0 && stale.bytesAfterHalt > 0)
  }

  @Test("testers have it at a share of zero; where it crashes, the version before goes on; wrong clocks stay without it or begin late")
  func others() throws {
    let testers = try Self.result(Self.publications(0)) { $0.testers = 0.1 }
    #expect(abs(Self.count(testers, .runs, after: 48) - 60) <= 25)
    let crashing = try Self.result(Self.publications(10_000)) { $0.crashes = 0.25 }
    #expect(abs(Self.count(crashing, .failed, after: 48) - 150) <= 40)
    #expect(Self.count(crashing, .runs, after: 48) + Self.count(crashing, .failed, after: 48) > 500)
    let wrong = try Self.result(Self.publications(10_000)) { $0.wrongClocks = 1 }
    #expect((150..<480).contains(Self.count(wrong, .runs, after: 48)))
  }

  @Test("the same seed gives the same devices, another one others")
  func seeds() throws {
    let publications = try Self.publications(5000)
    let first = try Self.result(publications, days: 1)
    #expect(try Self.result(publications, days: 1).counts == first.counts)
    #expect(try Self.result(publications, days: 1) { $0.seed = 2 }.counts != first.counts)
    // More of them change nothing for the first ones.
    #expect(try Self.result(publications, days: 1) { $0.devices = 601 }.packBytes.reduce(0, +) >= first.packBytes.reduce(0, +))
  }
}
