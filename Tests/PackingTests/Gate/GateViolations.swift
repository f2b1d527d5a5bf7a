import TestSupport
import Testing

@testable import PackBuild
@testable import PackGate
@testable import PackProject

/// A release with exactly one fault.
struct Violation: Sendable, CustomTestStringConvertible {
  let rule: String
  let what: String
  let level: FindingLevel
  let kind: FindingKind
  /// A part of the hint; nil if the finding has no hint.
  let hint: String?
  /// The other rules that find it.
  let also: Set<String>
  let change: @Sendable (inout GateSample) throws -> Void

  init(
    _ rule: String, _ what: String, _ level: FindingLevel = .error, _ kind: FindingKind = .other, hint: String?, also: Set<String> = [],
    change: @escaping @Sendable (inout GateSample) throws -> Void
  ) {
    self.rule = rule
    self.what = what
    self.level = level
    self.kind = kind
    self.hint = hint
    self.also = also
    self.change = change
  }

  var testDescription: String { "\(rule): \(what)" }

  static let all: [Violation] =
    keys + files + foreign + shards + updates + budgets + released + plist + app + versions + lostReleases + trust + store + live + portals

  private static let other = "ffffffffffffffff"

  private static let keys: [Violation] = [
    Violation("PK1007", "a required rule without its input", hint: nil) { sample in
      guard let rule = ReleaseRule.all.first(where: { $0.id == "PK3007" }) else { return }
      sample.release.unchecked = [ReleaseReport.RuleOutcome(rule: rule, missing: [.lock])]
    },
    Violation("PK1001", "a pack made with another key", .error, .wrongKey, hint: "packer inspect dist/game-kart-") { sample in
      sample.release.packs[1].content = nil
      sample.release.packs[1].failure = PackError(.wrongKey, "made with another key")
    },
    Violation("PK1002", "no key with --quick", .warning, hint: "--quick --key") { sample in
      sample.release.setting.isQuick = true
      sample.release.contentKeys.id = nil
      for index in sample.release.packs.indices { sample.release.packs[index].content = nil }
    },
    Violation("PK1003", "two keys", .warning, hint: "packer build") { sample in
      sample.change(1) { $0.keyID = other }
      sample.release.lock?.apps[0].keyIDs.append(other)
    },
    Violation("PK1003", "a key derived from another root key", .warning, hint: "packer build") { sample in
      sample.release.contentKeys.roots = [GateSample.keyID: "eeeeeeeeeeeeeeee", other: "dddddddddddddddd"]
      sample.release.contentKeys.id = "eeeeeeeeeeeeeeee"
      sample.change(1) { $0.keyID = other }
      sample.release.lock?.apps[0].keyIDs = ["eeeeeeeeeeeeeeee", "dddddddddddddddd"]
      sample.release.configuration?.perPackKeys = true
    },
    Violation("PK1004", "one key for all packs, but packer.yml asks for a key for each pack", hint: "packer build") { sample in
      sample.release.configuration?.perPackKeys = true
    },
    Violation("PK1004", "a key for each pack, but packer.yml asks for one key", hint: "packer build") { sample in
      sample.release.contentKeys.roots = [GateSample.keyID: other]
      sample.release.contentKeys.id = other
    },
    Violation("PK1004", "another delivery than in packer.yml", hint: "packer build") { sample in
      sample.release.configuration?.packs[1].delivery = .onDemand
    },
    Violation("PK1004", "a pack that was not built", hint: "packer build") { sample in
      guard var extra = sample.release.configuration?.packs[2] else { return }
      extra.id = try PackName("game-new")
      sample.release.configuration?.packs.append(extra)
    },
    Violation("PK1004", "a pack that is no longer in packer.yml", hint: "packer build") { sample in
      sample.release.configuration?.packs.removeLast()
    },
    Violation("PK1004", "another headroom than the budget was built with", hint: "packer build") { sample in
      sample.release.configuration?.headroom.basisPoints = 300
    },
    Violation("PK1005", "another base URL", hint: "packer build") { sample in
      sample.release.configuration?.serve.baseURL = "https://staging.example.com/packs/"
    },
    Violation("PK1006", "an ignored rule that does not exist", .warning, hint: "packer explain") { sample in
      sample.release.configuration?.ignored = [ignoring("PK9999")]
    },
    Violation("PK1006", "an ignored rule that cannot be ignored", .warning, hint: "packer explain") { sample in
      sample.release.configuration?.ignored = [ignoring("PK5002")]
    },
    Violation("PK1010", "a group of two languages without a fallback", .warning, hint: "set fallbackLanguage in packer.yml") { sample in
      sample.group(fallback: nil)
    },
    Violation("PK1010", "a fallback that is in none of the languages", .warning, hint: "set fallbackLanguage in packer.yml") { sample in
      sample.group(fallback: nil)
      sample.release.configuration?.fallbackLanguage = "it"
    },
    Violation("PK1004", "another fallback than in packer.yml", hint: "packer build") { sample in
      sample.group(fallback: "kart")
      sample.release.configuration?.fallbackLanguage = "poker"
    },
    Violation("PK1008", "a lost lock file that packer.yml requires", hint: "git restore") { sample in
      sample.release.configuration?.lock = .required
      sample.release.lock = nil
    },
  ]

  static func ignoring(_ rule: String, pack: String? = nil) -> PackerConfiguration.IgnoredRule {
    PackerConfiguration.IgnoredRule(rule: rule, pack: pack, reason: "we know", position: SourcePosition(line: 40, column: 3))
  }

