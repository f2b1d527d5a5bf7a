/// The inspected manifest.
struct ManifestSighting: Sendable {
  /// Its path, as the caller named it.
  var path: String
  /// Its size in bytes.
  var size: UInt64
  /// Its content; nil if it could not be read.
  var manifest: Manifest?
  /// The reason why it could not be read.
  var failure: PackError?
  /// The ids of all keys that signed it, as the document names them. These are not verified.
  var keyIDs: [String] = []
  /// The keys documents in it, not verified.
  var keysDocuments: [[UInt8]] = []
  /// The trusted public keys (`pkp1-…`) that its signatures were checked with: those of the caller, or else those of released apps.
  var trusted: [String] = []
  /// The reason why the signatures are refused; nil if they are accepted, or if there are no trusted keys.
  var signatureFailure: PackError?
  /// The public keys, including those in the lock file, with which the signatures verify.
  var validSigners: Set<String> = []
  /// The public keys, including those in the lock file, whose signature is wrong.
  var disproved: Set<String> = []
  /// The SHA-256 of the signed bytes.
  var signedDigest: [UInt8] = []
  /// The SHA-256 of the signed bytes without version and times.
  var contentDigest: [UInt8] = []

  /// The ids of the keys that signed, as the manifest names them.
  var signers: String { keyIDs.isEmpty ? "no key" : keyIDs.joined(separator: ", ") }
}

/// The inspected file of keys documents.
struct KeysSighting: Sendable {
  /// Its path, as packer.yml names it.
  var path: String
  /// Its content; nil if it could not be read.
  var file: KeysFile?
  /// The reason why it could not be read.
  var failure: PackError?

  init(path: String, file: KeysFile?, failure: PackError? = nil) {
    self.path = path
    self.file = file
    self.failure = failure
  }

  /// Reads the file.
  init(_ path: String) throws(PackError) {
    self.path = path
    do throws(PackError) {
      let file = try KeysFile(reading: path)
      try file.checkBeginning()
      _ = try file.required()
      self.file = file
    } catch {
      guard error.code != .internalError else { throw error }
      failure = error
    }
  }
}

/// One inspected pack file.
struct PackSighting: Sendable {
  /// Its expected path, starting with the path that the caller gave for the release.
  var path: String
  /// Its size in bytes; nil if there is no such file.
  var size: UInt64?
  /// The reason why there is no such file, which continues a sentence about its path.
  var absence = PublishedFile.missing
  /// The SHA-256 of the file; nil if it was not read.
  var sha256: [UInt8]?
  /// The readable start of the pack; nil if it could not be read.
  var start: Start?
  /// The reason why it could not be opened or read completely.
  var failure: PackError?
  /// The values that need the key; nil if the pack was not opened.
  var content: Content?

  /// Returns whether its bytes are not those of the manifest entry. False for a file of another size, which is a finding of its own.
  func isChanged(since entry: ManifestPack) -> Bool {
    size == entry.size && sha256 != nil && sha256 != entry.sha256
  }

  /// The values in the readable start of a pack.
  struct Start: Sendable, Hashable {
    /// The major and minor version of the format.
    var format: String
    var packVersion: UInt64
    var packID: [UInt8]
    var keyID: String
    /// The ids of the keys for which the pack is wrapped. A pack that a build made has none.
    var recipientIDs: [String] = []
    /// The header bytes that determine its keys and nonces, together with the application key.
    var core: [UInt8]
  }

  /// The values of a pack that need its key.
  struct Content: Sendable, Hashable {
    /// Whether the pack was made with the name of its entry.
    var isNamed: Bool
    var contentRoot: [UInt8]
    var contentSize: UInt64
    var files: UInt64
    var maxFrame: UInt64
  }
}

