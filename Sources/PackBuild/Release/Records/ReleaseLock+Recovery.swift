extension ReleaseLock {
  /// Makes the lock file of a project that has released nothing, unless there is a file.
  ///
  /// - Returns: Whether it was made.
  package static func createIfMissing(_ path: String) throws(PackError) -> Bool {
    let files = SystemFiles()
    guard let parts = PathParts(path) else { return false }
    return try writing(path, unlessExisting(files.makeNew(parts.name, mode: 0o666, in: parts.directory, ReleaseLock().document))) != nil
  }

  /// What to do if the lock file is missing.
  package static func recovery(of path: String) -> String {
    let path = ShellWord.path(path)
    return "git restore \(path), if it is lost: packer release recover, or before the first release: echo '{\"version\": 2}' > \(path)"
  }

  /// What to do if the lock file is not the newest one.
  package static let renewal = "get the newest lock file, or if it is lost: packer release recover; then packer build"

  /// Raises the versions to those of an earlier build, if that build has versions that no build with this lock can make: a release of it was
  /// recorded, and the record was lost.
  ///
  /// - Returns: Whether anything was raised.
  mutating func raise(to record: BuildRecord) -> Bool {
    let made = record.packs.map {
      Pack(
        id: $0.id, version: $0.version, size: $0.size, sha256: $0.sha256, contentRoot: $0.contentRoot, keyID: $0.keyID,
        settings: $0.settings,
        created: $0.created)
    }
    let manifest = record.manifest
    let known = Dictionary(uniqueKeysWithValues: (released?.packs ?? []).map { ($0.id, $0.version) })
    // An unreleased build is one version ahead of the lock.
    let isAhead = manifest.version > (released?.manifestVersion ?? 0) + 1
    let ahead = made.filter { isAhead ? $0.version > known[$0.id] ?? 0 : $0.version > (known[$0.id] ?? 0) + 1 }
    guard isAhead || !ahead.isEmpty else { return false }
    let packs = packs(replacing: ahead)
    if isAhead {
      var shards = released?.shards ?? 1
      // Shards without packs are one file.
      while shards < min(record.files.count(where: Shard.isFileName), 1 << Shard.mostBits) { shards *= 2 }
      released = Release(
        manifestVersion: manifest.version, signedDigest: manifest.signedDigest, contentDigest: manifest.contentDigest,
        issued: manifest.issued, expires: manifest.expires, rootKeyID: record.rootKeyID, packs: packs, shards: shards)
    } else {
      released?.packs = packs
    }
    return true
  }

  /// Throws if an app version knows a later manifest than the last release: its record was lost, and with it the versions of packs.
  func checkApps(at path: String) throws(PackError) {
    let last = released?.manifestVersion ?? 0
    guard let app = apps.first(where: { $0.firstManifest > last }) else { return }
    throw PackError(
      .releaseConflict, of: path,
      released == nil
        ? "holds no release, but app \(app.title) was shipped with manifest \(app.firstManifest)"
        : "ends with manifest \(last), but app \(app.title) was shipped with manifest \(app.firstManifest)",
      hint: Self.renewal)
  }

  /// Returns the packs of the last release with these in the place of those of the same names, in order.
  func packs(replacing new: [Pack]) -> [Pack] {
    let ids = Set(new.map(\.id))
    return ((released?.packs ?? []).filter { !ids.contains($0.id) } + new).sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
  }
}