  private static let files: [Violation] = [
    Violation("PK2001", "a pack is missing", hint: "packer build game-kart") { sample in
      sample.release.packs[1] = PackSighting(path: sample.release.packs[1].path)
    },
    Violation("PK2002", "a pack file that is not in the manifest", hint: "rm dist/old.pack") { sample in
      sample.release.beside.strayPacks = ["dist/old.pack"]
    },
    Violation("PK2003", "a pack one byte too short", .error, .truncated, hint: "packer build game-kart") { sample in
      sample.release.packs[1].size = 7_999_999
    },
    Violation("PK2003", "a pack one byte too long", .error, .damaged, hint: "packer build game-kart") { sample in
      sample.release.packs[1].size = 8_000_001
      sample.release.packs[1].failure = PackError(.authenticationFailed, "segment 0 is not what was sealed")
    },
    Violation("PK2004", "other bytes", .error, .damaged, hint: "packer build game-kart") { sample in
      sample.release.packs[1].sha256 = GateSample.digest(77)
    },
    Violation("PK2005", "a changed segment", .error, .damaged, hint: "packer build game-kart") { sample in
      sample.release.packs[1].failure = PackError(.authenticationFailed, "segment 3 is not what was sealed")
    },
    Violation("PK2006", "a pack that was truncated before it was hashed", .error, .truncated, hint: "packer build game-kart") { sample in
      sample.release.packs[1].failure = PackError(.truncated, "pack ends inside its seek table")
    },
    Violation("PK2007", "a file that is not a pack", hint: "convert line ends") { sample in
      sample.release.packs[1].failure = PackError(.notAPack, "the file does not start like a pack", hint: "do not convert line ends")
    },
    Violation("PK2008", "another version of the pack", .error, .damaged, hint: "packer build game-kart") { sample in
      sample.release.packs[1].start?.packVersion = 9
    },
    Violation("PK2008", "a copy for other recipients", .error, .damaged, hint: "packer build game-kart") { sample in
      sample.release.packs[1].start?.recipientIDs = ["f0125d046c0fa903"]
    },
    Violation("PK2008", "a renamed pack", .error, .damaged, hint: "packer build game-kart") { sample in
      sample.release.packs[1].content?.isNamed = false
    },
    Violation("PK2009", "another content root", .error, .damaged, hint: "packer build game-kart") { sample in
      sample.release.packs[1].content?.contentRoot = GateSample.digest(78)
    },
    Violation("PK2009", "another size of the content", .error, .damaged, hint: "packer build game-kart") { sample in
      sample.release.packs[1].content?.contentSize += 1
    },
    Violation("PK2009", "another number of records", .error, .damaged, hint: "packer build game-kart") { sample in
      sample.release.packs[1].content?.files += 1
    },
    Violation("PK2009", "another largest frame", .error, .damaged, hint: "packer build game-kart") { sample in
      sample.release.packs[1].content?.maxFrame += 1
    },
    Violation("PK2010", "another size on the device", hint: "packer build game-kart") { sample in
      sample.release.contents[1].installSize = 12_292_096
    },
    Violation("PK2011", "a changed source directory", hint: "packer build game-kart") { sample in
      sample.release.contents[1].differences = [TreeDifference(kind: .differs, path: "a.txt", message: "has different content")]
    },
    Violation("PK2012", "a path that Windows cannot store", hint: "allowUnportablePaths") { sample in
      sample.release.contents[1].unportable = ["'a:b' holds a colon"]
    },
    Violation("PK2013", "the same pack twice", hint: "another id") { sample in
      guard let entry = sample.release.manifest.manifest?.packs[1] else { return }
      sample.release.manifest.manifest?.packs.append(entry)
      sample.release.packs.append(sample.release.packs[1])
      sample.release.contents.append(sample.release.contents[1])
      try sample.refit()
    },
    Violation("PK2013", "ids that differ only in case", hint: "another id") { sample in
      try sample.fill(to: 4)
      sample.change(3) { entry in
        entry.id = "Core"
        entry.url = "https://\(GateSample.host)/packs/\(ReleaseBuild.fileName(entry.id, entry.sha256))"
      }
      // The configuration is made again.
      try sample.fill(to: 4)
      sample.release.lock?.released?.packs.removeLast()
    },
    Violation("PK2014", "a file that is not named after its content", .warning, hint: "packer build") { sample in
      sample.change(1) { $0.url = "https://cdn.example.com/packs/kart.pack" }
    },
    Violation("PK2015", "the salt of another pack", .error, .damaged, hint: "packer build game-kart") { sample in
      let core = sample.release.packs[0].start?.core ?? []
      sample.release.packs[1].start?.core = core
    },
    Violation("PK2016", "a pack of zeros", .warning, hint: "packer ls -l") { sample in
      sample.change(1) { $0.contentSize = $0.size * 200 + 1 }
    },
    Violation("PK2017", "another size in packages.json", hint: "packer build") { sample in
      sample.release.beside.companions = [
        Companion(path: "dist/packages.json", disagreements: ["'core' is 1 byte, but 2 bytes in the manifest"])
      ]
    },
  ]

  private static let updates: [Violation] = [
    Violation("PK1004", "deltas that packer.yml turns off", hint: "packer build") { sample in
      sample.addDelta()
      sample.release.configuration?.updates = nil
    },
    Violation("PK2001", "a delta is missing", hint: "packer build") { sample in
      sample.addDelta { ($0.size, $0.sha256, $0.start, $0.isDelta) = (nil, nil, nil, nil) }
    },
    Violation("PK2003", "a delta one byte too short", .error, .truncated, hint: "packer build") { sample in
      sample.addDelta {
        $0.size = 999_999
        $0.failure = PackError(.truncated, "pack ends inside its last segment")
      }
    },
    Violation("PK2004", "a delta with other bytes", .error, .damaged, hint: "packer build") { sample in
      sample.addDelta { $0.sha256 = GateSample.digest(78) }
    },
    Violation("PK2005", "a delta whose windows do not make the pack", .error, .damaged, hint: "packer build") { sample in
      sample.addDelta { $0.failure = PackError(.damagedPayload, "the content of the delta does not have the content root") }
    },
    Violation("PK2006", "a delta that was truncated before it was hashed", .error, .truncated, hint: "packer build") { sample in
      sample.addDelta { $0.failure = PackError(.truncated, "pack ends inside its last segment") }
    },
    Violation("PK2007", "a delta of a newer format", hint: "update packer") { sample in
      sample.addDelta { $0.failure = PackError(.unsupported, "pack has version 2", hint: "update packer") }
    },
    Violation("PK2015", "a delta with the salt of its pack", .error, .damaged, hint: "packer build") { sample in
      let core = sample.release.packs[1].start?.core ?? []
      sample.addDelta { $0.start?.core = core }
    },
    Violation("PK2025", "a full pack in the place of a delta", .error, .damaged, hint: "packer build") { sample in
      sample.addDelta { $0.isDelta = false }
    },
    Violation("PK2025", "a delta to another pack", .error, .damaged, hint: "packer build") { sample in
      sample.addDelta { $0.isNamed = false }
    },
    Violation("PK2025", "a delta to another version", .error, .damaged, hint: "packer build") { sample in
      sample.addDelta { $0.start?.packVersion = 1 }
    },
    Violation("PK2025", "a delta with another key", .error, .damaged, hint: "packer build") { sample in
      sample.addDelta { $0.start?.keyID = other }
    },
    Violation("PK2025", "a delta over other content than the manifest says", .error, .damaged, hint: "packer build") { sample in
      sample.addDelta { $0.failure = PackError(.wrongBase, "pack is a delta over content 0101010101010101") }
    },
    Violation("PK2025", "a delta to other content", .error, .damaged, hint: "packer build") { sample in
      sample.addDelta { $0.contentRoot = GateSample.digest(99) }
    },
    Violation("PK5018", "a delta over content that nobody has", .warning, hint: "packer build") { sample in
      sample.addDelta { $0.delta.bases = [GateSample.digest(98)] }
    },
    Violation("PK2026", "a delta whose base is on another machine", .note, hint: nil) { sample in
      sample.addDelta {
        $0.contentRoot = nil
        $0.unproven = "the pack with the content 4848484848484848, which it is for, is not on this machine"
      }
    },
    Violation("PK2027", "a delta as large as its pack", hint: "packer build") { sample in
      sample.addDelta {
        $0.delta.size = 8_000_000
        $0.size = 8_000_000
      }
    },
    Violation("PK2028", "an opener of another root key", .error, .damaged, hint: "packer build") { sample in
      sample.addOpener { $0.isOfPack = false }
    },
    Violation("PK2029", "an opener before its time", hint: "rm dist/game-poker-5a5a5a5a5a5a5a5a.opener") { sample in
      sample.addOpener(opens: ManifestTime("2026-12-24T00:00:00Z")) { _ in }
    },
    Violation("PK3023", "an update that is too large", .error, .budget, hint: "packer build --dry-run") { sample in
      guard let lock = sample.release.lock?.released else { return }
      sample.addDelta()
      sample.release.configuration?.updates?.largest = 999_999
      var entries = sample.release.entries
      entries[1].deltas = sample.release.updates.deltas.map(\.delta)
      sample.release.updates.downloads = [ReleaseUpdate(from: lock, to: entries)]
    },
    Violation("PK6012", "an archive in a pack", .note, hint: "put the files of the archive into the pack") { sample in
      sample.release.updates.burdens = [
        UpdateBurden(id: "game-kart", version: 1, download: 5_000_000, reason: .archive, paths: ["assets.zip"], size: 4_900_000)
      ]
    },
    Violation("PK6012", "a picture that was encoded again", .note, hint: "keep the encoded files") { sample in
      sample.release.updates.burdens = [
        UpdateBurden(id: "game-kart", version: 1, download: 900_000, reason: .encodedAgain, paths: ["a.png", "b.png"], size: 880_000)
      ]
    },
    Violation("PK6012", "a time stamp in every file", .note, hint: "into one file") { sample in
      sample.release.updates.burdens = [
        UpdateBurden(id: "game-kart", version: 1, download: 90_000, reason: .stamps, paths: (1...30).map { "\($0).js" }, size: 880_000)
      ]
    },
  ]

