import PackBuild
import PackFormat
import PackManifest
import PackProject

/// The inspected state of a release. Checks use only this value: they read no files and no clock.
struct ReleaseContext: Sendable {
  /// The directory of the release, as the caller named it.
  var directory: String
  /// Whether payloads were not read.
  var isQuick = false
  /// The id of the content key that was given.
  var keyID: String?
  /// The ids of root keys, by the ids of the pack keys derived from them. Taken from the lock file, the build record and the given key.
  var roots: [String: String] = [:]
  var manifest: ManifestSighting
  /// All packs, if the manifest has pages. Without those of pages that could not be read.
  var listed: [ManifestPack]?
  /// The pages of the manifest, index pages included.
  var pages: [PageSighting] = []
  /// Pages in the directory that are not in the manifest.
  var strayPages: [String] = []
  /// How the pages of tags differ from the tags of the packs; nil if they do not.
  var tagFault: String?
  /// The pack files, one for each entry in the order of ``entries``; empty if files were not inspected.
  var packs: [PackSighting] = []
  /// The deltas that pages list, in the order of the pages.
  var deltas: [DeltaSighting] = []
  /// The content roots of all packs of the recorded releases that players may have; nil if these are not known.
  var recordedRoots: Set<[UInt8]>?
  /// What players of those releases download, newest first.
  var downloads: [ReleaseUpdate] = []
  /// Changes that make updates large for a reason that can be mended.
  var burdens: [UpdateBurden] = []
  /// Pack files in the directory that are not in the manifest.
  var strayPacks: [String] = []
  /// What else is in the directory and does not belong to the release.
  var foreign: [ForeignFiles] = []
  /// The secrets that are uploaded with it.
  var secrets: [UploadedSecret] = []
  /// The files of the release that are symbolic links.
  var links: [String] = []
  /// Whether the configuration has managed packs, but there is no input for `ba-package`.
  var lacksPackageInput = false
  /// Other documents beside the manifest that repeat its values.
  var companions: [Companion] = []
  /// File contents that are in more than one pack.
  var shared: [SharedContent] = []
  /// The rules that are required, but cannot be checked.
  var unchecked: [ReleaseReport.RuleOutcome] = []
  var plist: PlistSighting?
  /// The built app from which the Info.plist was taken.
  var app: BuiltApp?
  /// What browsers loaded of its packs; nil if that is not known.
  var run: LoadRun?
  /// What was found at the server; nil if it was not asked.
  var live: LiveSighting?
  /// The publisher's keys documents; nil if the configuration names no file of them.
  var keys: KeysSighting?
  /// The places on this machine where a root signing key was found.
  var rootKeyPlaces: [String] = []
  var lock: ReleaseLock?
  /// The manifest that devices have now.
  var published: PublishedManifest?
  /// The lock file, as the caller named it.
  var lockPath = ReleaseFile.lock
  var configuration: PackerConfiguration?
  /// Whether the source directory of any pack is there.
  var hasSources = false
  /// The current time for the checks.
  var now: ManifestTime
  /// Returns the advice about an error of the client; nil if there is none.
  var wording: @Sendable (PackError) -> String? = { $0.advice?.description }

  /// The entries of the manifest and its pages; empty if it could not be read.
  var entries: [ManifestPack] { listed ?? manifest.manifest?.packs ?? [] }

  /// The entries of the manifest with their files.
  var pairs: [(entry: ManifestPack, file: PackSighting)] { zip(entries, packs).map { ($0, $1) } }

  /// The released app versions that are not retired.
  var apps: [ReleaseLock.App] { lock?.apps.filter { !$0.isRetired } ?? [] }

  /// Whether a content key was given.
  var hasKey: Bool { keyID != nil }

  /// Whether there are packs, and all of them need another key than the given one.
  private var isLocked: Bool {
    !packs.isEmpty && packs.allSatisfy { $0.failure?.code == .wrongKey || $0.failure?.code == .notWrapped }
  }

  /// Returns whether the given content key opens the pack of an entry, according to the key id in the manifest.
  func hasKey(of entry: ManifestPack) -> Bool { hasKey && [entry.keyID, roots[entry.keyID]].contains(keyID) }

