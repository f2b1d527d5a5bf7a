package import PackFormat
package import PackManifest

/// What `packer.yml` says, checked and complete: defaults are filled in, `each` has become one pack per directory.
package struct PackerConfiguration: Hashable, Sendable {
  /// The file it came from, as the caller named it.
  package var path: String
  /// The directory that relative paths in it start from, as a path the process can open; `.` for the working directory.
  package var directory: String
  /// The app that the packs are for.
  package var app: App
  /// Where the packs are served.
  package var serve: Serve
  /// Where the content key comes from, as `--key` takes it. Never the key.
  package var key: String?
  /// Whether that key is a root key, and each pack is made with one of its own that follows from it and the pack's name.
  package var perPackKeys = false
  /// Where the signing keys come from, as `--sign-key` takes it: one or two. Never the keys.
  package var signKeys: [String]
  /// The public keys (`pkp1-…`) that the app trusts, for `verify`.
  package var trustedKeys: [String]
  /// The packs, in the order of the file; those of one `each` in the byte order of their names.
  package var packs: [Pack]
  /// Limits over all packs.
  package var totals: Totals
  /// What budgets get on top of the sums.
  package var headroom: Headroom
  /// How long a manifest is good for, in seconds.
  package var validitySeconds: UInt64
  /// The size reserved for the manifest in the budget, in bytes, so that its own growth breaks nothing.
  package var manifestCeiling: UInt64
  /// How the packs come to the device.
  package var hosting: Hosting
  /// The installation events of managed asset packs; empty means both.
  package var installationEvents: [InstallationEvent]
  /// Findings that are accepted, each with its reason.
  package var ignored: [IgnoredRule]

  /// The app that the packs are for.
  package struct App: Hashable, Sendable {
    /// The bundle identifier, such as `com.example.arcade`.
    package var bundleID: String?
    /// The app group that app and extension share, such as `group.com.example.arcade`.
    package var group: String?
  }

  /// Where the packs are served.
  package struct Serve: Hashable, Sendable {
    /// The URL that file names are put behind; it ends in a slash.
    package var baseURL: String
    /// The URL of the manifest.
    package var manifestURL: String
    /// The entries of the domain allow list that are wished for besides the hosts of the URLs: lower case, without duplicates.
    package var hosts: [String]
  }

  /// How the packs come to the device.
  package enum Hosting: String, Hashable, Sendable, CaseIterable {
    /// The app's own extension downloads them from ``Serve/baseURL``.
    case unmanaged
    /// The system manages them, from the app's own server (iOS 26).
    case managed
    /// The system manages them, and Apple serves them (iOS 26).
    case apple
  }

  /// When the system fetches a managed asset pack.
  package enum InstallationEvent: String, Hashable, Sendable, CaseIterable {
    case firstInstallation
    case subsequentUpdate
  }

  /// One pack to build.
  package struct Pack: Hashable, Sendable {
    /// The name the pack is published under.
    package var id: PackName
    /// The directory that is packed, as a path the process can open.
    package var root: String
    /// The same as `packer.yml` names it: relative to ``PackerConfiguration/directory``.
    package var rootInProject: String
    /// When the system is to fetch it.
    package var delivery: DeliveryClass
    /// What becomes of it on the device.
    package var install: InstallMode
    /// What the app asks for it by.
    package var tags: [String]
    /// The language it is for.
    package var language: String?
    /// The platforms it is for; all where it is empty. Of `iOS`, `macOS`, `tvOS`, `visionOS`.
    package var platforms: [String]
    /// The name for people.
    package var name: String
    /// What it is, for people.
    package var description: String
    /// Patterns of paths to leave out.
    package var excludes: [String]
    /// How hard to compress, as `--level` takes it.
    package var level: String
    /// The most bytes of tar in one frame; what suits the level where it is nil.
    package var frameSize: UInt64?
    /// Whether links inside the directory are followed.
    package var followsSymlinks: Bool
    /// Whether files that look like secrets are packed.
    package var allowsSecrets: Bool
    /// Whether names are packed that some platforms cannot hold.
    package var allowsUnportablePaths: Bool
    /// What it may take.
    package var budget: PackBudget?
    /// Where its entry starts in the file.
    package var position: SourcePosition
  }

  /// What one pack may take.
  package struct PackBudget: Hashable, Sendable {
    /// The most bytes of the pack file.
    package var download: UInt64?
    /// The most bytes it may leave on the device.
    package var installed: UInt64?
    /// What the team wants to be told when it is more.
    package var message: String?
    /// Where it stands in the file.
    package var position: SourcePosition
  }

  /// Limits over all packs of a class, in bytes. They are the team's own: `verify` tells when they are passed.
  package struct Totals: Hashable, Sendable {
    /// Over essential packs, as served.
    package var essentialDownload: UInt64?
    /// Over essential packs, on the device.
    package var essentialInstalled: UInt64?
    /// Over prefetch packs, as served.
    package var otherDownload: UInt64?
    /// Over prefetch packs, on the device.
    package var otherInstalled: UInt64?
    /// What the team wants to be told when they are passed.
    package var message: String?
  }

  /// What a budget gets on top of its sum: the larger of the two, and never less than one byte.
  package struct Headroom: Hashable, Sendable {
    /// In hundredths of a percent.
    package var basisPoints: UInt64
    /// In bytes.
    package var bytes: UInt64
  }

  /// A finding that is accepted.
  package struct IgnoredRule: Hashable, Sendable {
    /// The id of the rule, such as `PK3007`.
    package var rule: String
    /// The pack it is accepted for; any where it is nil.
    package var pack: String?
    /// Why. Never empty.
    package var reason: String
    /// Where it stands in the file.
    package var position: SourcePosition
  }

  /// The validity unless `packer.yml` says otherwise: 180 days.
  package static let defaultValiditySeconds: UInt64 = 180 * 86_400
  /// The reserved size of the manifest unless `packer.yml` says otherwise, in bytes (64 KiB).
  package static let defaultManifestCeiling: UInt64 = 64 << 10
  /// 2 %.
  package static let defaultHeadroom = Headroom(basisPoints: 200, bytes: 1)
}
