package import PackManifest

/// What `packer.lock.json` remembers: what went out last, and which app versions are in players' hands.
///
/// Every collection is sorted, so that the file has one form and merges cleanly.
package struct ReleaseLock: Hashable, Sendable {
  /// The release that went out last.
  package var released: Release?
  /// The app versions in players' hands, in ascending order of their numbers.
  package var apps: [App]

  /// Makes a lock from its parts.
  package init(released: Release? = nil, apps: [App] = []) {
    self.released = released
    self.apps = apps
  }

  /// A `dist` that went out.
  package struct Release: Hashable, Sendable {
    /// The version of its manifest.
    package var manifestVersion: UInt64
    /// SHA-256 of the signed bytes of its manifest, 32 bytes.
    package var signedDigest: [UInt8]
    /// SHA-256 of the signed bytes as they would be without `version`, `issued` and `expires`, 32 bytes: equal where nothing but time went by.
    package var contentDigest: [UInt8]
    /// When its manifest was made.
    package var issued: ManifestTime
    /// From when on nothing new may be installed from it.
    package var expires: ManifestTime
    /// The root key from which each of its packs got a key of its own, 16 hexadecimal digits; nil where one key opens all.
    package var rootKeyID: String?
    /// Its packs, and those of earlier releases that are gone since (so that their versions are never used again), by id.
    package var packs: [Pack]

    /// Makes a value from its parts.
    package init(
      manifestVersion: UInt64, signedDigest: [UInt8], contentDigest: [UInt8], issued: ManifestTime, expires: ManifestTime,
      rootKeyID: String? = nil, packs: [Pack]
    ) {
      self.manifestVersion = manifestVersion
      self.signedDigest = signedDigest
      self.contentDigest = contentDigest
      self.issued = issued
      self.expires = expires
      self.rootKeyID = rootKeyID
      self.packs = packs
    }
  }

  /// A pack that went out.
  package struct Pack: Hashable, Sendable {
    /// The name it is published under.
    package var id: String
    /// Its version.
    package var version: UInt64
    /// SHA-256 of the pack file, 32 bytes.
    package var sha256: [UInt8]
    /// 32 bytes.
    package var contentRoot: [UInt8]
    /// 16 hexadecimal digits.
    package var keyID: String
    /// What the bytes of the pack depend on besides content, name and key, as one line of text.
    package var settings: String
    /// When these bytes were first made.
    package var created: ManifestTime
    /// Whether the last release no longer offers it.
    package var isRemoved: Bool

    /// Makes a value from its parts.
    package init(
      id: String, version: UInt64, sha256: [UInt8], contentRoot: [UInt8], keyID: String, settings: String,
      created: ManifestTime, isRemoved: Bool = false
    ) {
      self.id = id
      self.version = version
      self.sha256 = sha256
      self.contentRoot = contentRoot
      self.keyID = keyID
      self.settings = settings
      self.created = created
      self.isRemoved = isRemoved
    }
  }

  /// An app version in players' hands.
  package struct App: Hashable, Sendable {
    /// As the team writes it, such as `2.1.0`.
    package var version: String
    /// The numbers of its Info.plist; nil where Apple serves the packs, and there are none.
    package var budget: InstallBudget?
    /// The domain allow list of its Info.plist; nil where Apple serves the packs.
    package var hosts: [String]?
    /// `BAManifestURL` of its Info.plist; nil where Apple serves the packs.
    package var manifestURL: String?
    /// The public keys it trusts (`pkp1-…`).
    package var trustedKeys: [String]
    /// The ids of the content keys it holds or is given. That of a root key stands for all keys that are made from it.
    package var keyIDs: [String]
    /// The major and minor version of the pack format its runtime reads, such as `1.0`.
    package var format: String
    /// The version of the manifest it first saw.
    package var firstManifest: UInt64
    /// Whether nobody has it any more.
    package var isRetired: Bool

    /// Makes a value from its parts.
    package init(
      version: String, budget: InstallBudget?, hosts: [String]?, manifestURL: String?, trustedKeys: [String],
      keyIDs: [String], format: String, firstManifest: UInt64, isRetired: Bool = false
    ) {
      self.version = version
      self.budget = budget
      self.hosts = hosts
      self.manifestURL = manifestURL
      self.trustedKeys = trustedKeys
      self.keyIDs = keyIDs
      self.format = format
      self.firstManifest = firstManifest
      self.isRetired = isRetired
    }
  }
}