  private static let foreign: [Violation] = [
    Violation("PK2018", "a game in plaintext", hint: "mkdir -p outside-of-release && mv -n dist/game outside-of-release/") { sample in
      var foreign = ForeignFiles(path: "dist/game", count: 412, size: 9_000_000)
      (foreign.copies, foreign.copyCount) = (["'game/a.js' has the bytes of 'a.js' in pack 'core'"], 30)
      sample.release.beside.foreign = [foreign]
    },
    Violation("PK2018", "Finder metadata beside the packs", .warning, hint: "mv -n dist/.DS_Store outside-of-release/") { sample in
      sample.release.beside.foreign = [ForeignFiles(path: "dist/.DS_Store", count: 1, size: 6148, junk: "Finder metadata")]
    },
    Violation("PK2019", "the content key", hint: "'A content key leaked'") { sample in
      sample.release.beside.secrets = [UploadedSecret(path: "dist/arcade.key", kind: .contentKey)]
    },
    Violation("PK2020", "a pack that is a symbolic link", hint: "packer build") { sample in
      sample.release.beside.links = [sample.release.packs[0].path]
    },
    Violation("PK2017", "Apple's hosting without anything to upload", hint: "packer build --ba-package") { sample in
      sample.release.configuration?.hosting = .apple
      sample.release.plist = nil
      sample.release.beside.lacksPackageInput = true
    },
    Violation("PK2017", "managed packs without input for ba-package", .warning, hint: "packer build --ba-package") { sample in
      sample.release.configuration?.hosting = .managed
      sample.release.plist = nil
      sample.release.beside.lacksPackageInput = true
    },
  ]

  private static let shards: [Violation] = [
    Violation("PK2021", "a shard is missing", hint: "packer build") { sample in
      sample.release.catalogue.shards = [shard(size: nil)]
      sample.release.catalogue.packs = sample.release.entries
    },
    Violation("PK2022", "a shard that was cut", .error, .truncated, hint: "packer build") { sample in
      sample.release.catalogue.shards = [shard(size: 499, PackError(.wrongShard, "shard is 499 bytes, but the manifest says 500"))]
    },
    Violation("PK2022", "a shard of another release", .error, .damaged, hint: "packer build") { sample in
      sample.release.catalogue.shards = [shard(size: 500, PackError(.wrongShard, "shard is not the file that the manifest names"))]
    },
    Violation("PK2023", "a shard that is not in the manifest", hint: "rm dist/old.shard") { sample in
      sample.release.beside.strayShards = ["dist/old.shard"]
    },
  ]

  private static func shard(size: UInt64?, _ failure: PackError? = nil) -> ShardSighting {
    let shard = Shard(size: 500, contentSize: 1000, maxCount: 1, sha256: GateSample.digest(1))
    return ShardSighting(path: "dist/\(shard.fileName)", shard: shard, size: size, failure: failure)
  }

