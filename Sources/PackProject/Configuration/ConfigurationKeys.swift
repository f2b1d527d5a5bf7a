/// The allowed values at a place of a configuration. The reader checks against it, and the JSON Schema is generated from it.
indirect enum ConfigurationShape: Sendable {
  case scalar(ScalarFormat)
  /// - Parameter isSet: whether an item may appear only once.
  case list(ScalarFormat, counts: ClosedRange<Int>, isSet: Bool)
  case maps(ConfigurationMap, smallestCount: Int)
  case map(ConfigurationMap)
  /// Two shapes of different types: a scalar, a list or a map.
  case either(ConfigurationShape, ConfigurationShape)
}

/// A map with the keys it may have.
struct ConfigurationMap: Sendable {
  /// The name of the map in messages.
  var noun: String
  var keys: [ConfigurationKey]
  /// Keys of which exactly one is required.
  var alternatives: [String] = []

  func key(_ name: String) -> ConfigurationKey? { keys.first { $0.name == name } }
}

/// A key of a map.
struct ConfigurationKey: Sendable {
  var name: String
  var shape: ConfigurationShape
  var isRequired = false
  /// One sentence about its meaning.
  var summary: String
  /// The default, as JSON.
  var standard: JSON?
  var example: JSON?

  init(
    _ name: String, _ shape: ConfigurationShape, isRequired: Bool = false, _ summary: String, standard: JSON? = nil,
    example: JSON? = nil
  ) {
    self.name = name
    self.shape = shape
    self.isRequired = isRequired
    self.summary = summary
    self.standard = standard
    self.example = example
  }
}

extension ConfigurationMap {
  /// All of `packer.yml`.
  static let root = ConfigurationMap(
    noun: "the configuration",
    keys: [
      ConfigurationKey("app", .map(app), "The app that the packs are for."),
      ConfigurationKey("serve", .map(serve), isRequired: true, "Where the packs are served."),
      ConfigurationKey(
        "key", .scalar(.keyReference),
        "Where the content key comes from: file:PATH, env:NAME, fd:N, stdin or cmd:'PROGRAM ARG…'. Never the key itself.",
        example: "file:arcade.key"),
      ConfigurationKey(
        "perPackKeys", .scalar(.flag),
        "Whether each pack has its own key, derived from the content key and the pack's name.", standard: false),
      ConfigurationKey(
        "signKey", .either(.scalar(.keyReference), .list(.keyReference, counts: 1...2, isSet: true)),
        "Where the signing key comes from, or a list of two. Never the key itself.", example: "file:arcade.sign.key"),
      ConfigurationKey(
        "trust", .list(.publicKey, counts: 1...16, isSet: true),
        "The public keys that the app trusts. Default: those of signKey."),
      ConfigurationKey(
        "keysFile", .scalar(.directory),
        "The file with the keys documents that 'packer key trust' writes. The app embeds one of them instead of public keys.",
        example: "packer.keys.json"),
      ConfigurationKey(
        "validity", .scalar(.duration), "How long a manifest is valid, in hours, days or weeks.", standard: "180 days"),
      ConfigurationKey(
        "hosting", .scalar(.choice(PackerConfiguration.Hosting.allCases.map(\.rawValue), "hosting mode")),
        "How packs are downloaded: by the app's extension (unmanaged), or by the system from your server (managed) or Apple's (apple).",
        standard: "unmanaged"),
      ConfigurationKey(
        "web", .scalar(.flag), "Whether browsers play the packs, too, so that 'packer verify' checks what they need.", standard: false),
      ConfigurationKey(
        "lock", .scalar(.choice(PackerConfiguration.LockPresence.allCases.map(\.rawValue), "word")),
        "Whether packer.lock.json must exist. Without it, versions start from 1 again, which devices refuse.", standard: "optional"),
      ConfigurationKey(
        "headroom", .scalar(.headroom), "What is added to the sum of each budget: a share or a size.", standard: "2 %"),
      ConfigurationKey(
        "manifestCeiling", .scalar(.size(1024...UInt64(Manifest.largestSize))),
        "The size reserved for the manifest in the budget, so that a growing manifest does not exceed it.", standard: "64 KiB"),
      ConfigurationKey(
        "updates", .either(.scalar(.choice(["none"], "word")), .map(updates)),
        "Which deltas are made from the packs of earlier releases, so that an update downloads what changed; none: no deltas."),
      ConfigurationKey("publish", .map(publish), "Where 'packer publish' uploads releases, and what 'packer prune' keeps there."),
      ConfigurationKey(
        "cache", .scalar(.text(longest: 2000)), "A place as in 'publish', where machines share the packs and deltas that they made.",
        example: "games:bucket/cache"),
      ConfigurationKey(
        "fallbackLanguage", .scalar(.language),
        "The language of the packs that a device gets if none of its user's languages is there.", example: "en"),
      ConfigurationKey("defaults", .map(defaults), "Settings for packs that do not set their own."),
      ConfigurationKey("packs", .maps(pack, smallestCount: 1), isRequired: true, "The packs."),
      ConfigurationKey("totals", .map(totals), "Your team's limits for all packs together, which 'packer verify' checks."),
      ConfigurationKey("ignore", .maps(ignored, smallestCount: 0), "Accepted findings of 'packer verify', each with its reason."),
    ])

