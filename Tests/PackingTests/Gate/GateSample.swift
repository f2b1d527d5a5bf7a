import TestSupport

@testable import PackBuild
@testable import PackGate
@testable import PackProject

/// A release of three packs without any fault, as a value in which tests change one thing.
struct GateSample {
  var release: Facts

  static let signer = "pkp1-signer"
  static let keyID = "29cd85b748764750"
  static let host = "cdn.example.com"

  init() throws(PackError) {
    let packs = [
      Self.entry("core", .essential, .unpacked, size: 3_000_000, content: 5_000_000, installed: 5_120_000, seed: 1),
      Self.entry("game-kart", .prefetch, .unpacked, size: 8_000_000, content: 12_000_000, installed: 12_288_000, seed: 2, version: 2),
      Self.entry("game-poker", .onDemand, .packed, size: 2_000_000, content: 2_500_000, installed: 2_600_960, seed: 3),
    ]
    let configuration = try Self.configuration(for: packs)
    let budget = try ReleaseBudget(
      packs: packs, manifestCeiling: configuration.manifestCeiling, headroom: configuration.headroom
    ).install
    let now = Self.time("2026-11-21T12:00:00Z")
    let manifest = Manifest(
      version: 2, issued: Self.time("2026-11-20T12:00:00Z"), expires: Self.time("2027-05-20T12:00:00Z"), budget: budget, packs: packs)
    var sighting = ManifestSighting(path: "dist/manifest.json", size: 4000, manifest: manifest)
    sighting.keyIDs = ["17b6f57631a77084"]
    sighting.trusted = [Self.signer]
    sighting.validSigners = [Self.signer]
    sighting.signedDigest = Self.digest(101)
    sighting.contentDigest = Self.digest(102)
    let keys = try InfoPlist.wanted(for: configuration, budget: budget)
    let plist = PlistSighting(
      path: "Info.plist", keys: keys,
      names: ["AppGroupIdentifier", "BAInitialDownloadRestrictions", "BAManifestURL", "BAMaxInstallSize", "BAEssentialMaxInstallSize"])
    release = Facts(
      setting: Setting(directory: "dist", now: now), contentKeys: ContentKeys(id: Self.keyID), manifest: sighting,
      packs: packs.map(Self.sighting), contents: packs.map(Self.contents), plist: plist, lock: Self.lock(budget),
      configuration: configuration)
    let app = try Self.app()
    (release.app, release.targets) = (app, AppTargets(app: app.bundle.plist, downloader: app.extensions[0].plist))
    release.run = LoadRun()
    release.live = LiveSighting()
    // The games are pages, which WeChat does not take.
    release.portals = Portal.all.filter { $0.entry == ["index.html"] }
    release.hasSources = true
  }

  /// Returns the report of a verification with changed options.
  func report(_ change: (inout ReleaseVerification) -> Void = { _ in }) -> ReleaseReport {
    var verification = ReleaseVerification("dist", now: release.setting.now)
    verification.configuration = release.configuration
    change(&verification)
    return verification.judge(release)
  }

  /// Adds a recorded run of the second pack.
  mutating func recordRun(_ body: (inout LoadRun.Pack) -> Void) {
    let entry = release.entries[1]
    var pack = LoadRun.Pack(id: entry.id, version: entry.version, contentRoot: entry.contentRoot)
    body(&pack)
    release.run = LoadRun(packs: [pack])
  }

  /// Adds files to the game in the second pack.
  mutating func addGameFiles(_ count: Int, _ file: (Int) -> PortalGame.File) {
    release.contents[1].game?.files += (0..<count).map(file)
  }

  /// Changes an entry of the manifest, and the matching values of its file.
  mutating func change(_ number: Int, _ body: (inout ManifestPack) -> Void) {
    guard var manifest = release.manifest.manifest else { return }
    body(&manifest.packs[number])
    release.manifest.manifest = manifest
    var sighting = Self.sighting(manifest.packs[number])
    sighting.start?.core = release.packs[number].start?.core ?? []
    release.packs[number] = sighting
    release.contents[number] = Self.contents(manifest.packs[number])
  }

  /// Makes a group of languages of the two games.
  mutating func group(fallback: String?) {
    guard var manifest = release.manifest.manifest else { return }
    let names = ["kart", "poker"]
    for (index, language) in zip([1, 2], names) {
      manifest.packs[index].delivery = .prefetch
      manifest.packs[index].language = language
      release.configuration?.packs[index].delivery = .prefetch
      release.configuration?.packs[index].language = language
    }
    LanguageGroup.complete(&manifest.packs, fallback: fallback)
    release.manifest.manifest = manifest
    release.configuration?.fallbackLanguage = fallback
    try? refit()
  }