  private static let budgets: [Violation] = [
    Violation("PK3001", "an essential allowance that is exactly used up", hint: "packer plist merge Info.plist") {
      sample in
      sample.release.plist?.keys.essentialDownloadAllowance = 3_004_000
    },
    Violation("PK3002", "an allowance that is exactly used up", hint: "packer plist merge Info.plist") { sample in
      sample.release.plist?.keys.downloadAllowance = 8_000_000
    },
    Violation("PK3003", "an essential size on the device one byte too small", hint: "packer plist merge Info.plist") {
      sample in
      sample.release.plist?.keys.essentialMaxInstallSize = 5_119_999
    },
    Violation(
      "PK3003", "one byte too small, where the essential allowance is above the size", hint: "packer plist merge Info.plist",
      also: ["PK3014"]
    ) {
      sample in
      sample.release.plist?.keys.essentialDownloadAllowance = 5_130_000
      sample.release.plist?.keys.essentialMaxInstallSize = 5_119_999
    },
    Violation("PK3004", "a size on the device one byte too small", hint: "packer plist merge Info.plist") { sample in
      sample.release.plist?.keys.maxInstallSize = 12_287_999
    },
    Violation("PK3005", "a manifest above its ceiling", hint: "raise manifestCeiling") { sample in
      sample.release.manifest.size = 65_537
    },
    Violation("PK3006", "no room to retry a failed essential pack", .warning, hint: "packer plist merge Info.plist") { sample in
      sample.release.plist?.keys.downloadAllowance = 11_000_000
    },
    Violation("PK3013", "a too small budget in the manifest", hint: "packer build") { sample in
      sample.release.manifest.manifest?.budget?.maxInstallSize = 12_287_999
    },
    Violation("PK3014", "a far too large number", .note, hint: "packer plist merge Info.plist") { sample in
      sample.release.plist?.keys.maxInstallSize = 30_000_000
    },
    Violation("PK3015", "a number in megabytes", hint: "packer plist merge Info.plist", also: ["PK3002"]) { sample in
      sample.release.plist?.keys.downloadAllowance = 11
    },
    Violation("PK3015", "a number in kilobytes", hint: "packer plist merge Info.plist", also: ["PK3004"]) { sample in
      sample.release.plist?.keys.maxInstallSize = 12_500
    },
    Violation("PK3016", "swapped numbers", hint: "packer plist merge Info.plist", also: ["PK3003", "PK3014"]) { sample in
      guard let keys = sample.release.plist?.keys else { return }
      sample.release.plist?.keys.essentialDownloadAllowance = keys.essentialMaxInstallSize
      sample.release.plist?.keys.essentialMaxInstallSize = keys.essentialDownloadAllowance
    },
    Violation("PK3017", "essential packs counted twice", .warning, hint: "packer plist merge Info.plist", also: ["PK3014"]) { sample in
      sample.release.plist?.keys.maxInstallSize = 5_120_000 + 12_288_000
    },
    Violation("PK3018", "a pack above its budget in packer.yml", .error, .budget, hint: "Ask #assets") { sample in
      sample.release.configuration?.packs[1].budget = PackerConfiguration.PackBudget(
        download: 7_999_999, installed: nil, message: "Ask #assets", position: SourcePosition(line: 30, column: 7))
    },
    Violation("PK3019", "packs above the totals in packer.yml", .error, .budget, hint: "totals.other.download") { sample in
      sample.release.configuration?.totals.otherDownload = 7_999_999
    },
    Violation("PK3020", "an essential download that takes hours", .warning, hint: "delivery: prefetch") { sample in
      sample.change(0) { $0.size = 2_000_000_000 }
      try sample.refit()
    },
    Violation("PK3021", "only essential packs", .note, hint: "delivery: prefetch") { sample in
      for index in 0..<3 {
        sample.change(index) { $0.delivery = .essential }
        sample.release.configuration?.packs[index].delivery = .essential
      }
      try sample.refit()
    },
  ]

  private static let released: [Violation] = [
    Violation(
      "PK3007", "an app version with a smaller allowance", .error, .released,
      hint: "set 'delivery: onDemand' for 'game-kart' (8.00 MB), or: packer release retire 2.1.0"
    ) {
      sample in
      sample.release.lock?.apps[0].budget?.downloadAllowance = 8_000_000
    },
    Violation("PK3007", "another app version with a smaller allowance", .error, .released, hint: "packer release retire 2.0.0") { sample in
      guard var app = sample.release.lock?.apps[0] else { return }
      app.version = "2.0.0"
      app.budget?.downloadAllowance = 8_000_000
      sample.release.lock?.apps.append(app)
    },
    Violation("PK3022", "an app version with a smaller install size", .warning, .released, hint: "set 'delivery: onDemand'") { sample in
      sample.release.lock?.apps[0].budget?.maxInstallSize = 12_287_999
    },
    Violation("PK3008", "an app version that allows another host", .error, .released, hint: "packer release retire 2.1.0") { sample in
      sample.release.lock?.apps[0].hosts = ["old.example.com"]
    },
    Violation("PK3009", "an app version that trusts another key", .error, .released, hint: "packer release retire 2.1.0") { sample in
      sample.release.lock?.apps[0].trustedKeys = ["pkp1-other"]
    },
    Violation("PK3010", "an app version without the content key", .error, .released, hint: "packer build --key") { sample in
      sample.release.lock?.apps[0].keyIDs = [other]
    },
    Violation("PK3010", "an app version with single keys, and a pack with another key", .error, .released, hint: "packer build --key") {
      sample in
      sample.release.contentKeys.roots = [other: "eeeeeeeeeeeeeeee"]
      sample.release.lock?.apps[0].keyIDs = [other]
    },
    Violation("PK3011", "an app version with an older runtime", .error, .released, hint: "packer release retire 2.1.0") { sample in
      sample.release.lock?.apps[0].format = "0.9"
    },
    Violation("PK3012", "an app version shipped with a newer manifest", .error, .released, hint: "packer build") { sample in
      sample.release.lock?.apps[0].firstManifest = 3
    },
    Violation("PK3012", "an app version with another manifest URL", .warning, .released, hint: "packer release retire 2.1.0") { sample in
      sample.release.lock?.apps[0].manifestURL = "https://cdn.example.com/v1/manifest.json"
    },
  ]

  private static let plist: [Violation] = [
    Violation("PK4001", "an allowance that is a string", hint: "<integer>35000000</integer>") { sample in
      sample.release.plist?.keys.downloadAllowance = nil
      sample.release.plist?.keys.problems = [
        BackgroundAssetsKeys.Problem(
          key: "BAInitialDownloadRestrictions.BADownloadAllowance", value: "the string '35000000'",
          message: "BAInitialDownloadRestrictions.BADownloadAllowance is the string '35000000', but it must be an integer",
          hint: "write <integer>35000000</integer>")
      ]
    },
    Violation("PK4002", "no manifest URL", hint: "packer plist merge Info.plist") { sample in
      sample.release.plist?.keys.manifestURL = nil
    },
    Violation("PK4003", "a key of another hosting mode", hint: "remove BAUsesAppleHosting") { sample in
      sample.release.plist?.names.insert("BAUsesAppleHosting")
    },
    Violation("PK4004", "an empty allow list", hint: "packer plist merge Info.plist") { sample in
      sample.release.plist?.keys.allowList = AllowList([])
    },
    Violation("PK4004", "a manifest on a host that is not in the allow list", hint: "packer plist merge Info.plist") { sample in
      let url = "https://manifests.example.com/manifest.json"
      sample.release.plist?.keys.manifestURL = url
      sample.release.configuration?.serve.manifestURL = url
      sample.release.lock?.apps[0].manifestURL = url
    },
    Violation("PK4005", "an entry with a scheme", hint: "packer plist merge Info.plist") { sample in
      sample.release.plist?.keys.allowList = AllowList(["cdn.example.com", "https://cdn.example.com/"])
    },
    Violation("PK4006", "a host that serves no file", .note, hint: nil) { sample in
      sample.release.plist?.keys.allowList = AllowList(["cdn.example.com", "old.example.com"])
    },
    Violation("PK4007", "a URL with a fragment", hint: "remove the # and everything after it") { sample in
      sample.change(1) { $0.url += "#1" }
    },
    Violation("PK4007", "a URL with a query", .warning, hint: nil) { sample in
      sample.change(1) { $0.url += "?v=1" }
    },
    Violation("PK4008", "another manifest URL", hint: "packer plist merge Info.plist") { sample in
      sample.release.plist?.keys.manifestURL = "https://cdn.example.com/packs/other.json"
    },
    Violation("PK4009", "another app group", hint: "packer plist merge Info.plist", also: ["PK4013"]) { sample in
      sample.release.plist?.keys.appGroupIdentifier = "group.com.example.other"
    },
    Violation("PK4010", "a declaration about encryption", .note, hint: "packer explain PK4010") { sample in
      sample.release.plist?.usesNonExemptEncryption = false
    },
    Violation("PK4011", "the Info.plist of another app", hint: "give --plist the Info.plist of com.example.arcade") { sample in
      sample.release.plist?.bundleID = "com.example.other"
    },
  ]

