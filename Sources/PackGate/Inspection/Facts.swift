/// What an inspection found, and what the caller gave. Rules read no files and no clock, and of this only the parts that they take (``Fact``).
struct Facts: Sendable {
  var setting: Setting
  var contentKeys: ContentKeys
  var manifest: ManifestSighting
  var catalogue = CatalogueSighting()
  var beside = Beside()
  /// The pack files, one for each entry in the order of ``entries``; empty if files were not inspected.
  var packs: [PackSighting] = []
  /// What is in them, in the same order.
  var contents: [PackContents] = []
  /// File contents that are in more than one pack.
  var shared: [SharedContent] = []
  var updates = UpdateInspection.Result()
  /// The leads of the packs that have one.
  var leads: [LeadSighting] = []
  /// The openers of the packs that have one.
  var openers: [OpenerSighting] = []
  var plist: PlistSighting?
  /// The built app from which the Info.plist was taken.
  var app: BuiltApp?
  /// The app's Info.plist with other files of the app project; nil if none were given.
  var targets: AppTargets?
  /// What browsers loaded of its packs; nil if that is not known.
  var run: LoadRun?
  /// What was found at the server; nil if it was not asked.
  var live: LiveSighting?
  /// The web portals that get the games.
  var portals: [Portal] = []
  /// The publisher's keys documents; nil if the configuration names no file of them.
  var keys: KeysSighting?
  var lock: ReleaseLock?
  /// The manifest that devices have now.
  var published: PublishedManifest?
  var configuration: PackerConfiguration?
  /// Whether the source directory of any pack is there.
  var hasSources = false
  /// The rules that are required, but cannot be checked.
  var unchecked: [ReleaseReport.RuleOutcome] = []

  /// The ids of the packs that are unsound. Found once, after the packs were inspected, because the remedy for each pack depends on all of them.
  var unsound: Set<String> = []

  /// The entries of the manifest and its catalogue; empty if it could not be read.
  var entries: [ManifestPack] { catalogue.packs ?? manifest.manifest?.packs ?? [] }

  /// Finds the packs that are unsound.
  mutating func findUnsound() {
    unsound = Set(zip(entries, zip(packs, contents)).filter { !$1.0.isSound(as: $0, $1.1) }.map(\.0.id))
  }

  /// The downloader extensions of the built app.
  var downloaders: [BuiltApp.Bundle] { app?.downloaders(.init(configuration, plist)) ?? [] }
}

// MARK: What rules take

/// How a part of the facts is found.
struct FactSource<Part: Sendable>: Sendable {
  /// The input that was not given if the part is missing.
  let input: ReleaseInput?
  /// Returns the part; nil if it is missing.
  let known: @Sendable (Facts) -> Part?

  init(_ input: ReleaseInput? = nil, known: @escaping @Sendable (Facts) -> Part?) {
    (self.input, self.known) = (input, known)
  }
}

/// A part of the facts. If it is missing, no rule is skipped.
protocol OptionalFact: Sendable {
  static var source: FactSource<Self> { get }
}

/// A part of the facts that a rule can take. A rule is skipped if one is missing. A rule that takes an optional one is checked without it, too.
protocol Fact: OptionalFact {}

extension Optional: OptionalFact where Wrapped: OptionalFact {
  static var source: FactSource<Wrapped?> { FactSource { .some(Wrapped.source.known($0)) } }
}

extension Optional: Fact where Wrapped: OptionalFact {}

/// A part that is missing, so that a rule is skipped.
struct MissingFact: Error {}

extension Fact {
  /// The input that is missing if the part is; nil if it never is, or if rules are checked without it.
  static var input: ReleaseInput? { source.input }

  /// Returns the part.
  static func required(in facts: Facts) throws(MissingFact) -> Self {
    guard let part = source.known(facts) else { throw MissingFact() }
    return part
  }

  /// Returns the input that is missing because the part is.
  static func missing(in facts: Facts) -> ReleaseInput? { source.known(facts) == nil ? source.input : nil }
}

/// What the caller said, and where the release is.
struct Setting: Fact {
  /// The directory of the release, as the caller named it.
  var directory: String
  /// Whether payloads were not read.
  var isQuick = false
  /// The lock file, as the caller named it.
  var lockPath = ReleaseFile.lock
  /// The current time for the checks.
  var now: ManifestTime
  /// Returns the advice about an error of the client; nil if there is none.
  var wording: @Sendable (PackError) -> String? = { $0.advice?.description }
  /// The places on this machine where a root signing key was found.
  var rootKeyPlaces: [String] = []

