/// The content of `packer.yml`, checked and complete: defaults are filled in, and `each` is expanded into one pack per directory.
package struct PackerConfiguration: Hashable, Sendable {
  /// The file it came from, as the caller named it.
  package var path: String
  /// The directory to which relative paths in the file refer, as a path the process can open; `.` for the working directory.
  package var directory: String
  /// The app that the packs are for.
  package var app: App
  /// Where the packs are served.
  package var serve: Serve
  /// Where the content key comes from, as `--key` takes it. Never the key itself.
  package var key: String?
  /// Whether that key is a root key, from which each pack's own key is derived with the pack's name.
  package var perPackKeys = false
  /// Where the signing keys come from, as `--sign-key` takes them: at most two. Never the keys themselves.
  package var signKeys: [String]
  /// The public keys (`pkp1-…`) that the app trusts, for `verify`.
  package var trustedKeys: [String]
  /// The file with the keys documents, as a path the process can open; nil if the app embeds plain keys.
  package var keysFile: String?
  /// The packs, in the order of the file. Packs of the same `each` are in the byte order of their names.
  package var packs: [Pack]
  /// The language whose packs devices get to whose user's languages none of a group is close; nil for none.
  package var fallbackLanguage: String?
  /// Limits for all packs together.
  package var totals: Totals
  /// What is added to the sum of each budget.
  package var headroom: Headroom
  /// How long a manifest is valid, in seconds.
  package var validitySeconds: UInt64
  /// The size reserved for the manifest in the budget, in bytes, so that a growing manifest does not exceed it.
  package var manifestCeiling: UInt64
  /// How the packs get to the device.
  package var hosting: Hosting
  /// Whether browsers play the packs, too.
  package var isForBrowsers = false
  /// Whether the lock file must exist.
  package var lock = LockPresence.optional
  /// Which deltas are made to packs that changed; nil for none.
  package var updates: Updates?
  /// Where releases are uploaded.
  package var publish = Publish()
  /// Where machines share packs, in the form of ``Publish/place``; nil for nowhere.
  package var cache: String?
  /// Accepted findings, each with its reason.
  package var ignored: [IgnoredRule]
  /// Whether an entry has no packs, because it is read with ``Sources/optional`` and `each` finds no directory.
  package var lacksPacks = false

  /// The app that the packs are for.
  package struct App: Hashable, Sendable {
    /// The bundle identifier, such as `com.example.arcade`.
    package var bundleID: String?
    /// The app group that the app and its extension share, such as `group.com.example.arcade`.
    package var group: String?
  }

  /// Where the packs are served.
  package struct Serve: Hashable, Sendable {
    /// The URL to which file names are appended; it ends in a slash.
    package var baseURL: String
    /// The URL of the manifest.
    package var manifestURL: String
    /// Entries for the domain allow list in addition to the hosts of the URLs: lower case, without duplicates.
    package var hosts: [String]
  }

  /// How the packs get to the device.
  package enum Hosting: String, Hashable, Sendable, CaseIterable {
    /// The app's own extension downloads them from ``Serve/baseURL``.
    case unmanaged
    /// The system manages them and downloads them from the app's own server (iOS 26).
    case managed
    /// The system manages them and downloads them from Apple's servers (iOS 26).
    case apple
  }

  /// Whether the lock file must exist.
  package enum LockPresence: String, Hashable, Sendable, CaseIterable {
    case optional
    case required
  }

  /// Which deltas a build makes from the packs of earlier releases.
  package struct Updates: Hashable, Sendable {
    /// The manifest version of the oldest release from which deltas are made. Nil means the oldest one that players may have: the first of the
    /// oldest app version in use.
    package var from: UInt64?
    /// The share of the full pack that a delta must save, in hundredths of a percent.
    package var worth: UInt64 = 3000
    /// The directory with the packs of recorded releases, as a path the process can open.
    package var packs: String
    /// The most bytes that an update from a release in use may download; nil for no limit.
    package var largest: UInt64?

    package init(packs: String) {
      self.packs = packs
    }
  }

  /// Whether a place is a directory, as rclone decides it: a remote or a command has a colon before the first slash.
  package static func isDirectory(_ place: String) -> Bool { !place.prefix { $0 != "/" }.contains(":") }

  /// Where releases are uploaded.
  package struct Publish: Hashable, Sendable {
    /// The place: a directory as a path the process can open, a remote of rclone, or a command.
    package var place: String?
    /// The number of the newest releases whose files stay there.
    package var keep = defaultKeep

    /// The number without one in the configuration.
    package static let defaultKeep: UInt64 = 3
  }

  /// One pack to build.
  package struct Pack: Hashable, Sendable {
    /// The name under which the pack is published.
    package var id: PackName
    /// The directory to pack, as a path the process can open.
    package var root: String
    /// The same directory, relative to ``PackerConfiguration/directory``.
    package var rootInProject: String
    /// When it is downloaded.
    package var delivery: DeliveryClass
    /// How it is stored on the device.
    package var install: InstallMode
    /// The tags by which the app requests it.
    package var tags: [String]
    /// The language it is for; nil for any.
    package var language: String?
    /// The platforms it is for, from `iOS`, `macOS`, `tvOS`, `visionOS`; empty means all.
    package var platforms: [String]
    /// The name for people.
    package var name: String
    /// The description for people.
    package var description: String
    /// How it is made.
    package var settings = PackSettings()
    /// The path of the order file by which it is laid out, as the process can open it; nil for none. ``PackSettings/order`` has its content.
    package var layout: String?
    /// The id of another pack over which it is also published as a delta; nil for none.
    package var base: String?
    /// Whether each version has a key of its own.
    package var hasVersionKeys = false
    /// The time at which the version opens; nil if it does so with its release. Then it has a key of its own, too.
    package var opens: ManifestTime?
    /// Its size limits.
    package var budget: PackBudget?
    /// The position of its entry in the file.
    package var position: SourcePosition

    /// Returns a pack that was released and has no entry in the file any more. What it has was let through then.
    package static func released(_ id: PackName) -> Pack {
      var pack = Pack(
        id: id, root: "", rootInProject: id.text, delivery: .onDemand, install: .unpacked, tags: [], language: nil, platforms: [],
        name: id.text, description: "", position: SourcePosition(line: 1, column: 1))
      (pack.settings.allowsSecrets, pack.settings.allowsUnportablePaths) = (true, true)
      return pack
    }
  }

  /// The size limits of one pack.
  package struct PackBudget: Hashable, Sendable {
    /// The maximum size of the pack file in bytes.
    package var download: UInt64?
    /// The maximum size on the device in bytes.
    package var installed: UInt64?
    /// The maximum number of bytes that are downloaded before it can be played.
    package var launch: UInt64?
    /// The message to show if a limit is exceeded.
    package var message: String?
    /// The position in the file.
    package var position: SourcePosition
  }

  /// The team's own limits for all packs of a class together, in bytes. `verify` reports if they are exceeded.
  package struct Totals: Hashable, Sendable {
    /// The limit for essential packs, as served.
    package var essentialDownload: UInt64?
    /// The limit for essential packs, on the device.
    package var essentialInstalled: UInt64?
    /// The limit for prefetch packs, as served.
    package var otherDownload: UInt64?
    /// The limit for prefetch packs, on the device.
    package var otherInstalled: UInt64?
    /// The message to show if a limit is exceeded.
    package var message: String?
  }

  /// What is added to the sum of a budget: the larger of the two, and at least one byte.
  package struct Headroom: Hashable, Sendable {
    /// A share of the sum, in hundredths of a percent.
    package var basisPoints: UInt64
    /// A size in bytes.
    package var bytes: UInt64
  }

  /// An accepted finding.
  package struct IgnoredRule: Hashable, Sendable {
    /// The id of the rule, such as `PK3007`.
    package var rule: String
    /// The pack for which it is accepted; nil for any.
    package var pack: String?
    /// The released app version for which it is accepted; nil for any.
    package var app: String?
    /// The last second in which it is accepted; nil if there is no end.
    package var until: ManifestTime?
    /// The reason. Never empty.
    package var reason: String
    /// The position in the file.
    package var position: SourcePosition
  }

  /// The default validity: 180 days.
  package static let defaultValiditySeconds: UInt64 = 180 * 86_400
  /// The default size reserved for the manifest, in bytes (64 KiB).
  package static let defaultManifestCeiling: UInt64 = 64 << 10
  /// The default headroom: 2 %.
  package static let defaultHeadroom = Headroom(basisPoints: 200, bytes: 1)
}