  private static let app = ConfigurationMap(
    noun: "'app'",
    keys: [
      ConfigurationKey("bundleID", .scalar(.bundleID), "The bundle identifier.", example: "com.example.arcade"),
      ConfigurationKey(
        "group", .scalar(.appGroup), "The app group that the app and its extension share.", example: "group.com.example.arcade"),
    ])

  private static let serve = ConfigurationMap(
    noun: "'serve'",
    keys: [
      ConfigurationKey(
        "baseURL", .scalar(.baseURL), isRequired: true, "The https URL to which file names are appended.",
        example: "https://cdn.example.com/packs/"),
      ConfigurationKey(
        "manifestURL", .scalar(.manifestURL), "The https URL of the manifest. Default: manifest.json below baseURL."),
      ConfigurationKey(
        "hosts", .list(.host, counts: 0...100, isSet: true),
        "Hosts for the domain allow list, in addition to those of the URLs.", example: ["cdn.example.com", "*.example.net"]),
    ])

  private static let updates = ConfigurationMap(
    noun: "'updates'",
    keys: [
      ConfigurationKey(
        "from", .scalar(.number(1...Self.largestSize)),
        "The manifest version of the oldest release from which deltas are made. Default: the first manifest of the oldest app version in use.",
        example: 12),
      ConfigurationKey("worth", .scalar(.percent), "What a delta must save of the full pack, in percent.", standard: 30),
      ConfigurationKey(
        "packs", .scalar(.directory), "The directory in which 'packer release record' keeps the packs of releases.",
        standard: .text(ReleaseFile.released)),
      ConfigurationKey(
        "largestUpdate", .scalar(.size(0...Self.largestSize)),
        "The most that an update from a release in use may download, which 'packer verify' checks.", example: "20 MB"),
    ])

  private static let publish = ConfigurationMap(
    noun: "'publish'",
    keys: [
      ConfigurationKey(
        "to", .scalar(.text(longest: 2000)), "A directory, a remote of rclone with a colon, or cmd:'PROGRAM ARG…'.",
        example: "games:bucket/packs"),
      ConfigurationKey(
        "keep", .scalar(.number(1...10_000)), "How many of the newest releases keep their files.",
        standard: .number(Int(PackerConfiguration.Publish.defaultKeep))),
    ])

  /// The keys that both `defaults` and a pack may have.
  private static let settings: [ConfigurationKey] = [
    ConfigurationKey(
      "delivery", .scalar(.choice(DeliveryClass.allCases.map(\.rawValue), "delivery class")),
      "When it is downloaded: while the app is installed (essential), after that (prefetch), or when the app requests it (onDemand).",
      standard: "prefetch"),
    ConfigurationKey(
      "install", .scalar(.choice(InstallMode.allCases.map(\.rawValue), "install mode")),
      "How it is stored on the device: unpacked into files, or packed and read in place.", standard: "unpacked"),
    ConfigurationKey(
      "perVersionKeys", .scalar(.flag),
      "Whether each version has a key of its own, which a file beside the pack unwraps. Requires perPackKeys and install: packed.",
      standard: false),
    ConfigurationKey(
      "level", .scalar(.level), "The compression level: fast, balanced, smallest, or a zstd level from 1 to 19.", standard: "balanced"),
    ConfigurationKey(
      "exclude", .list(.glob, counts: 0...1000, isSet: true),
      "Patterns of paths to exclude. A pack's patterns are added to those of the defaults.", example: ["*.js.map", "drafts/"]),
    ConfigurationKey(
      "platforms", .list(.choice(ConfigurationKey.platforms, "platform"), counts: 0...4, isSet: true),
      "The platforms it is for. Missing or empty means all."),
    ConfigurationKey(
      "followSymlinks", .scalar(.flag), "Whether symbolic links inside the directory are followed.", standard: false),
    ConfigurationKey(
      "allowSecrets", .either(.scalar(.flag), .maps(allowedSecret, smallestCount: 1)),
      "Whether files that look like secrets are packed, or a list of those that are.", standard: false),
    ConfigurationKey(
      "allowUnportablePaths", .scalar(.flag), "Whether to pack names that some platforms do not support.", standard: false),
  ]

  private static let allowedSecret = ConfigurationMap(
    noun: "the entry",
    keys: [
      ConfigurationKey("path", .scalar(.glob), isRequired: true, "A pattern of paths, as in exclude.", example: "config/web.json"),
      ConfigurationKey(
        "rule", .scalar(.choice(AllowedSecret.rules, "kind of secret")), "The only kind that is allowed. Default: any.",
        example: "gcp-api-key"),
      ConfigurationKey("reason", .scalar(.text(longest: 2000)), isRequired: true, "Why it is no secret."),
    ])

  private static let defaults = ConfigurationMap(noun: "'defaults'", keys: settings)