/// What was found in the payload of a pack; empty if it was not read.
struct PackContents: Sendable {
  /// The size of its tree on a device, computed from its entries; nil if payloads were not read.
  var installSize: UInt64?
  /// The paths of junk files, each with the reason.
  var junk: [String] = []
  /// The paths of files that only developers need, such as source maps, each with the reason.
  var unneeded: [String] = []
  /// The files that look like secrets.
  var secrets: [Secret] = []
  /// The paths of files with an unresolved conflict of a merge, each with the place.
  var conflicts: [String] = []
  /// The paths of Git LFS pointers, which stand for files that were not fetched.
  var pointers: [String] = []
  /// The paths of files whose content cannot be what their names say, each with the reason.
  var unfit: [String] = []
  /// The paths of empty files that should hold a picture, a sound or the like.
  var emptyFiles: [String] = []
  /// The paths of empty directories.
  var emptyDirectories: [String] = []
  /// References that lead nowhere, or to other hosts.
  var references = WebFaults()
  /// The paths of files beside pages that a build compressed, so that a browser would have to decompress them.
  var precompressed: [String] = []
  /// The sounds and films beside pages that no web view plays, and those that only newer systems play, with their version.
  var unplayable: [String] = []
  var newerMedia: [String] = []
  /// A page of a pack that has pages, but no `index.html` at its root.
  var lostPage: String?
  /// Whether its source directory has an `index.html` that the configuration excludes.
  var excludesPage = false
  /// The files that the order file of packer.yml has for the launch and the pack does not have; nil if there is no order file.
  var lostLaunch: [String]?
  /// The paths that some platforms cannot store.
  var unportable: [String] = []
  /// Plaintext that was found in the bytes of the pack.
  var visible: [String] = []
  /// The game as a web portal gets it; nil if no portal was named.
  var game: PortalGame?
  /// The differences from its source directory; nil if they were not compared.
  var differences: [TreeDifference]?

  /// A file that looks like a secret.
  struct Secret: Sendable {
    var path: String
    /// The id of the rule that found it.
    var rule: String
    /// The reason, which continues a sentence about the file.
    var reason: String
  }
}

/// What is in the directory beside the manifest and the files that it names.
struct Beside: Sendable {
  /// Pack files that are not in the manifest.
  var strayPacks: [String] = []
  /// Shards that are not in the manifest.
  var strayShards: [String] = []
  /// What else does not belong to the release, in the order of the names.
  var foreign: [ForeignFiles] = []
  /// The secrets among it. A single file that is one is not in ``foreign``.
  var secrets: [UploadedSecret] = []
  /// The files of the release that are symbolic links.
  var links: [String] = []
  /// Other documents that repeat the values of the manifest.
  var companions: [Companion] = []
  /// Whether the configuration has managed packs, but there is no input for `ba-package`.
  var lacksPackageInput = false
}

/// A document beside the manifest that repeats its values.
struct Companion: Sendable {
  var path: String
  /// The contradictions to the manifest, one sentence each.
  var disagreements: [String]
  /// The command that makes it again.
  var hint = "packer build"
  /// Whether an app that reads it declares another size than the server's.
  var hasWrongSize = false
}

/// A file content that is in more than one pack.
struct SharedContent: Sendable, Hashable {
  /// The ids of these packs, in ascending order.
  var packs: [String]
  /// One path of the content.
  var path: String
  /// The size of one copy in bytes.
  var size: UInt64
}

/// The inspected Info.plist of the app.
struct PlistSighting: Sendable {
  /// Its path, as the caller named it.
  var path: String
  /// The values for Background Assets.
  var keys: BackgroundAssetsKeys
  /// The keys at the top level.
  var names: Set<String> = []
  /// The value of `CFBundleIdentifier`; nil if it is missing or contains an Xcode variable.
  var bundleID: String?
  /// The value of `ITSAppUsesNonExemptEncryption`; nil if it is missing.
  var usesNonExemptEncryption: Bool?

  /// Whether its Background Assets keys were written by packer or are missing, so that a merge needs no `--replace`.
  var isPackersOwn = true

  /// The platform that it names; nil if it names none or several.
  var platform: DeviceProfile.Platform?

  /// Where it is in the built app; nil if it is a file of its own.
  var place: String?

  /// The path, and the place if it is in a built app.
  var title: String { place.map { "\(path): \($0)" } ?? path }

  /// The command that writes the values of the release into it.
  var mergeHint: String {
    guard place == nil else { return "run 'packer plist merge' on the project's Info.plist, then build the app again" }
    return "packer plist merge \(ShellWord.path(path))\(isPackersOwn ? "" : " --replace")"
  }

  /// The sizes that it has as integers, in ascending order of the keys.
  var numbers: [(key: String, bytes: UInt64)] {
    let all = [
      (BudgetKey.download, keys.downloadAllowance), (BudgetKey.essentialDownload, keys.essentialDownloadAllowance),
      (BudgetKey.essentialInstalled, keys.essentialMaxInstallSize), (BudgetKey.installed, keys.maxInstallSize),
    ]
    return all.compactMap { key, bytes in bytes.map { (key, $0) } }
  }

  /// Returns the size for a key; nil if it is missing.
  func number(_ key: String) -> UInt64? { numbers.first { $0.key == key }?.bytes }
}
