import PackBuild
import PackFormat
import PackManifest
import PackProject

/// Everything that was seen of a release before it is judged. Checks are functions of it: they read no file and ask no clock.
struct ReleaseContext: Sendable {
  /// The directory of the release, as the caller named it.
  var directory: String
  /// Whether payloads were left alone.
  var isQuick = false
  /// The content key that was at hand.
  var keyID: String?
  /// The root keys from which keys of packs were made, by the ids of those: as far as the key at hand, the build's record or the lock file tells.
  var roots: [String: String] = [:]
  var manifest: ManifestSighting
  /// One for each entry of the manifest, in its order; empty where files were not looked at.
  var packs: [PackSighting] = []
  /// Files in the directory that are packs, but in no entry of the manifest.
  var strayPacks: [String] = []
  /// Other documents beside the manifest that repeat what it says.
  var companions: [Companion] = []
  /// Contents that more than one pack holds.
  var shared: [SharedContent] = []
  /// Paths that more than one pack holds, with other content.
  var colliding: [CollidingPath] = []
  var plist: PlistSighting?
  var lock: ReleaseLock?
  /// The lock file, as the caller named it.
  var lockPath = ReleaseFile.lock
  var configuration: PackerConfiguration?
  /// The time that counts as now.
  var now: ManifestTime
  /// What can be done about an error of the client, in words; nil if nothing can.
  var wording: @Sendable (PackError) -> String? = { $0.advice?.description }

  /// The entries of the manifest, or none where it could not be read.
  var entries: [ManifestPack] { manifest.manifest?.packs ?? [] }

  /// Entries with what was seen of their files.
  var pairs: [(entry: ManifestPack, file: PackSighting)] { zip(entries, packs).map { ($0, $1) } }

  /// The app versions that are still in players' hands.
  var apps: [ReleaseLock.App] { lock?.apps.filter { !$0.isRetired } ?? [] }

  /// Whether a content key was at hand.
  var hasKey: Bool { keyID != nil }

  /// Whether the content key that was at hand opens the pack of an entry, by what the manifest says of it.
  func hasKey(of entry: ManifestPack) -> Bool { hasKey && [entry.keyID, roots[entry.keyID]].contains(keyID) }

  /// Whether a pack was made with a key of its own; nil where nothing tells.
  func hasOwnKey(_ entry: ManifestPack) -> Bool? {
    if roots[entry.keyID] != nil { return true }
    return entry.keyID == keyID ? false : nil
  }

  /// What the release asks of a device.
  var demand: ReleaseDemand { ReleaseDemand(entries, manifestSize: manifest.size) }

  /// What the configuration says of a pack.
  func configured(_ id: String) -> PackerConfiguration.Pack? { configuration?.packs.first { $0.id.text == id } }

  /// What is there for rules to be checked with.
  var inputs: Set<ReleaseInput> {
    var inputs: Set<ReleaseInput> = []
    if manifest.manifest != nil { inputs.insert(.manifest) }
    if manifest.manifest != nil, packs.count == entries.count { inputs.insert(.files) }
    if hasKey { inputs.insert(.key) }
    if hasKey, !isQuick { inputs.insert(.payload) }
    if plist != nil { inputs.insert(.plist) }
    if lock != nil { inputs.insert(.lock) }
    if configuration != nil { inputs.insert(.configuration) }
    return inputs
  }
}

/// What was seen of the manifest.
struct ManifestSighting: Sendable {
  /// As the caller named it.
  var path: String
  /// In bytes.
  var size: UInt64
  /// Nil where it could not be read.
  var manifest: Manifest?
  /// Why it could not be read.
  var failure: PackError?
  /// The ids of all keys that signed it, as it says.
  var keyIDs: [String] = []
  /// The public keys (`pkp1-…`) that it was held against: those that the caller, the configuration or the signing key name.
  var trusted: [String] = []
  /// Why none of them vouches for it; nil where one does, or where there are none.
  var signatureFailure: PackError?
  /// Of all public keys that were tried, those of the lock file too, the ones under which it verifies.
  var vouching: Set<String> = []
  /// Of the same, those with a signature that is wrong.
  var disproved: Set<String> = []
  /// SHA-256 of the signed bytes.
  var signedDigest: [UInt8] = []
  /// SHA-256 of the signed bytes without version and times.
  var contentDigest: [UInt8] = []
}

