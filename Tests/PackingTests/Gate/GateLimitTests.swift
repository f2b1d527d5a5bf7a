import TestSupport
import Testing

@testable import PackBuild
@testable import PackGate
@testable import PackProject

@Suite("The exact limits of rules")
struct GateLimitTests {
  private func level(_ rule: String, of sample: GateSample) -> FindingLevel? {
    sample.report().findings.first { $0.rule.id == rule }?.level
  }

  private struct Ceiling: Sendable {
    let size: UInt64
    let level: FindingLevel?
  }

  @Test("PK3005 is a warning above 80 % of the ceiling, and an error above the ceiling")
  func ceiling() throws {
    let cases = [
      Ceiling(size: 52_428, level: nil), Ceiling(size: 52_429, level: .warning), Ceiling(size: 65_536, level: .warning),
      Ceiling(size: 65_537, level: .error),
    ]
    for one in cases {
      var sample = try GateSample()
      #expect(sample.release.configuration?.manifestCeiling == 65_536)
      sample.release.manifest.size = one.size
      #expect(level("PK3005", of: sample) == one.level, "\(one.size) bytes")
    }
  }

  @Test("PK3018 allows a pack of exactly its budget", arguments: [7_999_999, 8_000_000] as [UInt64])
  func teamBudget(limit: UInt64) throws {
    for isDownload in [true, false] {
      var sample = try GateSample()
      let actual: UInt64 = isDownload ? 8_000_000 : 12_288_000
      let budget = limit == 8_000_000 ? actual : actual - 1
      sample.release.configuration?.packs[1].budget = PackerConfiguration.PackBudget(
        download: isDownload ? budget : nil, installed: isDownload ? nil : budget, message: nil,
        position: SourcePosition(line: 30, column: 7))
      let isFound = level("PK3018", of: sample) != nil
      #expect(isFound == (limit < 8_000_000), "\(isDownload ? "download" : "installed")")
    }
  }

  @Test("PK3018 allows a lead of exactly its budget, and counts the pack if it has none", arguments: [0, 1] as [UInt64])
  func launchBudget(excess: UInt64) throws {
    for hasLead in [true, false] {
      var sample = try GateSample()
      let leaves = [UInt8](repeating: 7, count: 32)
      let stream = ManifestStream(launch: 65_536, tail: 7_900_000, leaves: leaves, size: 200_000 + 65_536, sha256: leaves)
      sample.change(1) { $0.stream = hasLead ? stream : nil }
      sample.release.configuration?.packs[1].budget = PackerConfiguration.PackBudget(
        launch: (hasLead ? stream.size : 8_000_000) - excess, position: SourcePosition(line: 30, column: 7))
      #expect((level("PK3018", of: sample) != nil) == (excess > 0), "\(hasLead)")
    }
  }

  @Test("PK3020 allows exactly 30 minutes at 5 Mbit/s", arguments: [0, 1] as [UInt64])
  func largeEssential(excess: UInt64) throws {
    var sample = try GateSample()
    let limit: UInt64 = 1_125_000_000
    let demand = try #require(Listing.source.known(sample.release)).demand.essentialDownload
    sample.change(0) { $0.size += limit - demand + excess }
    try sample.refit()
    #expect(Listing.source.known(sample.release)?.demand.essentialDownload == limit + excess)
    #expect(level("PK3020", of: sample) == (excess > 0 ? .warning : nil))
  }

  @Test("PK6002 allows ten new packs in a submission", arguments: [9, 10, 11])
  func newPacks(count: Int) throws {
    var sample = try GateSample()
    sample.release.configuration?.hosting = .apple
    sample.release.plist = nil
    try sample.fill(to: 20)
    let packs = try #require(sample.release.manifest.manifest?.packs)
    // Everything was published before, except the last ones.
    sample.release.lock?.released?.packs = packs.dropLast(count).map { entry in
      ReleaseLock.Pack(
        id: entry.id, version: entry.version, sha256: entry.sha256, contentRoot: entry.contentRoot, keyID: GateSample.keyID,
        settings: "level balanced", created: GateSample.time("2026-10-01T00:00:00Z"))
    }
    let finding = sample.report().findings.first { $0.rule.id == "PK6002" }
    #expect((finding != nil) == (count > 10), "\(finding?.message ?? "")")
    if let finding { #expect(finding.message.contains("11 packs; the limit is 10 packs") && finding.level == .warning) }
  }

  @Test("PK6002 is an error only above the limit, and a warning from 80 % on", arguments: [79, 80, 200, 201])
  func packCount(count: Int) throws {
    var sample = try GateSample()
    sample.release.configuration?.hosting = .apple
    sample.release.plist = nil
    try sample.fill(to: count)
    let levels: [Int: FindingLevel] = [80: .warning, 200: .warning, 201: .error]
    #expect(sample.report().findings.first { $0.rule.id == "PK6002" && $0.message.hasPrefix("packs of one app") }?.level == levels[count])
  }

  /// A release that only resembles one with a fault.
  private struct Harmless: Sendable, CustomTestStringConvertible {
    let what: String
    let change: @Sendable (inout GateSample) throws -> Void

    init(_ what: String, change: @escaping @Sendable (inout GateSample) throws -> Void) {
      self.what = what
      self.change = change
    }

    var testDescription: String { what }
  }

  private static let other = "ffffffffffffffff"

  private static let harmless: [Harmless] = [
    Harmless("packs of exactly the totals in packer.yml") { sample in
      sample.release.configuration?.totals.essentialDownload = 3_000_000
      sample.release.configuration?.totals.otherInstalled = 12_288_000
    },
    Harmless("an app that was shipped with this manifest") { $0.release.lock?.apps[0].firstManifest = 2 },
    Harmless("an app that also trusts a key that did not sign") { $0.release.lock?.apps[0].trustedKeys.append("pkp1-other") },
    Harmless("an app with the root key") { try haveKeysOfTheirOwn(&$0) },
    Harmless("the same salt under different keys") { sample in
      try haveKeysOfTheirOwn(&sample)
      let core = sample.release.packs[0].start?.core ?? []
      sample.release.packs[1].start?.core = core
    },
    Harmless("a manifest for a month, on its first day") { sample in
      sample.release.manifest.manifest?.issued = sample.release.setting.now
      sample.release.manifest.manifest?.expires = GateSample.time("2026-12-20T12:00:00Z")
    },
    Harmless("a new version of the same content, with another key") { sample in
      let root = sample.release.entries[1].contentRoot
      sample.release.lock?.released?.packs[1].contentRoot = root
      sample.release.lock?.released?.packs[1].keyID = other
    },
    Harmless("a pack that was removed in an earlier release") { sample in
      guard var gone = sample.release.lock?.released?.packs[2] else { return }
      (gone.id, gone.isRemoved) = ("game-old", true)
      sample.release.lock?.released?.packs.append(gone)
    },
  ]

  /// Derives the keys of the packs from a root key, which the app has.
  private static func haveKeysOfTheirOwn(_ sample: inout GateSample) throws {
    let root = "eeeeeeeeeeeeeeee"
    sample.release.contentKeys.roots = [GateSample.keyID: root, other: root]
    sample.release.contentKeys.id = root
    sample.release.configuration?.perPackKeys = true
    sample.release.lock?.apps[0].keyIDs = [root]
    sample.change(1) { $0.keyID = other }
  }

  @Test("what only resembles a fault is no finding", arguments: harmless)
  private func noFinding(_ harmless: Harmless) throws {
    var sample = try GateSample()
    try harmless.change(&sample)
    #expect(sample.report().findings.map { "\($0.rule.id) \($0.headline)" } == [])
  }
}
