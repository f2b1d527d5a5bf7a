/// The packs of one release that are offered for download, and their install budget (FORMAT.md §9.3).
///
/// A value carries no signature. ``SignedManifest`` is the document that it comes from.
public struct Manifest: Hashable, Sendable {
  /// The version of the manifest, at most 2^53 − 1. Later manifests have higher versions.
  public var version: UInt64
  /// The time at which it was made. Readers do not require it.
  public var issued: ManifestTime?
  /// The time from which nothing new may be installed from it.
  public var expires: ManifestTime
  /// The sizes that the app's Info.plist must contain for this release. Readers do not require them.
  public var budget: InstallBudget?
  /// What entries do not repeat.
  public var defaults: ManifestDefaults
  /// The packs, in the order of the document.
  public var packs: [ManifestPack]
  /// The files that list the on-demand packs, a power of two of them. Empty if there are none.
  package var catalogue: [Shard] = []
  /// What decides which devices take the candidates of packs, in ascending order of the ids.
  package var rollouts: [Rollout] = []

  /// Makes a manifest without checking its values.
  public init(
    version: UInt64, issued: ManifestTime?, expires: ManifestTime, budget: InstallBudget?,
    defaults: ManifestDefaults = ManifestDefaults(), packs: [ManifestPack]
  ) {
    self.version = version
    self.issued = issued
    self.expires = expires
    self.budget = budget
    self.defaults = defaults
    self.packs = packs
  }

  /// The only schema that this build reads.
  public static let schema = "pack-manifest/1"
  /// The largest document, in bytes (1 MiB).
  public static let largestSize = 1 << 20
}

/// What all entries of a ``Manifest`` have in common, written once.
///
/// An entry has its own URL or key id in the document only if it differs.
public struct ManifestDefaults: Hashable, Sendable {
  /// The URL to which the published name of a file is appended. It ends with a slash. If nil, each entry has its own URL.
  public var baseURL: String?
  /// The id of the key that opens packs, 16 hexadecimal digits. If nil, each entry has its own.
  public var keyID: String?

  /// Creates defaults without checking them.
  public init(baseURL: String? = nil, keyID: String? = nil) {
    self.baseURL = baseURL
    self.keyID = keyID
  }
}

/// One pack of a ``Manifest``.
public struct ManifestPack: Hashable, Sendable {
  /// The name under which the pack is published.
  public var id: String
  /// The pack version, which is also in the pack's header.
  public var version: UInt64
  /// The URL of the pack.
  public var url: String
  /// The exact size of the pack file in bytes, as served.
  public var size: UInt64
  /// The SHA-256 of the pack file, 32 bytes.
  public var sha256: [UInt8]
  /// The digest that identifies the tree, 32 bytes.
  public var contentRoot: [UInt8]
  /// The sum of the sizes of all files in bytes.
  public var contentSize: UInt64
  /// The space that the unpacked tree occupies on the device in bytes: each file rounded up to 4 KiB, plus 4 KiB for each directory.
  public var installSize: UInt64
  /// The number of records: files and empty directories.
  public var files: UInt64
  /// The largest decompressed data frame in bytes.
  public var maxFrame: UInt64
  /// The id of the key that opens the pack, 16 hexadecimal digits.
  public var keyID: String
  /// When the system fetches the pack.
  public var delivery: DeliveryClass
  /// How the pack is installed on the device.
  public var install: InstallMode
  /// The tags by which the app requests the pack.
  public var tags: [String]
  /// The name for people. Empty if it is the id.
  public var name: String
  /// A description of the pack for people.
  public var description: String
  /// The time at which these bytes of the pack were first made. `packer` does not write it.
  public var created: ManifestTime?
  /// The platforms that the pack is for. Empty means all platforms.
  public var platforms: [String]
  /// The language that the pack is for, as a language tag. Nil means any language.
  public var language: String?
  /// The languages of the packs of which a device takes one, this one included, in ascending order. Empty if there is only this one.
  public var languages: [String] = []
  /// The one of them that devices take to whose user's languages none of them is close. Nil if they take none.
  public var fallbackLanguage: String?
  /// The id of another pack over which there is a delta to this one, for devices that have it. Nil if there is none.
  public var basePack: String?
  /// The deltas to this pack, in ascending order of their digests. At most ``ManifestDelta/largestCount``.
  package var deltas: [ManifestDelta] = []
  /// The lead, by which the pack is played while it arrives; nil if it has none.
  package var stream: ManifestStream?
  /// The file that opens this edition, which has a key of its own; nil if the pack's key opens it.
  package var opener: ManifestOpener?
  /// The edition that only the devices of a rollout take; nil if there is none.
  package var candidate: ManifestCandidate? {
    get { candidates.first }
    set { candidates = newValue.map { [$0] } ?? [] }
  }
  /// One at most. Without one, it takes the memory of a pointer.
  private var candidates: [ManifestCandidate] = []
  /// The version of the stable edition, if this is the entry of a device that takes the candidate; otherwise nil.
  package var stableVersion: UInt64?

  /// Makes an entry without checking its values.
  public init(
    id: String, version: UInt64, url: String, size: UInt64, sha256: [UInt8], contentRoot: [UInt8], contentSize: UInt64,
    installSize: UInt64, files: UInt64, maxFrame: UInt64, keyID: String, delivery: DeliveryClass, install: InstallMode,
    tags: [String] = [], name: String = "", description: String = "", created: ManifestTime? = nil,
    platforms: [String] = [], language: String? = nil, basePack: String? = nil
  ) {
    self.id = id
    self.version = version
    self.url = url
    self.size = size
    self.sha256 = sha256
    self.contentRoot = contentRoot
    self.contentSize = contentSize
    self.installSize = installSize
    self.files = files
    self.maxFrame = maxFrame
    self.keyID = keyID
    self.delivery = delivery
    self.install = install
    self.tags = tags
    self.name = name
    self.description = description
    self.created = created
    self.platforms = platforms
    self.language = language
    self.basePack = basePack
  }

  /// The space that the pack occupies on the device in bytes, rounded up to blocks of 4 KiB: the unpacked tree, or the pack file if it is read in
  /// place.
  public var sizeOnDevice: UInt64 {
    install == .unpacked ? installSize : (size + 4095) / 4096 * 4096
  }
}

/// When the system fetches a pack.
public enum DeliveryClass: String, Hashable, Sendable, CaseIterable {
  /// While the app is installed or updated, before its first launch.
  case essential
  /// Automatically, after the app was installed.
  case prefetch
  /// When the app requests it.
  case onDemand
}

/// How a pack is installed on the device.
public enum InstallMode: String, Hashable, Sendable, CaseIterable {
  /// It is unpacked, and the pack file is removed.
  case unpacked
  /// The pack file stays and is read in place.
  case packed
}