  private static let pack = ConfigurationMap(
    noun: "the pack",
    keys: [
      ConfigurationKey(
        "id", .scalar(.packID), isRequired: true, "The name under which it is published. With each, it must contain ${name}.",
        example: "game-${name}"),
      ConfigurationKey("root", .scalar(.directory), "The directory to pack, relative to packer.yml.", example: "build/core"),
      ConfigurationKey(
        "each", .scalar(.directoryPattern),
        "Instead of root: makes one pack of each matching directory. ${name} is the name of the path component with the wildcard.",
        example: "build/games/*"),
    ] + settings.map(\.inPack) + [
      ConfigurationKey(
        "tags", .list(.text(longest: 64), counts: 0...64, isSet: true), "The tags by which the app requests it.", example: ["boot"]),
      ConfigurationKey("language", .scalar(.language), "The language it is for. Default: any.", example: "de"),
      ConfigurationKey(
        "base", .scalar(.packID),
        "The id of another pack, such as an engine that games share: devices that have that one download only what is new in this one.",
        example: "engine"),
      ConfigurationKey(
        "opens", .scalar(.time),
        "The time at which players can open it, which have it by then: 'packer publish --open' publishes the file that opens it. As perVersionKeys.",
        example: "2026-12-24T18:00:00Z"),
      ConfigurationKey(
        "layout", .scalar(.text(longest: 1000)),
        "The order file by which its files are laid out, so that a game reads its first files in one go: 'packer serve --layout' writes it.",
        example: "game.order"),
      ConfigurationKey("name", .scalar(.text(longest: 200)), "The name for people. Default: the id."),
      ConfigurationKey("description", .scalar(.text(longest: 2000)), "A description for people."),
      ConfigurationKey("budget", .map(packBudget), "Size limits of the pack."),
    ],
    alternatives: ["root", "each"])

  private static let packBudget = ConfigurationMap(
    noun: "'budget'",
    keys: limits + [
      ConfigurationKey(
        "launch", .scalar(.launch), "The maximum size of what is downloaded before it can be played, or its time at a rate.",
        example: "3s at 5Mbit/s"
      ),
      ConfigurationKey("message", .scalar(.text(longest: 2000)), "The message to show if a limit is exceeded."),
    ])

  private static let limits = [
    ConfigurationKey("download", .scalar(.size(0...Self.largestSize)), "The maximum size as served.", example: "12 MB"),
    ConfigurationKey("installed", .scalar(.size(0...Self.largestSize)), "The maximum size on the device.", example: "30 MB"),
  ]

  private static let totals = ConfigurationMap(
    noun: "'totals'",
    keys: [
      ConfigurationKey("essential", .map(ConfigurationMap(noun: "'essential'", keys: limits)), "Limits for all essential packs together."),
      ConfigurationKey("other", .map(ConfigurationMap(noun: "'other'", keys: limits)), "Limits for all prefetch packs together."),
      ConfigurationKey("message", .scalar(.text(longest: 2000)), "The message to show if a limit is exceeded."),
    ])

  private static let ignored = ConfigurationMap(
    noun: "the entry",
    keys: [
      ConfigurationKey("rule", .scalar(.rule), isRequired: true, "The id of the rule.", example: "PK6006"),
      ConfigurationKey("pack", .scalar(.packID), "The pack for which the finding is accepted. Default: any."),
      ConfigurationKey(
        "app", .scalar(.text(longest: 64)),
        "The released app version for which the finding is accepted. Rules about released apps require it.",
        example: "2.1.0"),
      ConfigurationKey(
        "until", .scalar(.date), "The last day (UTC) on which it is accepted. Rules about released apps require it.", example: "2027-01-31"),
      ConfigurationKey("reason", .scalar(.text(longest: 2000)), isRequired: true, "Why the finding is accepted."),
    ])

  /// The largest integer that JSON carries exactly (2^53 − 1).
  static let largestSize: UInt64 = (1 << 53) - 1
}

extension ConfigurationKey {
  static let platforms = DeviceProfile.Platform.allCases.map(\.rawValue)

  /// The same key for a pack, without a default: `defaults` applies instead.
  fileprivate var inPack: ConfigurationKey {
    var key = self
    key.standard = nil
    return key
  }
}

extension ConfigurationShape {
  /// Returns the keys that lead to the map with this key; nil if no map has it.
  ///
  /// - Parameter noun: the map that does not know it: the one around that is preferred.
  func place(of name: String, notIn noun: String) -> [String]? {
    switch self {
    case .scalar, .list: return nil
    case .either(let left, let right): return left.place(of: name, notIn: noun) ?? right.place(of: name, notIn: noun)
    case .map(let map), .maps(let map, _):
      if map.key(name) != nil { return [] }
      let places = map.keys.compactMap { key in key.shape.place(of: name, notIn: noun).map { (key, $0) } }
      return (places.first { $0.0.shape.holds(noun) } ?? places.first).map { [$0.0.name] + $0.1 }
    }
  }

  /// Whether a map is a value of this one's keys.
  private func holds(_ noun: String) -> Bool {
    guard case .map(let map) = self else { return false }
    return map.keys.contains { key in if case .map(let inner) = key.shape { inner.noun == noun } else { false } }
  }
}
