/// What was released: the last release in `packer.lock.json`, and the app versions that players use in `packer.apps`.
///
/// Every collection is sorted, and equal contents give equal files. A pack takes one line and an app version one file, so that independent changes
/// merge.
package struct ReleaseLock: Hashable, Sendable {
  /// The last release.
  package var released: Release?
  /// The app versions that players use, in ascending order of their numbers.
  package var apps: [App] {
    didSet { if !apps.isEmpty { hasApps = true } }
  }
  /// Whether app versions were ever recorded. The lock file says it, so that the loss of all of them is noticed.
  var hasApps: Bool

  /// Makes a lock from its parts.
  package init(released: Release? = nil, apps: [App] = []) {
    self.released = released
    self.apps = apps
    hasApps = !apps.isEmpty
  }

  /// In the place of a digest of content: different from that of any content, so that whatever is built next gets a version after this one.
  static let noContent = [UInt8](repeating: 0, count: 32)

  /// A `dist` that was released.
  package struct Release: Hashable, Sendable {
    /// The version of its manifest.
    package var manifestVersion: UInt64
    /// SHA-256 of the signed bytes of its manifest, 32 bytes.
    package var signedDigest: [UInt8]
    /// SHA-256 of the signed bytes as they would be without `version`, `issued` and `expires`, 32 bytes. Equal if nothing else changed.
    package var contentDigest: [UInt8]
    /// The time at which its manifest was made.
    package var issued: ManifestTime
    /// The time from which nothing new may be installed from it.
    package var expires: ManifestTime
    /// The id of the root key from which the key of each pack is derived, 16 hexadecimal digits. Nil if one key opens all packs.
    package var rootKeyID: String?
    /// Its packs in the order of their ids. Packs of earlier releases that were removed since are included, so that their versions are never used
    /// again.
    package var packs: [Pack]
    /// When and by whom it was recorded, if that is known.
    package var recorded: RecordOrigin?
    /// The largest number of shards that its catalogue or an earlier one had, a power of two. It never falls.
    package var shards = 1

    /// Whether two branches released different content under its version. Then nothing else may be released under it.
    package var isDoubled: Bool { contentDigest == ReleaseLock.noContent }
  }

  /// A pack that was released.
  package struct Pack: Hashable, Sendable {
    /// The name it is published under.
    package var id: String
    /// Its version.
    package var version: UInt64
    /// The size of the pack file in bytes, if it is known.
    package var size: UInt64?
    /// SHA-256 of the pack file, 32 bytes.
    package var sha256: [UInt8]
    /// The digest that names the tree, 32 bytes.
    package var contentRoot: [UInt8]
    /// The id of the key that opens it, 16 hexadecimal digits.
    package var keyID: String
    /// The settings that the bytes of the pack depend on besides content, name and key, as one line of text.
    package var settings: String
    /// The time at which these bytes were first made.
    package var created: ManifestTime
    /// How devices keep it. They learn of a change with the next version. Nil if it is not known.
    package var install: InstallMode?
    /// Whether the last release no longer offers it.
    package var isRemoved = false
    /// What it is if it is no version for everybody; nil if it is one.
    package var standing: Standing?

    package enum Standing: String, Hashable, Sendable {
      /// Only devices of a rollout take it.
      case candidate
      /// It was a candidate, and was taken back for good.
      case withdrawn
    }

    /// Whether two branches released different content under its version. Then nothing else may be released under it.
    package var isDoubled: Bool { contentRoot == ReleaseLock.noContent }
  }

  /// An app version that players use.
  package struct App: Hashable, Sendable {
    /// The version as the team writes it, such as `2.1.0`.
    package var version: String
    /// The platform of this build of the version, such as `iOS`. Nil if the version has one build.
    package var platform: String?
    /// The install budget in its Info.plist. Nil if Apple serves the packs: then there is none.
    package var budget: InstallBudget?
    /// The domain allow list in its Info.plist. Nil if Apple serves the packs.
    package var hosts: [String]?
    /// `BAManifestURL` in its Info.plist. Nil if Apple serves the packs.
    package var manifestURL: String?
    /// The public keys it trusts (`pkp1-…`).
    package var trustedKeys: [String]
    /// The version of the keys document that it embeds. Nil if it embeds plain keys.
    package var keysVersion: UInt64?
    /// The ids of the content keys it holds or is given. The id of a root key covers all keys that are derived from it.
    package var keyIDs: [String]
    /// The major and minor version of the pack format its runtime reads, such as `1.0`.
    package var format: String
    /// The version of the manifest it first saw.
    package var firstManifest: UInt64
    /// The app versions recorded before it that none of these followed yet, as in ``stem``. Together they show whether the file of one is lost.
    package var follows: [String] = []
    /// Whether players no longer use it.
    package var isRetired = false
    /// When and by whom it was recorded, if that is known.
    package var recorded: RecordOrigin?

    /// The platform, if this packer knows it.
    package var device: DeviceProfile.Platform? { platform.flatMap(DeviceProfile.Platform.init(rawValue:)) }

    /// The version for messages, with its platform if it has one.
    package var title: String { platform.map { "\(version) for \($0)" } ?? version }
  }
}