  static let source = FactSource { $0.setting }

  /// The command that moves files out of the directory, and never replaces a file that was moved before.
  func movingAside(_ paths: [String]) -> String {
    let parent = PathParts(directory)?.directory ?? "\(directory)/.."
    let target = ShellWord.path(parent == "." ? Self.aside : parent == "/" ? "/\(Self.aside)" : "\(parent)/\(Self.aside)")
    return "mkdir -p \(target) && mv -n \(paths.map(ShellWord.path).joined(separator: " ")) \(target)/"
  }

  /// The directory beside that of the release.
  private static let aside = "outside-of-release"
}

/// The ids of content keys.
struct ContentKeys: Fact {
  /// The id of the content key that was given.
  var id: String?
  /// The ids of root keys, by the ids of the pack keys derived from them. Taken from the lock file, the build record and the given key.
  var roots: [String: String] = [:]

  static let source = FactSource { $0.contentKeys }

  /// Returns whether a pack was made with its own key; nil if that is not known.
  func hasOwnKey(_ entry: ManifestPack) -> Bool? {
    if roots[entry.keyID] != nil { return true }
    return entry.keyID == id ? false : nil
  }

  /// Returns whether an app version has a key, or the root key from which it is derived.
  func isHeld(_ keyID: String, by app: ReleaseLock.App) -> Bool {
    app.keyIDs.contains(keyID) || roots[keyID].map(app.keyIDs.contains) ?? false
  }
}

/// The content key that was given.
struct GivenKey: Fact {
  let id: String
  private let roots: [String: String]

  static let source = FactSource(.key) { facts in facts.contentKeys.id.map { GivenKey(id: $0, roots: facts.contentKeys.roots) } }

  /// Returns whether it opens the pack of an entry, according to the key id in the manifest.
  func opens(_ entry: ManifestPack) -> Bool { entry.keyID == id || roots[entry.keyID] == id }
}

extension ManifestSighting: Fact { static let source = FactSource { $0.manifest } }

/// A manifest that could be read, with the entries of the shards that could be read.
struct Listing: Fact {
  /// The path of the manifest, as the caller named it.
  let path: String
  /// Its size in bytes.
  let size: UInt64
  let content: Manifest
  let entries: [ManifestPack]
  /// The shards of its catalogue.
  let shards: [ShardSighting]
  /// The keys documents in it, not verified.
  let keysDocuments: [[UInt8]]

  static let source = FactSource(.manifest) { facts -> Listing? in
    let document = facts.manifest
    guard let content = document.manifest else { return nil }
    return Listing(
      path: document.path, size: document.size, content: content, entries: facts.entries, shards: facts.catalogue.shards,
      keysDocuments: document.keysDocuments)
  }

  /// The sizes that the release needs on any device.
  var demand: ReleaseDemand { ReleaseDemand(entries, manifestSize: size) }

  /// Returns the sizes that it needs on the devices of the app with an Info.plist: those of its platform, if it says which.
  func demand(for plist: PlistSighting) -> ReleaseDemand { demand(for: plist.platform) }

  /// Returns the sizes that it needs on the devices of a platform. If it is nil, each size is that of the platform for which it is largest.
  func demand(for platform: DeviceProfile.Platform?) -> ReleaseDemand { ReleaseDemand(entries, for: platform, manifestSize: size) }

  /// Returns the size that the budget reserves for the manifest.
  func ceiling(_ configuration: PackerConfiguration) -> UInt64 {
    let (configured, keysSize) = (configuration.manifestCeiling, keysDocuments.reduce(0) { $0 + $1.count })
    return (try? ManifestReserve.size(for: content, keysSize: keysSize, configured: configured)) ?? configured
  }

  /// The hosts that packs are served from, in ascending order, each with the ids of its packs. Invalid URLs are reported by PK4007.
  var hosts: [(host: String, packs: [String])] {
    var packs: [String: [String]] = [:]
    for entry in entries {
      guard let url = try? ServedURL(entry.url) else { continue }
      packs[url.host, default: []].append(entry.id)
    }
    return packs.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}

/// What depends on the whole catalogue of the manifest, if it has one: which files it does not list, and which deltas.
struct WholeCatalogue: Fact {
  /// The deltas of all packs, in their order.
  let deltas: [DeltaSighting]
  /// Pack files in the directory that are not in the manifest.
  let strayPacks: [String]
  /// Shards in the directory that are not in the manifest.
  let strayShards: [String]