  private static let app: [Violation] = [
    Violation("PK4016", "the Info.plist of another app's extension", hint: "packer plist print --part extension") { sample in
      sample.release.targets?.downloader = try InfoPlist(
        parsing: Array(
          """
          <plist version="1.0"><dict><key>CFBundleIdentifier</key><string>com.example.other.downloader</string>
          <key>EXAppExtensionAttributes</key><dict><key>EXExtensionPointIdentifier</key><string>\(AppTargets.point)</string></dict></dict></plist>
          """.utf8), path: "Ext.plist")
    },
    Violation("PK4012", "a built app without an extension", hint: "embed the downloader extension") { sample in
      sample.release.app?.extensions = []
    },
    Violation("PK4013", "an extension with another app group", hint: "group.com.example.arcade to both targets") { sample in
      sample.release.app?.extensions[0].groups = .known(["group.com.example.other"])
    },
    Violation("PK4014", "an extension with the identifier of another app", hint: "com.example.arcade.downloader") { sample in
      sample.release.app?.extensions[0].plist = try InfoPlist(
        parsing: Array(
          """
          <plist version="1.0"><dict><key>CFBundleIdentifier</key><string>com.example.arcade2.downloader</string>
          <key>EXAppExtensionAttributes</key><dict><key>EXExtensionPointIdentifier</key><string>\(AppTargets.point)</string></dict></dict></plist>
          """.utf8), path: "Info.plist")
    },
    Violation("PK4015", "an app that is not signed", .note, hint: "signed app") { sample in
      sample.release.app?.bundle.groups = .unsigned
    },
    Violation("PK4015", "an extension without an executable", .warning, hint: "build the app again") { sample in
      sample.release.app?.extensions[0].groups = .unreadable("has no executable")
    },
    Violation("PK4017", "an extension whose files are locked with the phone", .warning, hint: "remove the capability Data Protection") {
      sample in
      sample.release.app?.extensions[0].protection = "NSFileProtectionComplete"
    },
    Violation("PK6009", "a signing key in the app", hint: "Documentation/RECOVERY.md") { sample in
      sample.release.app?.secrets = [.init(place: "Payload/Game.app/a.key", kind: .signingKey)]
    },
    Violation("PK6009", "the root key in the app", hint: "packer key derive --pack ID") { sample in
      sample.release.lock?.released?.rootKeyID = other
      sample.release.app?.secrets = [.init(place: "Payload/Game.app/Game", kind: .contentKeys([GateSample.keyID, other]))]
    },
    Violation("PK6009", "a content key in the app", .note, hint: "KEYS_IN_APPS.md") { sample in
      sample.release.app?.secrets = [.init(place: "Payload/Game.app/Game", kind: .contentKeys([GateSample.keyID]))]
    },
    Violation("PK6009", "a key store in the app", .warning, hint: "change the secret") { sample in
      sample.release.app?.secrets = [.init(place: "Payload/Game.app/push.p8", kind: .other("looks like a key store"))]
    },
    Violation("PK6010", "a pack in the app", .note, hint: "leave it out") { sample in
      sample.release.app?.packs = [.init(place: "Payload/Game.app/core.pack", size: 3_000_000, sha256: GateSample.digest(1))]
    },
  ]

