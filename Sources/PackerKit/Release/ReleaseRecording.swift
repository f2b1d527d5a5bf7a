public import PackCrypto
package import PackFiles
public import PackFormat
import PackManifest
import PackRuntime

/// Notes in the lock file what went out: a release, and with it an app version.
public struct ReleaseRecording: Sendable {
  /// The directory of the release.
  public var dist: String
  /// The lock file.
  public var lockPath: String

  package var files: any FileSystem = SystemFiles()

  /// A recording of the release in a directory.
  public init(dist: String, lockPath: String) {
    self.dist = dist
    self.lockPath = lockPath
  }

  /// An app version that goes out with the release.
  public struct App: Sendable {
    /// As the team writes it, such as `2.1.0`.
    public var version: String
    /// Its Info.plist.
    public var plist: InfoPlist
    /// The public signing keys that it trusts; those that the release is signed with where it is empty.
    public var trustedKeys: [SigningPublicKey]

    /// Makes an app from its parts.
    public init(version: String, plist: InfoPlist, trustedKeys: [SigningPublicKey] = []) {
      self.version = version
      self.plist = plist
      self.trustedKeys = trustedKeys
    }
  }

  /// What was recorded.
  public struct Report: Sendable {
    /// What the lock file says now.
    public let lock: ReleaseLock
    /// Whether that is what it said before.
    public let isUnchanged: Bool
  }

  /// Records the release, and the app version if there is one. The lock file is replaced at once.
  ///
  /// - Throws: ``PackError/Code/releaseConflict`` where the lock file says otherwise of the same version, or has a higher one.
  public func record(_ app: App? = nil) throws(PackError) -> Report {
    let record = try checkedRecord()
    let before = try ReleaseLock.readIfPresent(lockPath, files: files)
    var lock = before
    lock.released = try Self.release(record, after: before.released, dist: dist)
    if let app { try Self.add(try Self.entry(app, record: record), to: &lock) }
    if lock != before { try lock.write(to: lockPath, files: files) }
    return Report(lock: lock, isUnchanged: lock == before)
  }

  /// Notes that nobody has an app version any more, so that releases need not fit it.
  public static func retire(_ version: String, lockPath: String) throws(PackError) -> Report {
    let before = try ReleaseLock.read(lockPath)
    var lock = before
    guard let index = lock.apps.firstIndex(where: { $0.version == version }) else {
      let known = lock.apps.map(\.version).joined(separator: ", ")
      throw PackError(
        .usage, "\(lockPath) has no app \(version)", hint: known.isEmpty ? nil : "it has \(known)")
    }
    lock.apps[index].isRetired = true
    if lock != before { try lock.write(to: lockPath) }
    return Report(lock: lock, isUnchanged: lock == before)
  }

  // MARK: The release

  /// Reads what the build says of the release, and holds it against what is there.
  private func checkedRecord() throws(PackError) -> BuildRecord {
    let record: BuildRecord
    do throws(PackError) {
      record = try BuildRecord.read(in: dist, files: files)
    } catch {
      guard error.code == .missingInput else { throw error }
      throw PackError(.missingInput, "\(dist) holds no release", hint: "make one with 'packer build', or name another with --dist")
    }
    var trusted: [SigningPublicKey] = []
    for text in record.signers { trusted.append(try SigningPublicKey(text: text)) }
    let path = "\(dist)/\(ReleaseFile.manifest)"
    let manifest: VerifiedManifest
    do throws(PackError) {
      manifest = try SignedManifest(try files.contents(of: path, limit: Manifest.largestSize)).verify(trusting: trusted)
    } catch {
      throw error.message.hasPrefix(path) ? error : error.about(path)
    }
    guard manifest.signedDigest == record.manifest.signedDigest, manifest.manifest.version == record.manifest.version else {
      throw changed("\(path) is not the manifest that was built")
    }
    for pack in record.packs {
      let path = "\(dist)/\(pack.file)"
      let size: UInt64
      do {
        size = try files.status(of: path, in: nil, following: .asThemselves).size
      } catch {
        throw error.reading(path)
      }
      guard size == pack.size else { throw changed("\(path) is \(size) bytes, and \(pack.size) were built") }
    }
    return record
  }

  private func changed(_ message: String) -> PackError {
    PackError(.releaseConflict, message, hint: "build again with 'packer build', and record what goes out unchanged")
  }