  static let source = FactSource(.catalogue) { facts -> WholeCatalogue? in
    guard facts.catalogue.isRead else { return nil }
    return WholeCatalogue(
      deltas: facts.updates.deltas, strayPacks: facts.beside.strayPacks, strayShards: facts.beside.strayShards)
  }
}

extension Beside: Fact {
  static let source = FactSource(.manifest) { facts in facts.manifest.manifest.map { _ in facts.beside } }
}

/// The pack files and deltas that the manifest names.
struct Files: Fact {
  let entries: [ManifestPack]
  private let packs: [PackSighting]
  private let unsound: Set<String>
  let deltas: [DeltaSighting]
  let leads: [LeadSighting]
  let openers: [OpenerSighting]

  /// The deltas, the leads, and the openers that are there or must be.
  var beside: [any SideFile] { deltas + leads + openers.filter { $0.isExpected || $0.size != nil } }

  static let source = FactSource(.files) { facts -> Files? in
    let entries = facts.entries
    guard facts.manifest.manifest != nil, facts.packs.count == entries.count else { return nil }
    return Files(
      entries: entries, packs: facts.packs, unsound: facts.unsound, deltas: facts.updates.deltas, leads: facts.leads,
      openers: facts.openers)
  }

  /// The entries with their files.
  var pairs: [(entry: ManifestPack, file: PackSighting)] { zip(entries, packs).map { ($0, $1) } }

  /// Returns the entries with their files and what was found in them.
  func with(_ payload: Payload) -> [(entry: ManifestPack, file: PackSighting, contents: PackContents)] {
    zip(pairs, payload.contents).map { ($0.entry, $0.file, $1) }
  }

  /// The ids of the packs whose file has the bytes of another pack of the release, with the id of that pack.
  var misplaced: [String: String] {
    let owners = Dictionary(entries.map { ($0.sha256, $0.id) }, uniquingKeysWith: { first, _ in first })
    var misplaced: [String: String] = [:]
    for (entry, file) in pairs {
      guard let sha256 = file.sha256, sha256 != entry.sha256, let owner = owners[sha256] else { continue }
      misplaced[entry.id] = owner
    }
    return misplaced
  }

  /// Returns the command that builds a pack again.
  ///
  /// A build of one pack keeps all others and fails if one of them is unsound. In that case the command builds all packs.
  func rebuild(_ id: String) -> String {
    unsound.isSubset(of: [id]) ? "packer build \(id)" : "packer build"
  }
}

extension PackSighting {
  /// Returns whether everything that was inspected matches the manifest entry, and nothing in the pack requires another build.
  fileprivate func isSound(as entry: ManifestPack, _ contents: PackContents) -> Bool {
    guard size == entry.size, failure == nil, sha256 ?? entry.sha256 == entry.sha256 else { return false }
    if let start, start.packVersion != entry.version || start.keyID != entry.keyID { return false }
    let wanted = Content(
      isNamed: true, contentRoot: entry.contentRoot, contentSize: entry.contentSize, files: entry.files, maxFrame: entry.maxFrame)
    guard content ?? wanted == wanted, contents.installSize ?? entry.installSize == entry.installSize else { return false }
    return contents.junk.isEmpty && contents.visible.isEmpty && contents.differences?.isEmpty ?? true
  }
}

/// What was found in all bytes of the packs.
struct Payload: Fact {
  /// One for each entry of the manifest.
  fileprivate let contents: [PackContents]
  /// File contents that are in more than one pack.
  let shared: [SharedContent]

