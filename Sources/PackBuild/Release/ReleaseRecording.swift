package import PackCrypto
package import PackFiles
package import PackFormat
import PackManifest
import PackProject
import PackTrust

/// Notes in the lock file what went out: a release, and with it an app version.
package struct ReleaseRecording: Sendable {
  /// The directory of the release.
  package var dist: String
  /// The lock file.
  package var lockPath: String
  /// The public keys of which one must have signed the manifest; those that the build says it signed with where it is empty.
  package var trustedKeys: [SigningPublicKey] = []

  package var files: any FileSystem = SystemFiles()

  /// A recording of the release in a directory.
  package init(dist: String, lockPath: String) {
    self.dist = dist
    self.lockPath = lockPath
  }

  /// An app version that goes out with the release.
  package struct App: Sendable {
    /// As the team writes it, such as `2.1.0`.
    package var version: String
    /// Its Info.plist.
    package var plist: InfoPlist
    /// The public signing keys that it trusts; those that the release is signed with where it is empty.
    package var trustedKeys: [SigningPublicKey]

    /// Makes an app from its parts.
    package init(version: String, plist: InfoPlist, trustedKeys: [SigningPublicKey] = []) {
      self.version = version
      self.plist = plist
      self.trustedKeys = trustedKeys
    }
  }

  /// What was recorded.
  package struct Report: Sendable {
    /// What the lock file says now.
    package let lock: ReleaseLock
    /// Whether that is what it said before.
    package let isUnchanged: Bool
  }

  /// Records the release, and the app version if there is one. The lock file is replaced at once.
  ///
  /// - Throws: ``PackError/Code/releaseConflict`` where the lock file says otherwise of the same version, or has a higher one.
  package func record(_ app: App? = nil) throws(PackError) -> Report {
    let record = try checkedRecord()
    // From here to the end, so that of two recordings the second sees what the first has written.
    let turn = try RecordingTurn(lockPath, files: files)
    defer { withExtendedLifetime(turn) {} }
    let before = try ReleaseLock.readIfPresent(lockPath, files: files)
    var lock = before
    lock.released = try Self.release(record, after: before.released, dist: dist)
    if let app { try Self.add(try Self.entry(app, record: record), to: &lock) }
    if lock != before { try lock.write(to: lockPath, files: files) }
    return Report(lock: lock, isUnchanged: lock == before)
  }

  /// Marks an app version as out of use, so that releases need not fit it.
  package static func retire(_ version: String, lockPath: String) throws(PackError) -> Report {
    let turn = try RecordingTurn(lockPath, files: SystemFiles())
    defer { withExtendedLifetime(turn) {} }
    let before = try ReleaseLock.read(lockPath)
    var lock = before
    guard let index = lock.apps.firstIndex(where: { $0.version == version }) else {
      let known = lock.apps.map(\.version).joined(separator: ", ")
      throw PackError(
        .usage, of: lockPath, "has no app \(version)", hint: known.isEmpty ? nil : "it has \(known)")
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
      throw PackError(.missingInput, of: dist, "holds no release", hint: "make one with 'packer build', or name another with --dist")
    }
    var trusted = trustedKeys
    if trusted.isEmpty {
      for text in record.signers { trusted.append(try SigningPublicKey(text: text)) }
    }
    let path = "\(dist)/\(ReleaseFile.manifest)"
    let manifest: VerifiedManifest
    do throws(PackError) {
      manifest = try SignedManifest(try files.contents(of: path, limit: Manifest.largestSize)).verify(trusting: trusted)
    } catch {
      throw error.about(path)
    }
    guard manifest.signedDigest == record.manifest.signedDigest, manifest.manifest.version == record.manifest.version else {
      throw changed("\(path) is not the manifest that was built")
    }
    let entries = Dictionary(manifest.manifest.packs.map { ($0.id, $0) }) { first, _ in first }
    guard entries.count == record.packs.count else {
      throw changed("\(path) names \(entries.count) packs, and \(record.packs.count) were built")
    }
    for pack in record.packs {
      guard let entry = entries[pack.id], entry.version == pack.version, entry.size == pack.size, entry.sha256 == pack.sha256,
        entry.contentRoot == pack.contentRoot, entry.keyID == pack.keyID
      else {
        throw changed("\(dist)/\(BuildRecord.fileName) says of pack '\(pack.id)' what the manifest does not say")
      }
      let path = "\(dist)/\(pack.file)"
      let found = try FileDigest.run(path, in: nil, title: path, files: files, backend: CryptoBackends.standard)
      guard found.size == pack.size else { throw changed("\(path) is \(found.size) bytes, and \(pack.size) were built") }
      guard found.sha256 == pack.sha256 else {
        throw changed("\(path) has the SHA-256 \(found.sha256.hex), and \(pack.sha256.hex) was built")
      }
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
      issued: manifest.issued, expires: manifest.expires, rootKeyID: record.rootKeyID, packs: packs)
  }

  private static func conflict(_ message: String) -> PackError {
    PackError(.releaseConflict, message, hint: "build again with 'packer build': versions follow from the lock file")
  }

  // MARK: The app

  private static func entry(_ app: App, record: BuildRecord) throws(PackError) -> ReleaseLock.App {
    let (keys, path) = (app.plist.keys, app.plist.path)
    guard app.version.wholeMatch(of: /[0-9A-Za-z.+_-]{1,64}/) != nil else {
      throw PackError(.usage, "'\(app.version)' is no version of an app", hint: "write it as on the App Store, such as 2.1.0")
    }
    if let problem = keys.problems.first {
      throw PackError(
        .releaseConflict, problem.message, details: keys.problems.map(\.message),
        hint: problem.hint ?? "packer plist check \(ShellWord.path(path))"
      ).about(path)
    }
    let isServedByApple = keys.hosting == .apple
    let (budget, hosts, manifestURL) = (keys.budget, keys.allowList?.entries.sorted(), keys.manifestURL)
    guard isServedByApple || budget != nil && hosts != nil && manifestURL != nil else {
      throw PackError(
        .releaseConflict, of: path, "does not have all keys of an app that downloads packs itself",
        hint: "packer plist check \(ShellWord.path(path))")
    }
    if let text = ([manifestURL].compactMap { $0 } + (hosts ?? [])).first(where: AppTargets.isVariable) {
      throw PackError(
        .releaseConflict, of: path, "says '\(text)', in which Xcode puts a value when it builds the app",
        hint: "record the Info.plist of the app that was built, as it lies in its bundle")
    }
    for (key, bytes) in budget?.named ?? [] where bytes > Limits.packVersion {
      throw PackError(
        .releaseConflict, "\(path): \(key) is \(bytes) bytes, more than the \(Limits.packVersion) that a lock file holds",
        hint: "packer plist check \(ShellWord.path(path))")
    }
    let trusted = app.trustedKeys.isEmpty ? record.signers : app.trustedKeys.map(\.text)
    return ReleaseLock.App(
      version: app.version, budget: isServedByApple ? nil : budget, hosts: isServedByApple ? nil : hosts,
      manifestURL: isServedByApple ? nil : manifestURL, trustedKeys: trusted.sorted(),
      keyIDs: record.rootKeyID.map { [$0] } ?? Set(record.packs.map(\.keyID)).sorted(), format: PackHeader.formatVersion,
      firstManifest: record.manifest.version)
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
    guard let first = differences.first else {
      guard !recorded.isRetired else {
        throw PackError(
          .releaseConflict, "app \(app.version) is retired, and 'packer verify' does not look at it",
          hint: "if players have it again, remove \"retired\" from its entry in the lock file")
      }
      return
    }
    throw PackError(
      .releaseConflict, "app \(app.version): \(first)", details: differences,
      hint: "record it under a version of its own; if the recorded one never went out, remove its line from the lock file")
  }
}