  private static let versions: [Violation] = [
    Violation("PK5001", "a reformatted manifest", .error, .damaged, hint: "packer build") { sample in
      sample.release.manifest.manifest = nil
      sample.release.packs = []
      sample.release.manifest.failure = PackError(.damagedManifest, "there is a space at byte 1")
    },
    Violation("PK5002", "an untrusted signature", .error, .signature, hint: "packer build --sign-key") { sample in
      sample.release.manifest.signatureFailure = PackError(.untrustedSignature, "no trusted key signed the manifest")
    },
    Violation("PK5003", "no trusted key", .error, .signature, hint: "--trust pkp1-") { sample in
      sample.release.manifest.trusted = []
    },
    Violation("PK5004", "an expired manifest", hint: "packer build --renew") { sample in
      sample.release.setting.now = GateSample.time("2027-05-20T12:00:00Z")
    },
    Violation("PK5005", "a manifest with 29 days left", .warning, hint: "packer build --renew") { sample in
      sample.release.setting.now = GateSample.time("2027-04-21T12:00:00Z")
    },
    Violation("PK5006", "a manifest from the future", .warning, hint: "packer build --renew") { sample in
      sample.release.manifest.manifest?.issued = GateSample.time("2026-11-22T12:00:00Z")
    },
    Violation("PK5006", "a manifest from next year", hint: "set the clock") { sample in
      sample.release.manifest.manifest?.issued = GateSample.time("2027-11-22T12:00:00Z")
      sample.release.manifest.manifest?.expires = GateSample.time("2028-11-22T12:00:00Z")
    },
    Violation("PK5006", "a manifest that was issued a month before the last one", hint: "SOURCE_DATE_EPOCH=") { sample in
      sample.release.lock?.released?.issued = GateSample.time("2026-12-20T12:00:01Z")
    },
    Violation("PK5007", "a manifest with a lower version", hint: "packer build") { sample in
      sample.release.lock?.released?.manifestVersion = 3
    },
    Violation("PK5008", "a changed manifest with the same version", hint: "packer build") { sample in
      sample.release.lock?.released?.manifestVersion = 2
    },
    Violation("PK5009", "a new version of the same manifest", .note, hint: "packer build") { sample in
      sample.release.lock?.released?.contentDigest = sample.release.manifest.contentDigest
      sample.release.lock?.released?.expires = GateSample.time("2027-05-20T12:00:00Z")
    },
    Violation("PK5010", "a pack with a lower version", hint: "packer build") { sample in
      sample.release.lock?.released?.packs[1].version = 3
    },
    Violation("PK5011", "a changed pack with the same version", hint: "packer build") { sample in
      sample.release.lock?.released?.packs[1].version = 2
    },
    Violation("PK5011", "a changed pack with the same version and the same size", hint: "packer build") { sample in
      guard var pack = sample.release.lock?.released?.packs[1] else { return }
      pack.version = 2
      pack.size = sample.release.entries[1].size
      sample.release.lock?.released?.packs[1] = pack
    },
    Violation("PK5012", "a new version of a pack with the same content", .warning, hint: "packer build") { sample in
      let root = sample.release.entries[1].contentRoot
      sample.release.lock?.released?.packs[1].contentRoot = root
    },
    Violation("PK5013", "a pack that is no longer offered", .warning, hint: "ignore: [{rule: PK5013, pack: game-old") { sample in
      guard var gone = sample.release.lock?.released?.packs[2] else { return }
      gone.id = "game-old"
      sample.release.lock?.released?.packs.append(gone)
    },
    Violation("PK5019", "a candidate of a rollout for everybody", .note, hint: nil) { sample in
      sample.release.lock?.released?.packs[0].standing = .candidate
    },
    Violation("PK5019", "a candidate of a rollout in an app", hint: "packer rollout finish", also: ["PK6010"]) { sample in
      sample.release.lock?.released?.packs[0].standing = .candidate
      sample.release.app?.packs = [.init(place: "Payload/Game.app/core.pack", size: 3_000_000, sha256: GateSample.digest(1))]
    },
    Violation("PK5019", "a pack that was taken back", hint: "packer build") { sample in
      sample.release.lock?.released?.packs[0].standing = .withdrawn
    },
    Violation("PK5014", "a published manifest of a higher version", hint: "packer release recover") { sample in
      try publish(in: &sample) { $0.version += 1 }
    },
    Violation("PK5014", "a published manifest of the same version with other content", hint: "packer release recover") { sample in
      try publish(in: &sample) { $0.packs[0].name = "another" }
    },
    Violation("PK5014", "a published pack of a higher version", hint: "packer release recover") { sample in
      try publish(in: &sample) { manifest in
        manifest.version -= 1
        manifest.packs[0].version += 1
      }
    },
    Violation("PK5014", "a published pack of the same version with other bytes", hint: "packer release recover") { sample in
      try publish(in: &sample) { manifest in
        manifest.version -= 1
        manifest.packs[0].sha256 = [UInt8](repeating: 7, count: 32)
      }
    },
  ]

  private static let lostReleases: [Violation] = [
    Violation("PK5015", "a manifest that is two versions ahead of the lock file", hint: "packer release recover") { sample in
      sample.release.manifest.manifest?.version = 3
    },
    Violation("PK5015", "a lock file that was started again", hint: "packer release recover") { sample in
      sample.release.lock?.released = nil
    },
    Violation("PK5015", "a pack whose earlier versions are not in the lock file", hint: "packer release recover") { sample in
      sample.release.lock?.released?.packs.removeAll { $0.id == "game-kart" }
    },
  ]

  private static let trust: [Violation] = [
    Violation("PK1009", "a root signing key beside the configuration", hint: "move it away") { sample in
      sample.release.setting.rootKeyPlaces = ["root-1.key"]
    },
    Violation("PK5016", "a file of keys documents that cannot be read", .error, .signature, hint: nil) { sample in
      sample.release.keys = KeysSighting(path: "packer.keys.json", file: nil, failure: PackError(.damagedKeys, "damaged"))
    },
    Violation("PK5016", "a manifest without the keys document that apps need", .error, .signature, hint: "packer build") { sample in
      sample.release.keys = KeysSighting(path: "packer.keys.json", file: try keysFile(versions: 2))
    },
    Violation("PK5016", "an app whose keys document is not in the file", .error, .signature, hint: nil) { sample in
      sample.release.keys = KeysSighting(path: "packer.keys.json", file: try keysFile(versions: 1))
      sample.release.lock?.apps[0].keysVersion = 7
    },
    Violation("PK5016", "a keys document of others in the manifest", .error, .signature, hint: "packer build") { sample in
      sample.release.keys = KeysSighting(path: "packer.keys.json", file: try keysFile(versions: 1))
      sample.release.manifest.keysDocuments = [try KeysSample.document(KeysSample.content(signers: [8])).bytes]
    },
    Violation("PK5017", "keys documents that expire in 59 days", .warning, hint: "packer key trust rotate packer.keys.json") { sample in
      sample.release.keys = KeysSighting(
        path: "packer.keys.json", file: try keysFile(versions: 1, expires: sample.release.setting.now.secondsSince1970 + 60 * 86_400 - 1))
    },
    Violation("PK5017", "keys documents that have expired", .error, hint: "packer key trust rotate packer.keys.json") { sample in
      sample.release.keys = KeysSighting(
        path: "packer.keys.json", file: try keysFile(versions: 1, expires: sample.release.setting.now.secondsSince1970))
    },
  ]

  /// Returns a file with signed keys documents.
  static func keysFile(versions: Int, expires: Int64 = 2_000_000_000) throws(PackError) -> KeysFile {
    var file = try KeysFile(path: "packer.keys.json", try KeysSample.content(expires: expires))
    for version in 1...versions {
      if version > 1 {
        let content = try KeysSample.content(expires: expires)
        try file.draftNext(issued: content.issued, expires: content.expires) { (_) throws(PackError) in }
      }
      for root in [1, 2] as [UInt8] { _ = try file.sign(with: KeysSample.root(root)) }
    }
    return file
  }

  /// Publishes the manifest of a release with a change.
  private static func publish(in sample: inout GateSample, _ change: (inout Manifest) -> Void) throws {
    guard var manifest = sample.release.manifest.manifest else { return }
    change(&manifest)
    let signed = try manifest.signedBytes()
    let key = try SigningKey.random()
    let document = try SignedManifest(signed: signed, signatures: [try SignedManifest.signature(of: signed, by: key)])
    sample.release.published = PublishedManifest(
      place: "https://a.example/m.json", verified: try document.verify(trusting: [key.publicKey]), packs: manifest.packs,
      contentDigest: [])
  }