  static let source = FactSource(.payload) { facts -> Payload? in
    // A key that opens none of the packs shows nothing.
    let isLocked = !facts.packs.isEmpty && facts.packs.allSatisfy { $0.failure?.code == .wrongKey || $0.failure?.code == .notWrapped }
    guard facts.contentKeys.id != nil, !facts.setting.isQuick, !isLocked else { return nil }
    return Payload(contents: facts.contents, shared: facts.shared)
  }
}

/// The lock file, and what devices with recorded releases have and download.
struct RecordedReleases: Fact {
  let lock: ReleaseLock
  /// The lock file, as the caller named it.
  let path: String
  /// The content roots of all packs of the recorded releases that players may have; nil if these are not known.
  let roots: Set<[UInt8]>?
  /// What players of those releases download, newest first.
  let downloads: [ReleaseUpdate]
  /// Changes that make updates large for a reason that can be mended.
  let burdens: [UpdateBurden]

  static let source = FactSource(.lock) { facts -> RecordedReleases? in
    let updates = facts.updates
    return facts.lock.map {
      RecordedReleases(
        lock: $0, path: facts.setting.lockPath, roots: updates.recordedRoots, downloads: updates.downloads, burdens: updates.burdens)
    }
  }

  /// The newest release.
  var newest: ReleaseLock.Release? { lock.released }

  /// The released app versions that are not retired.
  var apps: [ReleaseLock.App] { lock.apps.filter { !$0.isRetired } }

  /// The packs of the newest release, and those that were removed before it.
  var packs: [ReleaseLock.Pack] { newest?.packs ?? [] }

  /// Returns the entries that the lock file also has, each with its record there.
  func records(of entries: [ManifestPack]) -> [(entry: ManifestPack, recorded: ReleaseLock.Pack)] {
    var known: [String: ReleaseLock.Pack] = [:]
    for pack in packs { known[pack.id] = pack }
    return entries.compactMap { entry in known[entry.id].map { (entry, $0) } }
  }
}

extension PackerConfiguration: Fact {
  static let source = FactSource(.configuration) { $0.configuration }

  /// The configurations of the packs, by their ids.
  var packsByID: [String: Pack] { Dictionary(packs.map { ($0.id.text, $0) }, uniquingKeysWith: { first, _ in first }) }
}

extension PackerConfiguration.Hosting {
  /// How the packs are hosted: as packer.yml says, otherwise as the Info.plist does.
  init(_ configuration: PackerConfiguration?, _ plist: PlistSighting?) {
    self = configuration?.hosting ?? plist?.keys.hosting ?? .unmanaged
  }
}

/// The directories that packer.yml packs, at least one of which exists.
struct Sources: Fact {
  static let source = FactSource(.sources) { $0.hasSources ? Sources() : nil }
}

extension PlistSighting: Fact { static let source = FactSource(.plist) { $0.plist } }

extension BuiltApp: Fact {
  static let source = FactSource(.app) { $0.app }

  /// Returns its downloader extensions.
  func downloaders(_ hosting: PackerConfiguration.Hosting) -> [Bundle] {
    extensions.filter { $0.isDownloader(isManaged: hosting != .unmanaged) }
  }
}

extension AppTargets: Fact { static let source = FactSource(.targets) { $0.targets } }

/// The app groups of the built app and its downloader extensions.
struct Entitlements: Fact {
  /// The groups of the app itself.
  let groups: [String]
  /// The downloader extensions, whose groups are known.
  let downloaders: [BuiltApp.Bundle]

  static let source = FactSource(.entitlements) { facts -> Entitlements? in
    guard let groups = facts.app?.bundle.groups.names, facts.downloaders.allSatisfy({ $0.groups.names != nil }) else { return nil }
    return Entitlements(groups: groups, downloaders: facts.downloaders)
  }
}

extension LoadRun: Fact { static let source = FactSource(.run) { $0.run } }

/// That browsers play the packs, too.
struct ForBrowsers: Fact {
  static let source = FactSource { $0.configuration?.isForBrowsers == true ? ForBrowsers() : nil }
}

/// The web portals that get the games, at least one.
struct Portals: Fact {
  let all: [Portal]

  static let source = FactSource(.portal) { facts in facts.portals.isEmpty ? nil : Portals(all: facts.portals) }
}

extension LiveSighting: Fact { static let source = FactSource(.live) { $0.live } }

extension KeysSighting: OptionalFact { static let source = FactSource { $0.keys } }

extension PublishedManifest: OptionalFact { static let source = FactSource { $0.published } }

/// The rules that are required, but cannot be checked.
struct UncheckedRules: Fact {
  let outcomes: [ReleaseReport.RuleOutcome]

  static let source = FactSource { UncheckedRules(outcomes: $0.unchecked) }
}