  /// Returns whether a pack was made with its own key; nil if that is not known.
  func hasOwnKey(_ entry: ManifestPack) -> Bool? {
    if roots[entry.keyID] != nil { return true }
    return entry.keyID == keyID ? false : nil
  }

  /// The sizes that the release needs on any device.
  var demand: ReleaseDemand { ReleaseDemand(entries, manifestSize: manifest.size) }

  /// The sizes that it needs on the devices of the app with the Info.plist: those of its platform, if it says which.
  var plistDemand: ReleaseDemand { demand(for: plist?.platform) }

  /// Returns the sizes that it needs on the devices of a platform. If it is nil, each size is that of the platform for which it is largest.
  func demand(for platform: DeviceProfile.Platform?) -> ReleaseDemand {
    ReleaseDemand(entries, for: platform, manifestSize: manifest.size)
  }

  /// The size that the budget reserves for the manifest; nil without packer.yml.
  var manifestCeiling: UInt64? {
    guard let configured = configuration?.manifestCeiling, let content = manifest.manifest else { return nil }
    let keysSize = manifest.keysDocuments.reduce(0) { $0 + $1.count }
    return (try? ManifestReserve.size(for: content, keysSize: keysSize, configured: configured)) ?? configured
  }

  /// How the packs are hosted: as packer.yml says, otherwise as the Info.plist does.
  var hosting: PackerConfiguration.Hosting { configuration?.hosting ?? plist?.keys.hosting ?? .unmanaged }

  /// The downloader extensions of the built app.
  var downloaders: [BuiltApp.Bundle] {
    app?.extensions.filter { $0.isDownloader(isManaged: hosting != .unmanaged) } ?? []
  }

  /// Whether the app groups of an app and all its downloader extensions are known.
  private func hasEntitlements(_ app: BuiltApp) -> Bool { ([app.bundle] + downloaders).allSatisfy { $0.groups.names != nil } }

  /// The configurations of the packs, by their ids.
  var configuredPacks: [String: PackerConfiguration.Pack] {
    Dictionary((configuration?.packs ?? []).map { ($0.id.text, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The inputs that are available to the rules.
  var inputs: Set<ReleaseInput> {
    var inputs: Set<ReleaseInput> = []
    if manifest.manifest != nil { inputs.insert(.manifest) }
    if pages.allSatisfy(\.isRead) { inputs.insert(.pages) }
    if manifest.manifest != nil, packs.count == entries.count { inputs.insert(.files) }
    if hasKey { inputs.insert(.key) }
    if hasKey, !isQuick, !isLocked { inputs.insert(.payload) }
    if plist != nil { inputs.insert(.plist) }
    if let app {
      inputs.insert(.app)
      if hasEntitlements(app) { inputs.insert(.entitlements) }
    }
    if lock != nil { inputs.insert(.lock) }
    if configuration != nil { inputs.insert(.configuration) }
    if hasSources { inputs.insert(.sources) }
    if run != nil { inputs.insert(.run) }
    if live != nil { inputs.insert(.live) }
    return inputs
  }
}

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
  /// Sentences about pages that name files in the wrong case.
  var misspelled: [String] = []
  /// References that lead nowhere, or to other hosts.
  var references = WebFaults()
  /// A page of a pack that has pages, but no `index.html` at its root.
  var lostPage: String?
  /// Whether its source directory has an `index.html` that the configuration excludes.
  var excludesPage = false
  /// The paths that some platforms cannot store.
  var unportable: [String] = []
  /// Plaintext that was found in the bytes of the pack.
  var visible: [String] = []
  /// The differences from its source directory; nil if they were not compared.
  var differences: [TreeDifference]?

  /// Returns whether its bytes are not those of the manifest entry. False for a file of another size, which is a finding of its own.
  func isChanged(since entry: ManifestPack) -> Bool {
    size == entry.size && sha256 != nil && sha256 != entry.sha256
  }

  /// A file that looks like a secret.
  struct Secret: Sendable {
    var path: String
    /// The id of the rule that found it.
    var rule: String
    /// The reason, which continues a sentence about the file.
    var reason: String
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