  /// What the lock file says after a release.
  private static func release(
    _ record: BuildRecord, after before: ReleaseLock.Release?, dist: String
  ) throws(PackError) -> ReleaseLock.Release {
    let manifest = record.manifest
    if let before {
      guard manifest.version >= before.manifestVersion else {
        throw conflict("manifest \(manifest.version) in \(dist) is older than manifest \(before.manifestVersion), which went out")
      }
      guard manifest.version > before.manifestVersion || manifest.signedDigest == before.signedDigest else {
        throw conflict("another manifest \(manifest.version) than that in \(dist) went out")
      }
    }
    let old = Dictionary(uniqueKeysWithValues: (before?.packs ?? []).map { ($0.id, $0) })
    var packs: [ReleaseLock.Pack] = []
    for pack in record.packs {
      if let old = old[pack.id] {
        guard pack.version >= old.version else {
          throw conflict("pack '\(pack.id)' in \(dist) has version \(pack.version), and version \(old.version) went out")
        }
        guard pack.version > old.version || pack.sha256 == old.sha256 else {
          throw conflict("another version \(pack.version) of pack '\(pack.id)' than that in \(dist) went out")
        }
      }
      packs.append(
        ReleaseLock.Pack(
          id: pack.id, version: pack.version, sha256: pack.sha256, contentRoot: pack.contentRoot, keyID: pack.keyID,
          settings: pack.settings, created: pack.created))
    }
    let kept = Set(packs.map(\.id))
    for var pack in before?.packs ?? [] where !kept.contains(pack.id) {
      pack.isRemoved = true
      packs.append(pack)
    }
    packs.sort { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
    return ReleaseLock.Release(
      manifestVersion: manifest.version, signedDigest: manifest.signedDigest, contentDigest: manifest.contentDigest,
      issued: manifest.issued, expires: manifest.expires, packs: packs)
  }

  private static func conflict(_ message: String) -> PackError {
    PackError(.releaseConflict, message, hint: "build again with 'packer build': versions follow from the lock file")
  }

  // MARK: The app

  private static func entry(_ app: App, record: BuildRecord) throws(PackError) -> ReleaseLock.App {
    let (keys, path) = (app.plist.keys, app.plist.path)
    guard !app.version.isEmpty, app.version.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw PackError(.usage, "'\(app.version)' is no version of an app", hint: "write it as on the App Store, such as 2.1.0")
    }
    if let problem = keys.problems.first {
      throw PackError(
        .releaseConflict, "\(path): \(problem.message)", details: keys.problems.map(\.message),
        hint: problem.hint ?? "packer plist check \(path)")
    }
    let isServedByApple = keys.hosting == .apple
    let (budget, hosts, manifestURL) = (keys.budget, keys.allowList?.entries.sorted(), keys.manifestURL)
    guard isServedByApple || budget != nil && hosts != nil && manifestURL != nil else {
      throw PackError(
        .releaseConflict, "\(path) does not have all keys of an app that downloads packs itself", hint: "packer plist check \(path)")
    }
    let trusted = app.trustedKeys.isEmpty ? record.signers : app.trustedKeys.map(\.text)
    return ReleaseLock.App(
      version: app.version, budget: isServedByApple ? nil : budget, hosts: isServedByApple ? nil : hosts,
      manifestURL: isServedByApple ? nil : manifestURL, trustedKeys: trusted.sorted(),
      keyIDs: Set(record.packs.map(\.keyID)).sorted(), format: PackHeader.formatVersion, firstManifest: record.manifest.version)
  }

  /// Adds an app version. One that is there must be the same: what players have does not change.
  private static func add(_ app: ReleaseLock.App, to lock: inout ReleaseLock) throws(PackError) {
    guard let index = lock.apps.firstIndex(where: { $0.version == app.version }) else {
      lock.apps.append(app)
      lock.apps.sort { ReleaseLock.isLower($0.version, $1.version) }
      return
    }
    let recorded = lock.apps[index]
    var differences: [String] = []
    for ((key, old), (_, new)) in zip(recorded.budget?.named ?? [], app.budget?.named ?? []) where old != new {
      differences.append("\(key) is recorded as \(old) bytes, and this Info.plist says \(new)")
    }
    func list(_ hosts: [String]?) -> String { hosts?.joined(separator: ", ") ?? "missing" }
    if recorded.hosts != app.hosts {
      differences.append(
        "BADownloadDomainAllowList is recorded as \(list(recorded.hosts)), and this Info.plist says \(list(app.hosts))")
    }
    if recorded.manifestURL != app.manifestURL {
      differences.append(
        "BAManifestURL is recorded as \(recorded.manifestURL ?? "missing"), and this Info.plist says \(app.manifestURL ?? "missing")")
    }
    if recorded.trustedKeys != app.trustedKeys {
      differences.append(
        "trusted keys are recorded as \(recorded.trustedKeys.joined(separator: ", ")), and are \(app.trustedKeys.joined(separator: ", ")) now"
      )
    }
    guard let first = differences.first else { return }
    throw PackError(
      .releaseConflict, "app \(app.version): \(first)", details: differences,
      hint: "record it under a version of its own; if the recorded one never went out, remove its line from the lock file")
  }
}
