public import PackFormat
public import PackManifest

/// What `packer.yml` says, checked and complete: defaults are filled in, `each` has become one pack per directory.
public struct PackerConfiguration: Hashable, Sendable {
  /// The file it came from, as the caller named it.
  public var path: String
  /// The directory that relative paths in it start from, as a path the process can open; `.` for the working directory.
  public var directory: String
  /// The app that the packs are for.
  public var app: App
  /// Where the packs are served.
  public var serve: Serve
  /// Where the content key comes from, as `--key` takes it. Never the key.
  public var key: String?
  /// Whether that key is a root key, and each pack is made with one of its own that follows from it and the pack's name.
  public var perPackKeys = false
  /// Where the signing keys come from, as `--sign-key` takes it: one or two. Never the keys.
  public var signKeys: [String]
  /// The public keys (`pkp1-…`) that the app trusts, for `verify`.
  public var trustedKeys: [String]
  /// The packs, in the order of the file; those of one `each` in the byte order of their names.
  public var packs: [Pack]
  /// Limits over all packs.
  public var totals: Totals
  /// What budgets get on top of the sums.
  public var headroom: Headroom
  /// How long a manifest is good for, in seconds.
  public var validitySeconds: UInt64
  /// The size reserved for the manifest in the budget, in bytes, so that its own growth breaks nothing.
  public var manifestCeiling: UInt64
  /// How the packs come to the device.
  public var hosting: Hosting
  /// The installation events of managed asset packs; empty means both.
  public var installationEvents: [InstallationEvent]
  /// Findings that are accepted, each with its reason.
  public var ignored: [IgnoredRule]

  /// The app that the packs are for.
  public struct App: Hashable, Sendable {
    /// The bundle identifier, such as `com.example.arcade`.
    public var bundleID: String?
    /// The app group that app and extension share, such as `group.com.example.arcade`.
    public var group: String?
  }

  /// Where the packs are served.
  public struct Serve: Hashable, Sendable {
    /// The URL that file names are put behind; it ends in a slash.
    public var baseURL: String
    /// The URL of the manifest.
    public var manifestURL: String
    /// The entries of the domain allow list that are wished for besides the hosts of the URLs: lower case, without duplicates.
    public var hosts: [String]
  }

  /// How the packs come to the device.
  public enum Hosting: String, Hashable, Sendable, CaseIterable {
    /// The app's own extension downloads them from ``Serve/baseURL``.
    case unmanaged
    /// The system manages them, from the app's own server (iOS 26).
    case managed
    /// The system manages them, and Apple serves them (iOS 26).
    case apple
  }

  /// When the system fetches a managed asset pack.
  public enum InstallationEvent: String, Hashable, Sendable, CaseIterable {
    case firstInstallation
    case subsequentUpdate
  }

  /// One pack to build.
  public struct Pack: Hashable, Sendable {
    /// The name the pack is published under.
    public var id: PackName
    /// The directory that is packed, as a path the process can open.
    public var root: String
    /// The same as `packer.yml` names it: relative to ``PackerConfiguration/directory``.
    public var rootInProject: String
    /// When the system is to fetch it.
    public var delivery: DeliveryClass
    /// What becomes of it on the device.
    public var install: InstallMode
    /// What the app asks for it by.
    public var tags: [String]
    /// The language it is for.
    public var language: String?
    /// The platforms it is for; all where it is empty. Of `iOS`, `macOS`, `tvOS`, `visionOS`.
    public var platforms: [String]
    /// The name for people.
    public var name: String
    /// What it is, for people.
    public var description: String
    /// Patterns of paths to leave out.
    public var excludes: [String]
    /// How hard to compress, as `--level` takes it.
    public var level: String
    /// The most bytes of tar in one frame; what suits the level where it is nil.
    public var frameSize: UInt64?
    /// Whether links inside the directory are followed.
    public var followsSymlinks: Bool
    /// Whether files that look like secrets are packed.
    public var allowsSecrets: Bool
    /// Whether names are packed that some platforms cannot hold.
    public var allowsUnportablePaths: Bool
    /// What it may take.
    public var budget: PackBudget?
    /// Where its entry starts in the file.
    public var position: SourcePosition
  }

  /// What one pack may take.
  public struct PackBudget: Hashable, Sendable {
    /// The most bytes of the pack file.
    public var download: UInt64?
    /// The most bytes it may leave on the device.
    public var installed: UInt64?
    /// What the team wants to be told when it is more.
    public var message: String?
    /// Where it stands in the file.
    public var position: SourcePosition
  }

  /// Limits over all packs of a class, in bytes. They are the team's own: `verify` tells when they are passed.
  public struct Totals: Hashable, Sendable {
    /// Over essential packs, as served.
    public var essentialDownload: UInt64?
    /// Over essential packs, on the device.
    public var essentialInstalled: UInt64?
    /// Over prefetch packs, as served.
    public var otherDownload: UInt64?
    /// Over prefetch packs, on the device.
    public var otherInstalled: UInt64?
    /// What the team wants to be told when they are passed.
    public var message: String?
  }

  /// What a budget gets on top of its sum: the larger of the two, and never less than one byte.
  public struct Headroom: Hashable, Sendable {
    /// In hundredths of a percent.
    public var basisPoints: UInt64
    /// In bytes.
    public var bytes: UInt64
  }

  /// A finding that is accepted.
  public struct IgnoredRule: Hashable, Sendable {
    /// The id of the rule, such as `PK3007`.
    public var rule: String
    /// The pack it is accepted for; any where it is nil.
    public var pack: String?
    /// Why. Never empty.
    public var reason: String
    /// Where it stands in the file.
    public var position: SourcePosition
  }

  /// The validity unless `packer.yml` says otherwise: 180 days.
  public static let defaultValiditySeconds: UInt64 = 180 * 86_400
  /// The reserved size of the manifest unless `packer.yml` says otherwise, in bytes (64 KiB).
  public static let defaultManifestCeiling: UInt64 = 64 << 10
  /// 2 %.
  public static let defaultHeadroom = Headroom(basisPoints: 200, bytes: 1)
}

/// A place in a text file.
public struct SourcePosition: Hashable, Sendable {
  /// From 1.
  public var line: Int
  /// From 1, in characters.
  public var column: Int

  /// Makes a place from its numbers.
  public init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }
}