  private static let store: [Violation] = [
    Violation("PK6001", "a manifest at 80 % of what clients read", .warning, hint: "merge small packs") { sample in
      sample.release.configuration?.manifestCeiling = 2 << 20
      sample.release.manifest.size = (1 << 20) / 5 * 4
      try sample.refit()
    },
    Violation("PK6001", "a manifest of 256 KiB", .note, hint: "merge small packs") { sample in
      sample.release.configuration?.manifestCeiling = 2 << 20
      sample.release.manifest.size = 256 << 10
      try sample.refit()
    },
    Violation("PK6002", "80 % of the size that Apple hosts", .warning, hint: "serve them yourself") { sample in
      sample.release.configuration?.hosting = .apple
      sample.release.plist = nil
      sample.change(2) { $0.size = 160_000_000_000 }
    },
    Violation("PK6002", "more than the size that Apple hosts", .error, hint: "serve them yourself") { sample in
      sample.release.configuration?.hosting = .apple
      sample.release.plist = nil
      sample.change(2) { $0.size = 200_000_000_001 }
    },
    Violation("PK6002", "80 packs with Apple's hosting", .warning, hint: "merge packs") { sample in
      sample.release.configuration?.hosting = .apple
      sample.release.plist = nil
      try sample.fill(to: 80)
    },
    Violation("PK6002", "200 packs with Apple's hosting, more than Apple's page says", .warning, hint: "merge packs") { sample in
      sample.release.configuration?.hosting = .apple
      sample.release.plist = nil
      try sample.fill(to: 200)
    },
    Violation("PK6002", "201 packs with Apple's hosting", .error, hint: "merge packs") { sample in
      sample.release.configuration?.hosting = .apple
      sample.release.plist = nil
      try sample.fill(to: 201)
    },
    Violation("PK6003", "Finder metadata", hint: "packer build game-kart") { sample in
      sample.release.contents[1].junk = ["'img/.DS_Store' (Finder metadata)"]
    },
    Violation("PK6003", "a source map", .warning, hint: "exclude them") { sample in
      sample.release.contents[1].unneeded = ["'main.js.map' (source maps)"]
    },
    Violation("PK6004", "a private key", hint: "exclude it") { sample in
      sample.release.contents[1].secrets = [.init(path: "dev.pem", rule: "key-file", reason: "contains a private key")]
    },
    Violation("PK6005", "an image in plaintext", hint: "packer build game-kart") { sample in
      sample.release.contents[1].visible = ["a PNG image, 1 time"]
    },
    Violation("PK6008", "a pointer of Git LFS", hint: "git lfs pull") { sample in
      sample.release.contents[1].pointers = ["'img/hero.png'"]
    },
    Violation("PK6008", "an unresolved merge", hint: "resolve it") { sample in
      sample.release.contents[1].conflicts = ["'js/main.js', line 3, column 1"]
    },
    Violation("PK6008", "a web page in place of a picture", hint: "get the file again") { sample in
      sample.release.contents[1].unfit = ["'img/hero.png' holds a web page"]
    },
    Violation("PK6008", "an empty picture", .warning, hint: "get the file again") { sample in
      sample.release.contents[1].emptyFiles = ["'img/hero.png'"]
    },
    Violation("PK6008", "a game without index.html", .warning, hint: "its root in packer.yml") { sample in
      sample.release.contents[1].lostPage = "www/index.html"
    },
    Violation("PK6008", "a game whose index.html is excluded", .warning, hint: "'exclude' in packer.yml") { sample in
      sample.release.contents[1].excludesPage = true
    },
    Violation("PK6011", "a name in the wrong case", .warning, hint: "write it as the file has it") { sample in
      sample.release.contents[1].references.misspelled = ["'index.html' names 'JS/main.js', but the file is 'js/main.js'"]
    },
    Violation("PK6013", "a file that a game asked for in vain", .warning, hint: nil) { sample in
      sample.recordRun { $0.missing = [LoadRun.Missing(path: "js/Main.js", near: "js/main.js")] }
    },
    Violation("PK6014", "a request to another host", .warning, hint: nil) { sample in
      sample.recordRun { $0.foreign = [LoadRun.Foreign(url: "https://api.example.org/score", directive: "connect-src")] }
    },
    Violation("PK6015", "a run of another version", .note, hint: "packer serve dist --record run.json") { sample in
      sample.recordRun { pack in
        pack.contentRoot = GateSample.digest(99)
        pack.missing = [LoadRun.Missing(path: "a", near: nil)]
      }
    },
    Violation("PK6016", "a script that is missing", hint: "packer build game-kart") { sample in
      sample.release.contents[1].references.missing = ["'index.html', line 3, refers to 'js/Main.js'; the pack has 'js/main.js'"]
    },
    Violation("PK6017", "a script of another host", .warning, hint: nil) { sample in
      sample.release.contents[1].references.foreign = [
        .init(sentence: "'index.html', line 3, loads 'https://cdn.example.org/a.js'", address: "https://cdn.example.org/a.js")
      ]
    },
    Violation("PK6017", "a font of another host", .note, hint: nil) { sample in
      sample.release.contents[1].references.foreignGuesses = ["'css/a.css', line 3, loads 'https://cdn.example.org/a.woff2'"]
    },
    Violation("PK6018", "a missing picture of a style sheet", .note, hint: nil) { sample in
      sample.release.contents[1].references.doubtful = ["'css/a.css', line 3, refers to 'a.png', which the pack does not have"]
    },
    Violation("PK6018", "a link to a game that is another pack", .warning, hint: "an origin of its own") { sample in
      sample.release.contents[1].references.excluded = [
        "'index.html', line 3, refers to 'games/a/', which '/games/' in packer.yml excludes"
      ]
    },
    Violation("PK6019", "a script that registers a service worker", .note, hint: nil) { sample in
      sample.release.contents[1].references.serviceWorkers = ["'js/main.js', line 3, registers a service worker"]
    },
    Violation("PK6019", "the same, if browsers play it", .warning, hint: nil) { sample in
      sample.release.configuration?.isForBrowsers = true
      sample.release.contents[1].references.serviceWorkers = ["'js/main.js', line 3, registers a service worker"]
    },
    Violation("PK6020", "a script that a build compressed", hint: "Compression Format: Disabled") { sample in
      sample.release.contents[1].precompressed = ["Build/game.data.br", "Build/game.framework.js.br"]
    },
    Violation("PK6020", "bytes that a script may decompress", .warning, hint: "Compression Format: Disabled") { sample in
      sample.release.contents[1].precompressed = ["Build/game.data.gz"]
    },
    Violation("PK6021", "a page in an encoding that nobody knows", .warning, hint: "convert it to UTF-8") { sample in
      sample.release.contents[1].references.unknownEncodings = ["'index.html' is not in UTF-8 and does not say in what"]
    },
    Violation("PK6021", "a script in another encoding than its page", .note, hint: nil) { sample in
      sample.release.contents[1].references.foreignEncodings = ["'a.js' is not in UTF-8, as its pages are"]
    },
    Violation("PK6025", "a launch with a file that is gone", .warning, hint: "packer serve --layout") { sample in
      sample.release.contents[1].lostLaunch = ["js/old.js"]
    },
    Violation("PK6024", "an address from the top of the host, in browsers", hint: "without a slash") { sample in
      sample.release.configuration?.isForBrowsers = true
      sample.release.contents[1].references.absolute = ["'index.html', line 3, refers to '/js/a.js'"]
    },
    Violation("PK6024", "a text of a script that is perhaps such an address", .note, hint: nil) { sample in
      sample.release.configuration?.isForBrowsers = true
      sample.release.contents[1].references.absoluteGuesses = ["'js/a.js', line 3, has '/img/a.png'"]
    },
    Violation("PK6022", "a script that failed in a recorded run", .warning, hint: nil) { sample in
      sample.recordRun { $0.problems = [LoadRun.Problem("Uncaught Error: dead", place: "/a.js:1:7")] }
    },
    Violation("PK6022", "an error that a page wrote to the console", .note, hint: nil) { sample in
      sample.recordRun { $0.problems = [LoadRun.Problem("cannot play", place: LoadRun.Problem.console)] }
    },
    Violation("PK6023", "a film that no web view plays", .warning, hint: "convert it") { sample in
      sample.release.contents[1].unplayable = ["'intro.ogv'"]
    },
    Violation("PK6023", "a sound that older systems do not play", .note, hint: nil) { sample in
      sample.release.contents[1].newerMedia = ["'jump.ogg' (iOS 18.4)"]
    },
    Violation("PK6008", "an empty directory", .note, hint: "exclude it") { sample in
      sample.release.contents[1].emptyDirectories = ["'levels'"]
    },
    Violation("PK6006", "the same files in two packs", .warning, hint: "base: shared") { sample in
      sample.release.shared = [SharedContent(packs: ["core", "game-kart"], path: "lib/phaser.js", size: 1 << 20)]
    },
    Violation("PK6007", "two managed packs whose ids differ only in case", hint: "another id", also: ["PK2013", "PK2014", "PK5013"]) {
      sample in
      sample.release.configuration?.hosting = .managed
      sample.release.plist = nil
      sample.change(2) { $0.id = "CORE" }
      sample.release.configuration = try GateSample.configuration(for: sample.release.entries)
      sample.release.configuration?.hosting = .managed
    },
  ]

