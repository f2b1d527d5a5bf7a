import PackFormat
import PackManifest

/// What may stand at a place of a configuration. The reader checks against it, and the JSON Schema is made from it.
indirect enum ConfigurationShape: Sendable {
  case scalar(ScalarFormat)
  /// - Parameter isSet: whether an item may stand in it only once.
  case list(ScalarFormat, counts: ClosedRange<Int>, isSet: Bool)
  case maps(ConfigurationMap, smallestCount: Int)
  case map(ConfigurationMap)
  /// Forms that differ in their type: a scalar, a list or a map.
  case either(ConfigurationShape, ConfigurationShape)
}

/// A map with the keys it may have.
struct ConfigurationMap: Sendable {
  /// What has these keys, for a person.
  var noun: String
  var keys: [ConfigurationKey]
  /// Keys of which exactly one stands in the map.
  var alternatives: [String] = []

  func key(_ name: String) -> ConfigurationKey? { keys.first { $0.name == name } }
}

/// A key of a map.
struct ConfigurationKey: Sendable {
  var name: String
  var shape: ConfigurationShape
  var isRequired = false
  /// One sentence on what it says.
  var summary: String
  /// What holds where it is missing, as JSON.
  var standard: SchemaValue?
  var example: SchemaValue?

  init(
    _ name: String, _ shape: ConfigurationShape, isRequired: Bool = false, _ summary: String, standard: SchemaValue? = nil,
    example: SchemaValue? = nil
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
      ConfigurationKey("$schema", .scalar(.text(longest: 1000)), "For editors; packer does not look at it."),
      ConfigurationKey("app", .map(app), "The app that the packs are for."),
      ConfigurationKey("serve", .map(serve), isRequired: true, "Where the packs are served."),
      ConfigurationKey(
        "key", .scalar(.keyReference),
        "Where the content key comes from: file:PATH, env:NAME, fd:N, stdin or cmd:'PROGRAM ARG…'. Never the key itself.",
        example: "file:arcade.key"),
      ConfigurationKey(
        "perPackKeys", .scalar(.flag),
        "Whether each pack is made with a key of its own, which follows from the content key and the pack's name.", standard: false),
      ConfigurationKey(
        "signKey", .either(.scalar(.keyReference), .list(.keyReference, counts: 1...2, isSet: true)),
        "Where the signing key comes from, or two of them. Never the key itself.", example: "file:arcade.sign.key"),
      ConfigurationKey(
        "trust", .list(.publicKey, counts: 1...16, isSet: true),
        "The public keys that the app trusts. Those of signKey where it is missing."),
      ConfigurationKey(
        "validity", .scalar(.duration), "How long a manifest is good for, in hours, days or weeks.", standard: "180 days"),
      ConfigurationKey(
        "hosting", .scalar(.choice(PackerConfiguration.Hosting.allCases.map(\.rawValue), "way of hosting")),
        "Who downloads the packs: the app's own extension (unmanaged), or the system from your server (managed) or from Apple's (apple).",
        standard: "unmanaged"),
      ConfigurationKey(
        "events",
        .list(
          .choice(PackerConfiguration.InstallationEvent.allCases.map(\.rawValue), "installation event"), counts: 1...2, isSet: true),
        "The events at which the system fetches managed asset packs. Both where it is missing."),
      ConfigurationKey(
        "headroom", .either(.scalar(.headroom), .map(headroom)),
        "What each budget gets on top of its sum: a share, a size, or the larger of both.", standard: "2 %"),
      ConfigurationKey(
        "manifestCeiling", .scalar(.size(1024...UInt64(Manifest.largestSize))),
        "The size reserved for the manifest in the budget, so that its own growth breaks nothing.", standard: "64 KiB"),
      ConfigurationKey("defaults", .map(defaults), "What holds for every pack that does not say otherwise."),
      ConfigurationKey("packs", .maps(pack, smallestCount: 1), isRequired: true, "The packs."),
      ConfigurationKey("totals", .map(totals), "Limits of the team's own over all packs, which verify watches."),
      ConfigurationKey("ignore", .maps(ignored, smallestCount: 0), "Findings of verify that are accepted, each with its reason."),
    ])

  private static let app = ConfigurationMap(
    noun: "'app'",
    keys: [
      ConfigurationKey("bundleID", .scalar(.bundleID), "The bundle identifier.", example: "com.example.arcade"),
      ConfigurationKey(
        "group", .scalar(.appGroup), "The app group that app and extension share.", example: "group.com.example.arcade"),
    ])

  private static let serve = ConfigurationMap(
    noun: "'serve'",
    keys: [
      ConfigurationKey(
        "baseURL", .scalar(.baseURL), isRequired: true, "The https URL that file names are put behind.",
        example: "https://cdn.example.com/packs/"),
      ConfigurationKey(
        "manifestURL", .scalar(.manifestURL), "The https URL of the manifest. manifest.json behind baseURL where it is missing."),
      ConfigurationKey(
        "hosts", .list(.host, counts: 0...100, isSet: true),
        "Hosts that the domain allow list names besides those of the URLs.", example: ["cdn.example.com", "*.example.net"]),
    ])

  private static let headroom = ConfigurationMap(
    noun: "'headroom'",
    keys: [
      ConfigurationKey("percent", .scalar(.percent), "A share of the sum, in percent."),
      ConfigurationKey("bytes", .scalar(.size(0...Self.largestSize)), "A size."),
    ])

  /// What `defaults` and a pack may both say.
  private static let settings: [ConfigurationKey] = [
    ConfigurationKey(
      "delivery", .scalar(.choice(DeliveryClass.allCases.map(\.rawValue), "delivery")),
      "When the system is to fetch it: while the app is installed (essential), after that (prefetch), or when the app asks (onDemand).",
      standard: "prefetch"),
    ConfigurationKey(
      "install", .scalar(.choice(InstallMode.allCases.map(\.rawValue), "way of installing")),
      "What becomes of it on the device: unpacked into files, or packed and read in place.", standard: "unpacked"),
    ConfigurationKey(
      "level", .scalar(.level), "How hard to compress: fast, balanced, smallest, or a zstd level from 1 to 19.", standard: "balanced"),
    ConfigurationKey(
      "frameSize", .scalar(.size(UInt64(PackSettings.frameSizes.lowerBound)...UInt64(PackSettings.frameSizes.upperBound))),
      "The bytes compressed together, from 64 KiB to 8 MiB. What suits the level where it is missing.", example: "2 MiB"),
    ConfigurationKey(
      "exclude", .list(.glob, counts: 0...1000, isSet: true),
      "Patterns of paths to leave out. Those of a pack add to those of the defaults.", example: ["*.js.map", "drafts/"]),
    ConfigurationKey(
      "platforms", .list(.choice(ConfigurationKey.platforms, "platform"), counts: 0...4, isSet: true),
      "The platforms it is for. All where it is missing or empty."),
    ConfigurationKey(
      "followSymlinks", .scalar(.flag), "Whether links inside the directory are followed.", standard: false),
    ConfigurationKey(
      "allowSecrets", .scalar(.flag), "Whether files that look like secrets are packed.", standard: false),
    ConfigurationKey(
      "allowUnportablePaths", .scalar(.flag), "Whether names are packed that some platforms cannot hold.", standard: false),
  ]

  private static let defaults = ConfigurationMap(noun: "'defaults'", keys: settings)

  private static let pack = ConfigurationMap(
    noun: "the pack",
    keys: [
      ConfigurationKey(
        "id", .scalar(.packID), isRequired: true, "The name it is published under. With each, ${name} stands in it.",
        example: "game-${name}"),
      ConfigurationKey("root", .scalar(.directory), "The directory that is packed, from packer.yml.", example: "build/core"),
      ConfigurationKey(
        "each", .scalar(.directoryPattern),
        "In the place of root: a pack for every directory that matches. ${name} stands for what the component with the * is called.",
        example: "build/games/*"),
    ] + settings.map(\.inPack) + [
      ConfigurationKey("tags", .list(.text(longest: 64), counts: 0...64, isSet: true), "What the app asks for it by.", example: ["boot"]),
      ConfigurationKey("language", .scalar(.language), "The language it is for. Any where it is missing.", example: "de"),
      ConfigurationKey("name", .scalar(.text(longest: 200)), "The name for people. The id where it is missing."),
      ConfigurationKey("description", .scalar(.text(longest: 2000)), "What it is, for people."),
      ConfigurationKey("budget", .map(packBudget), "What it may take."),
    ],
    alternatives: ["root", "each"])

  private static let packBudget = ConfigurationMap(
    noun: "'budget'",
    keys: limits + [ConfigurationKey("message", .scalar(.text(longest: 2000)), "What the team wants to be told when it is more.")])

  private static let limits = [
    ConfigurationKey("download", .scalar(.size(0...Self.largestSize)), "The most bytes as served.", example: "12 MB"),
    ConfigurationKey("installed", .scalar(.size(0...Self.largestSize)), "The most bytes on the device.", example: "30 MB"),
  ]

  private static let totals = ConfigurationMap(
    noun: "'totals'",
    keys: [
      ConfigurationKey("essential", .map(ConfigurationMap(noun: "'essential'", keys: limits)), "Over essential packs."),
      ConfigurationKey("other", .map(ConfigurationMap(noun: "'other'", keys: limits)), "Over prefetch packs."),
      ConfigurationKey("message", .scalar(.text(longest: 2000)), "What the team wants to be told when they are passed."),
    ])

  private static let ignored = ConfigurationMap(
    noun: "the entry",
    keys: [
      ConfigurationKey("rule", .scalar(.rule), isRequired: true, "The id of the rule.", example: "PK6006"),
      ConfigurationKey("pack", .scalar(.packID), "The pack it is accepted for. Any where it is missing."),
      ConfigurationKey("reason", .scalar(.text(longest: 2000)), isRequired: true, "Why it is accepted."),
    ])

  /// What JSON carries exactly (2^53 − 1).
  private static let largestSize: UInt64 = (1 << 53) - 1
}

extension ConfigurationKey {
  static let platforms = ["iOS", "macOS", "tvOS", "visionOS"]

  /// The same key in a pack, where the defaults hold instead.
  fileprivate var inPack: ConfigurationKey {
    var key = self
    key.standard = nil
    return key
  }
}

extension ConfigurationShape {
  /// The map with this key somewhere inside, and the keys that lead there.
  func place(of name: String) -> [String]? {
    switch self {
    case .scalar, .list: return nil
    case .either(let left, let right): return left.place(of: name) ?? right.place(of: name)
    case .map(let map), .maps(let map, _):
      if map.key(name) != nil { return [] }
      for key in map.keys {
        if let inner = key.shape.place(of: name) { return [key.name] + inner }
      }
      return nil
    }
  }
}