/// What was seen of one pack file.
struct PackSighting: Sendable {
  /// Where it is, or ought to be, as a path from where the caller named the release.
  var path: String
  /// Nil where there is no such file.
  var size: UInt64?
  /// Nil where it was not read.
  var sha256: [UInt8]?
  /// What its start says.
  var start: Start?
  /// Why it could not be opened or read to its end.
  var failure: PackError?
  /// What it says to the holder of the key; nil where it was not opened.
  var content: Content?
  /// What its tree takes on a device, as counted from its entries.
  var installSize: UInt64?
  /// Paths that are junk, with the reason.
  var junk: [String] = []
  /// Paths that look like secrets, with the reason.
  var secrets: [String] = []
  /// Paths that some platform cannot hold.
  var unportable: [String] = []
  /// What can be read in the container without a key.
  var visible: [String] = []
  /// How it differs from its source directory; nil where that was not looked at.
  var differences: [TreeDifference]?

  /// Whether it holds other bytes than the manifest says. A file of another size is told by itself.
  func isChanged(since entry: ManifestPack) -> Bool {
    size == entry.size && sha256 != nil && sha256 != entry.sha256
  }

  /// What the readable start of a pack says.
  struct Start: Sendable, Hashable {
    /// Major and minor version of the format.
    var format: String
    var packVersion: UInt64
    var packID: [UInt8]
    var keyID: String
    /// What its keys and nonces follow from, besides the application key.
    var core: [UInt8]
  }

  /// What a pack says to the holder of the key.
  struct Content: Sendable, Hashable {
    /// Whether it was made under the name of its entry.
    var isNamed: Bool
    var contentRoot: [UInt8]
    var contentSize: UInt64
    var files: UInt64
    var maxFrame: UInt64
  }
}

/// A document beside the manifest that repeats what it says.
struct Companion: Sendable {
  var path: String
  /// How it disagrees, one sentence each.
  var disagreements: [String]
}

/// A content that more than one pack holds.
struct SharedContent: Sendable, Hashable {
  /// Of the packs that hold it, in ascending order.
  var packs: [String]
  /// One of its paths.
  var path: String
  /// The bytes of one copy.
  var size: UInt64
  /// How often it is there more than once.
  var surplus: UInt64
}

/// A path that more than one pack holds, with other content.
struct CollidingPath: Sendable, Hashable {
  var path: String
  var packs: [String]
}

/// What was seen of the app's Info.plist.
struct PlistSighting: Sendable {
  /// As the caller named it.
  var path: String
  /// What it says of background assets.
  var keys: BackgroundAssetsKeys
  /// The keys at its top, whatever their values.
  var names: Set<String> = []
  /// `CFBundleIdentifier`, where it is there and holds no variable of Xcode's.
  var bundleID: String?
  /// `ITSAppUsesNonExemptEncryption`, where it is there.
  var usesNonExemptEncryption: Bool?

  /// Whether what it says of background assets is what packer wrote there, or nothing: a merge then asks nobody.
  var isPackersOwn = true

  /// The command that brings the release's values into it.
  var mergeHint: String { "packer plist merge \(ShellWord.path(path))\(isPackersOwn ? "" : " --replace")" }

  /// Those of the four numbers that are there as integers, in ascending order of the names.
  var numbers: [(key: String, bytes: UInt64)] {
    let all = [
      (BudgetKey.download, keys.downloadAllowance), (BudgetKey.essentialDownload, keys.essentialDownloadAllowance),
      (BudgetKey.essentialInstalled, keys.essentialMaxInstallSize), (BudgetKey.installed, keys.maxInstallSize),
    ]
    return all.compactMap { key, bytes in bytes.map { (key, $0) } }
  }

  /// One of the four numbers.
  func number(_ key: String) -> UInt64? { numbers.first { $0.key == key }?.bytes }
}