  private static let portals: [Violation] = [
    Violation("PK8001", "a page that is not at the top", hint: "'root' in packer.yml") { sample in
      sample.release.contents[1].game?.files[0].path = "www/index.html"
    },
    Violation("PK8001", "no game", hint: nil) { sample in
      for index in sample.release.contents.indices { sample.release.contents[index].game?.files = [.init(path: "a.png", size: 1)] }
    },
    Violation("PK8002", "more than a portal takes", hint: nil, also: ["PK8004", "PK8008"]) { sample in
      sample.addGameFiles(20) { .init(path: "a\($0).bin", size: 26_000_000) }
    },
    Violation("PK8003", "too many files", hint: nil) { sample in
      sample.addGameFiles(1500) { .init(path: "a\($0).png", size: 1) }
    },
    Violation("PK8004", "a large file", .warning, hint: nil) { sample in
      sample.addGameFiles(1) { _ in .init(path: "a.png", size: 512 << 10) }
    },
    Violation("PK8005", "a blank in a name", hint: "rename it") { sample in
      sample.addGameFiles(1) { _ in .init(path: "a b.png", size: 1) }
    },
    Violation("PK8006", "a path from the top of the host", hint: "leave the slash out") { sample in
      sample.release.contents[1].game?.references.absolute = ["'index.html', line 3, refers to '/a.js'"]
    },
    Violation("PK8006", "a text that is a path from the top of the host", .warning, hint: "leave the slash out") { sample in
      sample.release.contents[1].game?.references.absoluteGuesses = ["'a.js', line 3, refers to '/a.png'"]
    },
    Violation("PK8007", "a request to another host", hint: "into the game") { sample in
      sample.release.contents[1].game?.asked = ["https://api.example.org/score"]
    },
    Violation("PK8008", "a long wait", hint: nil) { sample in
      sample.release.contents[1].game?.start = .init(milliseconds: 1, size: 60_000_000)
    },
    Violation("PK8008", "a wait that is not known", .note, hint: "performance.mark('playable')") { sample in
      sample.addGameFiles(32) { .init(path: "a\($0).bin", size: 500_000) }
    },
    Violation("PK8009", "a slow start", .warning, hint: nil) { sample in
      sample.release.contents[1].game?.start = .init(milliseconds: 5000, size: 1)
    },
  ]

  private static let live: [Violation] =
    [
      found("PK7001", .otherManifest), found("PK7002", .missing), found("PK7003", .size), found("PK7004", .incomplete),
      found("PK7005", .content), found("PK7006", .encoding), found("PK7007", .insecure), found("PK7008", .host),
      found("PK7009", .redirect), found("PK7010", .wrongRange), found("PK7011", .noResumption, .warning),
      found("PK7012", .goneEarlier), found("PK7013", .type, .warning), found("PK7014", .shortCaching, .warning),
      found("PK7015", .longCaching, .warning), found("PK7016", .stale, .warning), found("PK7017", .noLength, .warning),
      found("PK7018", .certificate, .warning), found("PK7019", .refused), found("PK7020", .busy), found("PK7021", .clock),
      found("PK7022", .sharing, .warning), found("PK7023", .early),
    ] + [
      found("PK7006", .encoding, .warning, isLesser: true), found("PK7014", .shortCaching, .note, isLesser: true),
      found("PK7021", .clock, .warning, isLesser: true),
    ]

  private static func found(_ rule: String, _ kind: LiveFault.Kind, _ level: FindingLevel = .error, isLesser: Bool = false) -> Violation {
    Violation(rule, "a fault at the server: \(kind)", level, .live, hint: nil) { sample in
      sample.release.live?.faults = [LiveFault(kind: kind, pack: "core", message: "is wrong", isLesser: isLesser)]
    }
  }
}
