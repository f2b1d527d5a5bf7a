public import PackManifest

/// What `packer.lock.json` remembers: what went out last, and which app versions are in players' hands.
///
/// Every collection is sorted, so that the file has one form and merges cleanly.
public struct ReleaseLock: Hashable, Sendable {
  /// The release that went out last.
  public var released: Release?
  /// The app versions in players' hands, in ascending order of their numbers.
  public var apps: [App]

  /// Makes a lock from its parts.
  public init(released: Release? = nil, apps: [App] = []) {
    self.released = released
    self.apps = apps
  }

  /// A `dist` that went out.
  public struct Release: Hashable, Sendable {
    /// The version of its manifest.
    public var manifestVersion: UInt64
    /// SHA-256 of the signed bytes of its manifest, 32 bytes.
    public var signedDigest: [UInt8]
    /// SHA-256 of the signed bytes as they would be without `version`, `issued` and `expires`, 32 bytes: equal where nothing but time went by.
    public var contentDigest: [UInt8]
    /// When its manifest was made.
    public var issued: ManifestTime
    /// From when on nothing new may be installed from it.
    public var expires: ManifestTime
    /// The root key from which each of its packs got a key of its own, 16 hexadecimal digits; nil where one key opens all.
    public var rootKeyID: String?
    /// Its packs, and those of earlier releases that are gone since (so that their versions are never used again), by id.
    public var packs: [Pack]

    /// Makes a value from its parts.
    public init(
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
  public struct Pack: Hashable, Sendable {
    /// The name it is published under.
    public var id: String
    /// Its version.
    public var version: UInt64
    /// SHA-256 of the pack file, 32 bytes.
    public var sha256: [UInt8]
    /// 32 bytes.
    public var contentRoot: [UInt8]
    /// 16 hexadecimal digits.
    public var keyID: String
    /// What the bytes of the pack depend on besides content, name and key, as one line of text.
    public var settings: String
    /// When these bytes were first made.
    public var created: ManifestTime
    /// Whether the last release no longer offers it.
    public var isRemoved: Bool

    /// Makes a value from its parts.
    public init(
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
  public struct App: Hashable, Sendable {
    /// As the team writes it, such as `2.1.0`.
    public var version: String
    /// The numbers of its Info.plist; nil where Apple serves the packs, and there are none.
    public var budget: InstallBudget?
    /// The domain allow list of its Info.plist; nil where Apple serves the packs.
    public var hosts: [String]?
    /// `BAManifestURL` of its Info.plist; nil where Apple serves the packs.
    public var manifestURL: String?
    /// The public keys it trusts (`pkp1-…`).
    public var trustedKeys: [String]
    /// The ids of the content keys it holds or is given. That of a root key stands for all keys that are made from it.
    public var keyIDs: [String]
    /// The major and minor version of the pack format its runtime reads, such as `1.0`.
    public var format: String
    /// The version of the manifest it first saw.
    public var firstManifest: UInt64
    /// Whether nobody has it any more.
    public var isRetired: Bool

    /// Makes a value from its parts.
    public init(
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
