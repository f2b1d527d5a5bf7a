import PackFiles
package import PackFormat
import PackManifest
package import PackProject

extension ReleaseLock {
  /// Makes the lock file of a project that has released nothing, unless there is a file.
  ///
  /// - Returns: Whether it was made.
  package static func createIfMissing(_ path: String) throws(PackError) -> Bool {
    let files = SystemFiles()
    guard let parts = PathParts(path) else { return false }
    do throws(FileFailure) {
      let directory = try files.open(parts.directory, .directory, in: nil)
      try files.makeNew(parts.name, mode: 0o644, in: directory) { (file) throws(FileFailure) in
        try files.writeAll(file, at: 0, ReleaseLock().document.byteSpan)
      }
    } catch {
      guard error.isExisting else { throw error.writing(path) }
      return false
    }
    return true
  }

  /// Throws if the configuration requires a lock file and there is none at `path`.
  package static func checkPresence(at path: String, isPresent: Bool, for configuration: PackerConfiguration) throws(PackError) {
    guard configuration.lock == .required, !isPresent else { return }
    throw PackError(
      .missingLock, of: path, "does not exist, but \(configuration.path) says 'lock: required'",
      hint: "git restore \(ShellWord.path(path)), or before the first release: \(emptyCommand(path))")
  }

  /// The command that makes an empty lock file.
  package static func emptyCommand(_ path: String) -> String { "echo '{\"apps\": [], \"version\": 1}' > \(ShellWord.path(path))" }

  /// Raises the versions to those of an earlier build, if that build has versions that no build with this lock can make: a release of it was
  /// recorded, and the record was lost.
  ///
  /// - Returns: Whether anything was raised.
  mutating func raise(to record: BuildRecord) -> Bool {
    let made = record.packs.map {
      Pack(
        id: $0.id, version: $0.version, sha256: $0.sha256, contentRoot: $0.contentRoot, keyID: $0.keyID, settings: $0.settings,
        created: $0.created)
    }
    let manifest = record.manifest
    let known = Dictionary(uniqueKeysWithValues: (released?.packs ?? []).map { ($0.id, $0.version) })
    // An unreleased build is one version ahead of the lock.
    let isAhead = manifest.version > (released?.manifestVersion ?? 0) + 1
    let ahead = made.filter { isAhead ? $0.version > known[$0.id] ?? 0 : $0.version > (known[$0.id] ?? 0) + 1 }
    guard isAhead || !ahead.isEmpty else { return false }
    var packs = (released?.packs ?? []).filter { old in !ahead.contains { $0.id == old.id } } + ahead
    packs.sort { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
    if isAhead {
      released = Release(
        manifestVersion: manifest.version, signedDigest: manifest.signedDigest, contentDigest: manifest.contentDigest,
        issued: manifest.issued, expires: manifest.expires, rootKeyID: record.rootKeyID, packs: packs)
    } else {
      released?.packs = packs
    }
    return true
  }
}
