/// What is offered for download: the packs of one release, and the install budget they fit (FORMAT.md §9.3).
///
/// A value says nothing about who made it. ``SignedManifest`` is the document it comes from.
public struct Manifest: Hashable, Sendable {
  /// The version of the manifest; later ones are higher. At most 2^53 − 1.
  public var version: UInt64
  /// When it was made. Readers do not require it.
  public var issued: ManifestTime?
  /// From when on nothing new may be installed from it.
  public var expires: ManifestTime
  /// The numbers that the app's Info.plist must hold for this release. Readers do not require it.
  public var budget: InstallBudget?
  /// The packs, in the order of the document.
  public var packs: [ManifestPack]

  /// Makes a manifest from its parts, which are not checked.
  public init(
    version: UInt64, issued: ManifestTime?, expires: ManifestTime, budget: InstallBudget?, packs: [ManifestPack]
  ) {
    self.version = version
    self.issued = issued
    self.expires = expires
    self.budget = budget
    self.packs = packs
  }

  /// The only schema that this build reads.
  public static let schema = "pack-manifest/1"
  /// The largest document, in bytes (1 MiB).
  public static let largestSize = 1 << 20
}

/// One pack of a ``Manifest``.
public struct ManifestPack: Hashable, Sendable {
  /// The name the pack is published under.
  public var id: String
  /// The pack version, which its header repeats.
  public var version: UInt64
  /// Where the pack is served.
  public var url: String
  /// The exact size of the pack file in bytes, as served.
  public var size: UInt64
  /// The SHA-256 of the pack file, 32 bytes.
  public var sha256: [UInt8]
  /// The digest that names the tree, 32 bytes.
  public var contentRoot: [UInt8]
  /// The sum of the sizes of all files in bytes.
  public var contentSize: UInt64
  /// What the unpacked tree takes on the device in bytes: each file rounded up to 4 KiB, and 4 KiB for each directory.
  public var installSize: UInt64
  /// The number of records: files, and directories that are empty.
  public var files: UInt64
  /// The largest decompressed data frame in bytes.
  public var maxFrame: UInt64
  /// The key that opens the pack, 16 hexadecimal digits.
  public var keyID: String
  /// When the system is to fetch the pack.
  public var delivery: DeliveryClass
  /// What becomes of the pack on the device.
  public var install: InstallMode
  /// What the app asks for the pack by.
  public var tags: [String]
  /// The name for people.
  public var name: String
  /// What the pack is, for people.
  public var description: String
  /// When these bytes of the pack were first made.
  public var created: ManifestTime?
  /// The platforms that the pack is for; all where it is empty.
  public var platforms: [String]
  /// The language that the pack is for, as a language tag; any where it is nil.
  public var language: String?

  /// Makes an entry from its parts, which are not checked.
  public init(
    id: String, version: UInt64, url: String, size: UInt64, sha256: [UInt8], contentRoot: [UInt8], contentSize: UInt64,
    installSize: UInt64, files: UInt64, maxFrame: UInt64, keyID: String, delivery: DeliveryClass, install: InstallMode,
    tags: [String] = [], name: String = "", description: String = "", created: ManifestTime? = nil,
    platforms: [String] = [], language: String? = nil
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
  }

  /// What the pack leaves on the device in bytes, rounded up to blocks of 4 KiB: the unpacked tree, or the pack file itself where it is
  /// played in place.
  public var sizeOnDevice: UInt64 {
    install == .unpacked ? installSize : (size + 4095) / 4096 * 4096
  }
}

/// When the system is to fetch a pack.
public enum DeliveryClass: String, Hashable, Sendable, CaseIterable {
  /// While the app is installed or updated: the app does not start before.
  case essential
  /// After the app was installed, by itself.
  case prefetch
  /// When the app asks for it.
  case onDemand
}

/// What becomes of a pack on the device.
public enum InstallMode: String, Hashable, Sendable, CaseIterable {
  /// It is unpacked, and the pack itself is removed.
  case unpacked
  /// It stays as it is, and is read in place.
  case packed
}
