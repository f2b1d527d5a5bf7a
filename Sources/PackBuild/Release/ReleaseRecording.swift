/// Records a release in the lock file, and an app version if one is released with it.
package struct ReleaseRecording: Sendable {
  /// The directory of the release.
  package var dist: String
  /// The lock file.
  package var lockPath: String
  /// The public keys, one of which must have signed the manifest. If empty, the signing keys in the build record are used.
  package var trustedKeys: [SigningPublicKey] = []
  /// The configuration, which says whether the lock file must exist, and where the packs are kept, so that later builds make deltas from them. If nil,
  /// it need not exist, and no packs are kept.
  package var configuration: PackerConfiguration?
  /// Who records. Nothing is noted if it is nil.
  package var origin: RecordOrigin?
  /// The manifest that is published in the place of the one that was built, because devices get its packs by a rollout.
  package var published: BuildRecord.Manifest?
  /// The packs of which the release has a version that only devices of a rollout take.
  package var candidates: Set<String> = []

  package var files: any FileSystem = SystemFiles()

  /// Makes a recording of the release in a directory.
  package init(dist: String, lockPath: String) {
    self.dist = dist
    self.lockPath = lockPath
  }

  /// An app version that is released together with the packs.
  package struct App: Sendable {
    /// The version as the team writes it, such as `2.1.0`.
    package var version: String
    /// The app's Info.plist, or those of its builds for several platforms.
    package var plists: [Plist]
    /// The public signing keys that the app trusts. If empty, the keys that the release is signed with are used.
    package var trustedKeys: [SigningPublicKey]
    /// The version of the keys document that the app embeds. Nil if it embeds plain keys.
    package var keysVersion: UInt64?

    /// An Info.plist of the app.
    package struct Plist: Sendable {
      /// The platform of the build; nil if there is one build.
      package var platform: DeviceProfile.Platform?
      /// Whether only the Info.plist names the platform. A version that was recorded without one then stays so.
      package var isImplied: Bool
      /// The Info.plist.
      package var plist: InfoPlist

      /// Makes a value from its parts.
      package init(platform: DeviceProfile.Platform? = nil, isImplied: Bool = false, _ plist: InfoPlist) {
        self.platform = platform
        self.isImplied = isImplied
        self.plist = plist
      }
    }

    /// Makes an app from its parts.
    package init(version: String, plists: [Plist], trustedKeys: [SigningPublicKey] = []) {
      self.version = version
      self.plists = plists
      self.trustedKeys = trustedKeys
    }
  }

  /// The result of a recording.
  package struct Report: Sendable {
    /// The contents of the lock file after the recording.
    package let lock: ReleaseLock
    /// Whether the lock file is the same as before.
    package let isUnchanged: Bool
    /// Why the packs were not kept, if they should have been.
    package var unkept: PackError?
    /// The contents of the lock file before; nil if there was none.
    fileprivate var before: ReleaseLock?
    /// The records and packs that were added to the folder of released packs.
    fileprivate var added: [String] = []
  }

  /// Records the release, and the app version if there is one. The lock file is replaced atomically.
  ///
  /// - Throws: ``PackError/Code/releaseConflict`` if the lock file has other values for the same version, or a higher version.
  package func record(_ app: App? = nil) throws(PackError) -> Report {
    let (record, shards, installs) = try checkedRecord()
    // Held to the end, so that a second recording sees what the first one wrote.
    let turn = try RecordingTurn(lockPath, files: files)
    defer { withExtendedLifetime(turn) {} }
    let before = try ReleaseLock.readIfPresent(lockPath, requiredBy: configuration, files: files)
    let isNew = files.isMissing(lockPath, following: .followed)
    var lock = before
    if let app = before.apps.first(where: { $0.firstManifest > record.manifest.version }) {
      throw PackError(
        .releaseConflict,
        "manifest \(record.manifest.version) in \(dist) is older than manifest \(app.firstManifest), which app \(app.title) knows",
        hint: ReleaseLock.renewal)
    }
    lock.released = try release(record, shards, installs, after: before.released)
    if let app {
      for var plist in app.plists {
        if plist.isImplied, before.apps.contains(where: { $0.version == app.version && $0.platform == nil }) { plist.platform = nil }
        try Self.add(try entry(app, plist, record: record), to: &lock)
      }
    }
    // Before the record, without which a later build does not ask for them.
    let unkept = unkept
    var added: [String] = []
    do throws(PackError) {
      if unkept == nil, let settings = configuration?.updates, let released = lock.released {
        try ReleasedPacks(settings.packs, files: files).keep(released, from: dist, adding: &added)
      }
      // Also if nothing changed: a run that was killed may have left temporary files.
      try lock.write(to: lockPath, files: files)
    } catch {
      // The packs of a release that the lock file has must stay: from before, or because only the last step of the write failed.
      if let now = try? ReleaseLock.readIfPresent(lockPath, requiredBy: configuration, files: files), now.released != lock.released {
        for path in added { try? files.remove(path, .file, in: nil) }
      }
      throw error
    }
    return Report(lock: lock, isUnchanged: lock == before, unkept: unkept, before: isNew ? nil : before, added: added)
  }

  /// Records that another manifest offers the packs of the last release, with other shares of its rollouts.
  ///
  /// - Parameters:
  ///   - entries: The packs that it offers, and its rollouts.
  ///   - previous: SHA-256 of the signed part of the manifest that it replaced.
  /// - Returns: Whether the lock file had that one as its last. If not, nothing changes.
  package static func renew(
    _ manifest: BuildRecord.Manifest, offering entries: (packs: [ManifestPack], rollouts: [Rollout]), after previous: [UInt8], shards: Int,
    in lockPath: String, of configuration: PackerConfiguration, origin: RecordOrigin?
  ) throws(PackError) -> Bool {
    let files = SystemFiles()
    let turn = try RecordingTurn(lockPath, files: files)
    defer { withExtendedLifetime(turn) {} }
    var lock = try ReleaseLock.readIfPresent(lockPath, requiredBy: configuration, files: files)
    guard var released = lock.released, released.signedDigest == previous else { return false }
    (released.manifestVersion, released.signedDigest) = (manifest.version, manifest.signedDigest)
    (released.contentDigest, released.issued, released.expires) = (manifest.contentDigest, manifest.issued, manifest.expires)
    (released.shards, released.recorded) = (max(released.shards, shards), origin)
    released.note(entries.packs, entries.rollouts)
    lock.released = released
    if let settings = configuration.updates { try ReleasedPacks(settings.packs, files: files).record(released) }
    try lock.write(to: lockPath, files: files)
    return true
  }

  /// Takes back the recording of a release that was not published: another publisher was faster.
  ///
  /// - Throws: ``PackError/Code/releaseConflict`` if the lock file has changed since.
  package func takeBack(_ report: Report) throws(PackError) {
    let turn = try RecordingTurn(lockPath, files: files)
    defer { withExtendedLifetime(turn) {} }
    guard try ReleaseLock.read(lockPath, files: files) == report.lock else { throw Self.conflict("\(lockPath) has changed since") }
    if let before = report.before {
      try before.write(to: lockPath, files: files)
    } else {
      try writing(lockPath, files.remove(lockPath, .file, in: nil))
    }
    for path in report.added { try? files.remove(path, .file, in: nil) }
  }

  /// The error that the folder of kept packs would be packed itself.
  private var unkept: PackError? {
    guard let configuration, let folder = configuration.updates?.packs else { return nil }
    for pack in configuration.packs {
      guard let place = pack.place(of: folder, files: files) else { continue }
      return ReleaseBuild.packed(folder, in: pack, at: place)
    }
    return nil
  }

  /// Marks an app version as out of use, so that later releases need not fit it.
  package static func retire(_ version: String, lockPath: String) throws(PackError) -> Report {
    let turn = try RecordingTurn(lockPath, files: SystemFiles())
    defer { withExtendedLifetime(turn) {} }
    let before = try ReleaseLock.read(lockPath)
    var lock = before
    guard lock.apps.contains(where: { $0.version == version }) else {
      let known = lock.apps.map(\.version).reduce(into: [String]()) { if $0.last != $1 { $0.append($1) } }.joined(separator: ", ")
      throw PackError(
        .usage, of: lockPath, "has no app \(version)", hint: known.isEmpty ? nil : "it has \(known)")
    }
    for index in lock.apps.indices where lock.apps[index].version == version { lock.apps[index].isRetired = true }
    try lock.write(to: lockPath)
    return Report(lock: lock, isUnchanged: lock == before)
  }

  // MARK: The release

  /// Reads the build record, and compares it with the manifest and the pack files.
  private func checkedRecord() throws(PackError) -> (BuildRecord, shards: Int, installs: [String: InstallMode]) {
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
    let manifest = try attributing(to: path) { () throws(PackError) in
      let bytes = try files.contents(of: path, limit: Manifest.largestSize, code: .damagedManifest)
      return try SignedManifest(bytes).verify(trusting: trusted)
    }
    guard manifest.signedDigest == record.manifest.signedDigest, manifest.manifest.version == record.manifest.version else {
      throw changed("\(path) is not the manifest that was built")
    }
    let catalogue = try ReleaseCatalogue(manifest.manifest, in: dist, files: files)
    let entries = Dictionary(catalogue.packs.map { ($0.id, $0) }) { first, _ in first }
    guard entries.count == record.packs.count else {
      throw changed("\(path) names \(entries.count) packs, but \(record.packs.count) were built")
    }
    for pack in record.packs {
      guard let entry = entries[pack.id], entry.version == pack.version, entry.size == pack.size, entry.sha256 == pack.sha256,
        entry.contentRoot == pack.contentRoot, entry.keyID == pack.keyID
      else {
        throw changed("\(dist)/\(BuildRecord.fileName) and the manifest describe pack '\(pack.id)' differently")
      }
      try checkFile(pack.file, size: pack.size, sha256: pack.sha256)
    }
    for pack in catalogue.packs {
      for file in pack.filesBeside { try checkFile(file.name, size: file.size, sha256: file.sha256) }
      // One whose time is to come is not here.
      if let file = pack.openerFile, pack.opener?.opens == nil { try checkFile(file.name, size: file.size, sha256: file.sha256) }
    }
    return (record, manifest.manifest.catalogue.count, entries.mapValues(\.install))
  }

  /// Compares a file of the release with what the build made.
  private func checkFile(_ name: String, size: UInt64, sha256: [UInt8]) throws(PackError) {
    let path = "\(dist)/\(name)"
    let found = try fileDigest(path)
    guard found.size == size else { throw changed("\(path) is \(found.size) bytes, but \(size) bytes were built") }
    guard found.sha256 == sha256 else {
      throw changed("\(path) has the SHA-256 \(found.sha256.hex), but the build made \(sha256.hex)")
    }
  }

  private func fileDigest(_ path: String) throws(PackError) -> (size: UInt64, sha256: [UInt8]) {
    do throws(PackError) {
      return try FileDigest.run(path, in: nil, title: path, files: files, backend: CryptoBackends.standard)
    } catch {
      guard error.code == .missingInput else { throw error }
      throw error.advising(.developer("bring the whole release back, or build again with 'packer build'"))
    }
  }

  private func changed(_ message: String) -> PackError {
    PackError(.releaseConflict, message, hint: "build again with 'packer build', and record the release unchanged")
  }

  /// Returns the release as the lock file stores it.
  private func release(
    _ record: BuildRecord, _ shards: Int, _ installs: [String: InstallMode], after before: ReleaseLock.Release?
  ) throws(PackError) -> ReleaseLock.Release {
    let manifest = published ?? record.manifest
    if let before {
      guard manifest.version >= before.manifestVersion else {
        throw Self.conflict("manifest \(manifest.version) in \(dist) is older than manifest \(before.manifestVersion), which was released")
      }
      guard manifest.version > before.manifestVersion || !before.isDoubled else {
        throw Self.conflict("manifest \(manifest.version) in \(dist) went out twice, with different content")
      }
      guard manifest.version > before.manifestVersion || manifest.signedDigest == before.signedDigest else {
        throw Self.conflict("manifest \(manifest.version) in \(dist) differs from the manifest \(manifest.version) that was released")
      }
    }
    let old = Dictionary(uniqueKeysWithValues: (before?.packs ?? []).map { ($0.id, $0) })
    var packs: [ReleaseLock.Pack] = []
    for pack in record.packs {
      if let old = old[pack.id] {
        guard pack.version >= old.version else {
          throw Self.conflict("pack '\(pack.id)' in \(dist) has version \(pack.version), but version \(old.version) was released")
        }
        guard pack.version > old.version || !old.isDoubled else {
          throw Self.conflict("pack '\(pack.id)' in \(dist) has version \(pack.version), which went out twice, with different content")
        }
        guard pack.version > old.version || pack.sha256 == old.sha256 else {
          throw Self.conflict("pack '\(pack.id)' in \(dist) differs from the version \(pack.version) that was released")
        }
      }
      var entry = ReleaseLock.Pack(
        id: pack.id, version: pack.version, size: pack.size, sha256: pack.sha256, contentRoot: pack.contentRoot, keyID: pack.keyID,
        settings: pack.settings, created: pack.created, install: installs[pack.id])
      entry.standing = old[pack.id].flatMap { $0.sha256 == pack.sha256 ? $0.standing : nil }
      if candidates.contains(pack.id) { entry.standing = .candidate }
      packs.append(entry)
    }
    let kept = Set(packs.map(\.id))
    for var pack in before?.packs ?? [] where !kept.contains(pack.id) {
      pack.isRemoved = true
      packs.append(pack)
    }
    packs.sort { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
    var release = ReleaseLock.Release(
      manifestVersion: manifest.version, signedDigest: manifest.signedDigest, contentDigest: manifest.contentDigest,
      issued: manifest.issued, expires: manifest.expires, rootKeyID: record.rootKeyID, packs: packs, recorded: before?.recorded,
      shards: max(before?.shards ?? 1, shards))
    // A release that is recorded again keeps the note of its first recording.
    if release != before { release.recorded = origin }
    return release
  }

  private static func conflict(_ message: String) -> PackError {
    PackError(.releaseConflict, message, hint: "build again with 'packer build', which takes versions from the lock file")
  }

  // MARK: The app

  private func entry(_ app: App, _ build: App.Plist, record: BuildRecord) throws(PackError) -> ReleaseLock.App {
    let (keys, path) = (build.plist.keys, build.plist.path)
    guard ReleaseLock.App.isVersion(app.version) else {
      throw PackError(.usage, "'\(app.version)' is not an app version", hint: "write it as on the App Store, such as 2.1.0")
    }
    if let problem = keys.problems.first {
      throw PackError(
        .releaseConflict, problem.message, details: keys.problems.map(\.message),
        hint: problem.hint ?? "packer verify --quick --plist \(ShellWord.path(path))"
      ).about(path)
    }
    let isServedByApple = keys.hosting == .apple
    let (budget, hosts, manifestURL) = (keys.budget, keys.allowList?.entries.sorted(), keys.manifestURL)
    guard isServedByApple || budget != nil && hosts != nil && manifestURL != nil else {
      throw PackError(
        .releaseConflict, of: path, "does not have all keys of an app that downloads packs itself",
        hint: "packer verify --quick --plist \(ShellWord.path(path))")
    }
    if let text = ([manifestURL].compactMap { $0 } + (hosts ?? [])).first(where: AppTargets.isVariable) {
      throw PackError(
        .releaseConflict, of: path, "has the value '\(text)', with a variable that Xcode replaces when it builds the app",
        hint: "record the Info.plist from the bundle of the built app")
    }
    for (key, bytes) in budget?.named ?? [] where bytes > Limits.packVersion {
      throw PackError(
        .releaseConflict, "\(path): \(key) is \(bytes) bytes, more than the \(Limits.packVersion) that a lock file can hold",
        hint: "packer verify --quick --plist \(ShellWord.path(path))")
    }
    // An app that embeds a keys document trusts whatever keys follow from it.
    let trusted = app.keysVersion != nil ? [] : app.trustedKeys.isEmpty ? record.signers : app.trustedKeys.map(\.text)
    var entry = ReleaseLock.App(
      version: app.version, platform: build.platform?.rawValue, budget: isServedByApple ? nil : budget,
      hosts: isServedByApple ? nil : hosts,
      manifestURL: isServedByApple ? nil : manifestURL, trustedKeys: trusted.sorted(),
      keyIDs: record.rootKeyID.map { [$0] } ?? Set(record.packs.map(\.keyID)).sorted(), format: PackHeader.formatVersion,
      firstManifest: record.manifest.version, recorded: origin)
    entry.keysVersion = app.keysVersion
    return entry
  }

  /// Adds an app version. A version that is recorded already must be the same, because the app that players have does not change.
  private static func add(_ app: ReleaseLock.App, to lock: inout ReleaseLock) throws(PackError) {
    // A version without a platform stands for all of them.
    if let other = lock.apps.first(where: { $0.version == app.version && ($0.platform == nil) != (app.platform == nil) }) {
      throw PackError(
        .releaseConflict, "app \(app.version) is recorded \(other.platform.map { "for \($0)" } ?? "without a platform")",
        hint: "record it under a new version; if the recorded one was never released, remove \(ReleaseFile.apps)/\(other.fileName)")
    }
    if let other = lock.apps.first(where: { $0.fileName != app.fileName && $0.fileName.lowercased() == app.fileName.lowercased() }) {
      throw PackError(
        .releaseConflict, "app \(app.version) is recorded as \(other.version), and many file systems do not tell them apart",
        hint: "write the version in the same case")
    }
    guard let index = lock.apps.firstIndex(where: { $0.version == app.version && $0.platform == app.platform }) else {
      var app = app
      let followed = Set(lock.apps.flatMap(\.follows))
      app.follows = lock.apps.map(\.stem).filter { !followed.contains($0) }.sorted()
      lock.apps.append(app)
      lock.apps.sort(by: ReleaseLock.precedes)
      return
    }
    let recorded = lock.apps[index]
    var differences: [String] = []
    for ((key, old), (_, new)) in zip(recorded.budget?.named ?? [], app.budget?.named ?? []) where old != new {
      differences.append("\(key) is recorded as \(old) bytes, but this Info.plist says \(new)")
    }
    func list(_ hosts: [String]?) -> String { hosts?.joined(separator: ", ") ?? "missing" }
    if recorded.hosts != app.hosts {
      differences.append(
        "BADownloadDomainAllowList is recorded as \(list(recorded.hosts)), but this Info.plist says \(list(app.hosts))")
    }
    if recorded.manifestURL != app.manifestURL {
      differences.append(
        "BAManifestURL is recorded as \(recorded.manifestURL ?? "missing"), but this Info.plist says \(app.manifestURL ?? "missing")")
    }
    if recorded.keysVersion != app.keysVersion {
      func words(_ version: UInt64?) -> String { version.map { "keys document \($0)" } ?? "plain keys" }
      differences.append("it is recorded with \(words(recorded.keysVersion)), but now embeds \(words(app.keysVersion))")
    }
    if recorded.trustedKeys != app.trustedKeys {
      differences.append(
        "trusted keys are recorded as \(recorded.trustedKeys.joined(separator: ", ")), but are now \(app.trustedKeys.joined(separator: ", "))"
      )
    }
    guard let first = differences.first else {
      guard !recorded.isRetired else {
        throw PackError(
          .releaseConflict, "app \(app.title) is retired, so 'packer verify' does not check it",
          hint: "if players use it again, remove \"retired\" from \(ReleaseFile.apps)/\(recorded.fileName)")
      }
      return
    }
    throw PackError(
      .releaseConflict, "app \(app.title): \(first)", details: differences,
      hint: "record it under a new version; if the recorded one was never released, remove \(ReleaseFile.apps)/\(recorded.fileName)")
  }
}
