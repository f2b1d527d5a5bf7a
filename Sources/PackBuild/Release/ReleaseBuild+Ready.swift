import PackCrypto
import PackFiles
import PackFormat
import PackReading

extension ReleaseBuild.PackDecision {
  /// What the bytes of the pack follow from. Nil if its source is not read.
  var identity: PackIdentity? {
    guard let census, let edition else { return nil }
    return PackIdentity(
      id: id, contentRoot: census.contentRoot, keyID: keyID, settings: settings, version: edition.version,
      released: edition.recorded?.sha256)
  }
}

extension ReleaseBuild {
  /// Takes packs that were made elsewhere, as far as there are any.
  ///
  /// - Throws: the error of a file that is not what it should be. Its subject is the title of the pack.
  func takeReady(_ decisions: inout [PackDecision], key: borrowing PackKey, into staged: StagedRelease) async throws(PackError) {
    guard let ready else { return }
    try ready.check(self)
    let due = decisions.indices.filter { decisions[$0].result == nil }
    let packs = try ready.packs(due.compactMap { decisions[$0].identity })
    for (index, pack) in zip(due, packs) {
      guard let pack else { continue }
      try checkpoint()
      do throws(PackError) {
        try await take(pack, for: &decisions[index], key: key, into: staged)
      } catch {
        throw error.code == .cannotWrite || error.code == .noSpace || error.code == .cancelled ? error : error.about(pack.title)
      }
    }
  }

  private func take(
    _ ready: ReadyPack, for decision: inout PackDecision, key: borrowing PackKey, into staged: StagedRelease
  ) async throws(PackError) {
    guard let census = decision.census, let edition = decision.edition else { preconditionFailure("kept packs are not due") }
    let directory: OpenFile
    do throws(FileFailure) {
      directory = try files.open(ready.directory, .directory, in: nil)
    } catch {
      throw error.reading(ready.directory)
    }
    let file = Self.fileName(decision.id, ready.sha256)
    try staged.adopt(ready.file, in: directory, as: file, sourcePath: ready.directory, isCopied: true)
    let (size, sha256) = try staged.digest(of: file)
    guard size == ready.size, sha256 == ready.sha256 else {
      throw PackError(
        .digestMismatch, of: ready.title, "has a file of \(size) bytes that is not the one of \(ready.size) bytes that was made")
    }
    var made = BuildRecord.Pack(
      id: decision.id, version: ready.version, file: file, size: size, sha256: sha256, contentRoot: census.contentRoot,
      keyID: decision.keyID, settings: decision.settings, created: time.now)
    if let recorded = edition.recorded {
      if recorded.sha256 == sha256 { made.created = recorded.created } else { differ(&decision, &made, from: recorded) }
    }
    guard
      edition.objection(to: made, contentRoot: census.contentRoot, keyID: decision.keyID, settings: decision.settings) == nil
    else {
      throw PackError(.wrongPack, of: ready.title, "has version \(ready.version), but must have version \(edition.version)")
    }
    // A worker has the key of the pack, so only its content shows that it is made from these sources.
    let pack = try Pack(staged.path(of: file), key: key, files: files, backend: backend)
    guard pack.header.packVersion == ready.version, "\(pack.keyID)" == decision.keyID,
      try PackCensus(pack).contentRoot == census.contentRoot
    else {
      throw PackError(.wrongPack, of: ready.title, "has a pack with another content, version or key")
    }
    try await pack.verify(jobs: jobs, contentLimit: census.contentSize)
    decision.result = made
  }
}