  /// Adds a sound opener of `game-poker` that is in the release, and then changes what was found of it.
  mutating func addOpener(opens: ManifestTime? = nil, _ change: (inout OpenerSighting) -> Void) {
    let opener = ManifestOpener(opens: opens, size: 156, sha256: [UInt8](repeating: 0x5A, count: 32))
    var sighting = OpenerSighting(
      id: "game-poker", opener: opener, path: "dist/\(ManifestPack.openerName("game-poker", opener.sha256))", size: 156, absence: "",
      sha256: opener.sha256, isOfPack: true)
    change(&sighting)
    release.openers.append(sighting)
  }

  /// Adds a sound delta from the recorded version of `game-kart`, and then changes what was found of it.
  mutating func addDelta(_ change: (inout DeltaSighting) -> Void = { _ in }) {
    let entry = release.entries[1]
    let delta = ManifestDelta(bases: [Self.digest(72)], size: 1_000_000, sha256: Self.digest(120))
    var sighting = DeltaSighting(id: entry.id, delta: delta, path: "dist/\(ManifestPack.publishedName(entry.id, delta.sha256))")
    (sighting.size, sighting.sha256, sighting.start) = (delta.size, delta.sha256, Self.sighting(entry).start)
    sighting.start?.core = [UInt8](repeating: 0, count: 64) + delta.sha256
    (sighting.isDelta, sighting.isNamed, sighting.contentRoot) = (true, true, entry.contentRoot)
    change(&sighting)
    release.updates.deltas.append(sighting)
    release.updates.recordedRoots = Set((release.lock?.released?.packs ?? []).map(\.contentRoot))
    release.configuration?.updates = PackerConfiguration.Updates(packs: "released")
  }

  /// Adds small packs on demand until there are `count`, all of them published before.
  mutating func fill(to count: Int) throws(PackError) {
    guard var manifest = release.manifest.manifest else { return }
    let kinds = (release.configuration?.ignored, release.configuration?.hosting)
    for number in manifest.packs.count..<count {
      var entry = Self.entry("more-\(1000 + number)", .onDemand, .packed, size: 1000, content: 1000, installed: 4096, seed: 4)
      entry.sha256 = (0..<16).flatMap { _ in [UInt8(200 + number >> 8), UInt8(truncatingIfNeeded: number)] }
      entry.url = "https://\(Self.host)/packs/\(entry.id)-\(entry.sha256.prefix(8).hex).pack"
      entry.contentRoot = entry.sha256
      manifest.packs.append(entry)
      release.packs.append(Self.sighting(entry))
      release.contents.append(Self.contents(entry))
      release.lock?.released?.packs.append(
        ReleaseLock.Pack(
          id: entry.id, version: 1, sha256: entry.sha256, contentRoot: entry.contentRoot, keyID: Self.keyID, settings: "level balanced",
          created: Self.time("2026-10-01T00:00:00Z")))
    }
    release.manifest.manifest = manifest
    release.configuration = try Self.configuration(for: manifest.packs)
    release.configuration?.ignored = kinds.0 ?? []
    release.configuration?.hosting = kinds.1 ?? .unmanaged
  }

  /// Computes all budgets again: those of the manifest, the Info.plist and the released apps.
  mutating func refit() throws(PackError) {
    guard var manifest = release.manifest.manifest, let configuration = release.configuration else { return }
    let budget = try ReleaseBudget(
      packs: manifest.packs, manifestCeiling: configuration.manifestCeiling, headroom: configuration.headroom
    ).install
    manifest.budget = budget
    release.manifest.manifest = manifest
    release.plist?.keys.budget = budget
    release.lock?.apps[0].budget = budget
  }

  // MARK: Parts

  static func time(_ text: String) -> ManifestTime {
    guard let time = ManifestTime(text) else { preconditionFailure("\(text) is not a time") }
    return time
  }

  static func digest(_ seed: UInt8) -> [UInt8] { [UInt8](repeating: seed, count: 32) }

  static func entry(
    _ id: String, _ delivery: DeliveryClass, _ install: InstallMode, size: UInt64, content: UInt64, installed: UInt64, seed: UInt8,
    version: UInt64 = 1
  ) -> ManifestPack {
    let sha256 = digest(seed)
    return ManifestPack(
      id: id, version: version, url: "https://\(host)/packs/\(id)-\(sha256.prefix(8).hex).pack", size: size, sha256: sha256,
      contentRoot: digest(seed + 50), contentSize: content, installSize: installed, files: 10, maxFrame: 2 << 20, keyID: keyID,
      delivery: delivery, install: install, tags: [id])
  }

  static func app() throws(PackError) -> BuiltApp {
    let sample = SampleApp()
    func bundle(_ place: String) throws(PackError) -> BuiltApp.Bundle {
      let plist = "\(place)/Info.plist"
      let name = String(plist.dropFirst("Payload/Game.app/".count))
      return BuiltApp.Bundle(
        place: place, plist: try InfoPlist(parsing: sample.files[name] ?? [], path: plist), plistPlace: plist,
        groups: .known([SampleApp.group]))
    }
    return BuiltApp(
      path: "build/Game.ipa", bundle: try bundle("Payload/Game.app"),
      extensions: [try bundle("Payload/Game.app/Extensions/Downloader.appex")], secrets: [], packs: [], searched: 4, unsearched: 0)
  }

  static func sighting(_ entry: ManifestPack) -> PackSighting {
    PackSighting(
      path: "dist/\(entry.fileName)", size: entry.size, sha256: entry.sha256,
      start: PackSighting.Start(
        format: "1.0", packVersion: entry.version, packID: digest(9), keyID: entry.keyID,
        core: [UInt8](repeating: 0, count: 64) + entry.sha256),
      content: PackSighting.Content(
        isNamed: true, contentRoot: entry.contentRoot, contentSize: entry.contentSize, files: entry.files, maxFrame: entry.maxFrame))
  }

  static func contents(_ entry: ManifestPack) -> PackContents {
    PackContents(
      installSize: entry.installSize, game: PortalGame(files: [PortalGame.File(path: "index.html", size: 1000)]), differences: [])
  }

  static func lock(_ budget: InstallBudget) -> ReleaseLock {
    func recorded(_ id: String, _ seed: UInt8, content: UInt8) -> ReleaseLock.Pack {
      ReleaseLock.Pack(
        id: id, version: 1, sha256: digest(seed), contentRoot: digest(content), keyID: keyID, settings: "level balanced",
        created: time("2026-10-01T00:00:00Z"))
    }
    return ReleaseLock(
      released: ReleaseLock.Release(
        manifestVersion: 1, signedDigest: digest(111), contentDigest: digest(112), issued: time("2026-10-01T00:00:00Z"),
        expires: time("2027-03-30T00:00:00Z"),
        packs: [recorded("core", 1, content: 51), recorded("game-kart", 22, content: 72), recorded("game-poker", 3, content: 53)]),
      apps: [
        ReleaseLock.App(
          version: "2.1.0", budget: budget, hosts: [host], manifestURL: "https://\(host)/packs/manifest.json", trustedKeys: [signer],
          keyIDs: [keyID], format: "1.0", firstManifest: 1)
      ])
  }

  static func configuration(for entries: [ManifestPack]) throws(PackError) -> PackerConfiguration {
    var packs: [PackerConfiguration.Pack] = []
    for (number, entry) in entries.enumerated() {
      packs.append(
        PackerConfiguration.Pack(
          id: try PackName(entry.id), root: "build/\(entry.id)", rootInProject: "build/\(entry.id)", delivery: entry.delivery,
          install: entry.install, tags: entry.tags, language: nil, platforms: [], name: entry.id, description: "", budget: nil,
          position: SourcePosition(line: 10 + number, column: 5)))
    }
    return PackerConfiguration(
      path: "packer.yml", directory: ".", app: PackerConfiguration.App(bundleID: "com.example.arcade", group: "group.com.example.arcade"),
      serve: PackerConfiguration.Serve(
        baseURL: "https://\(host)/packs/", manifestURL: "https://\(host)/packs/manifest.json", hosts: []),
      key: nil, signKeys: [], trustedKeys: [signer], packs: packs, totals: PackerConfiguration.Totals(),
      headroom: PackerConfiguration.defaultHeadroom, validitySeconds: PackerConfiguration.defaultValiditySeconds,
      manifestCeiling: PackerConfiguration.defaultManifestCeiling, hosting: .unmanaged, ignored: [])
  }
}
