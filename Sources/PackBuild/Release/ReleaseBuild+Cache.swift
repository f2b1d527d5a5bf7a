extension ReleaseBuild.PackDecision {
  /// What the bytes of the pack follow from. Nil if its source is not read.
  var identity: PackIdentity? {
    guard let census else { return nil }
    return PackIdentity(id: id, contentRoot: census.contentRoot, keyID: keyID, settings: settings)
  }

  /// More bytes than the file of the pack can have. Compression adds little, and an entry takes its paths, headers and a record.
  var largestSize: UInt64 {
    guard let census else { return 0 }
    return edition?.recorded?.size ?? (census.contentSize + census.contentSize / 8 + UInt64(census.entryCount) * 8192 + 65_536)
  }
}

extension ReleaseBuild {
  /// Takes packs from the cache, as far as it has them.
  func takeCached(_ decisions: inout [PackDecision], keys: ContentKeys, from cached: CachedFiles?, into staged: StagedRelease)
    async throws(PackError)
  {
    guard let cached else { return }
    // The bytes that were released, wherever they were made.
    let due = decisions.indices.filter { decisions[$0].result == nil && decisions[$0].identity != nil }
    let released = due.compactMap { index in
      decisions[index].edition?.recorded.map { (index: index, file: CachedFile(sha256: $0.sha256)) }
    }
    try await takeCached(released, &decisions, keys: keys, from: cached, into: staged)
    var names: [(index: Int, name: String)] = []
    for index in due where decisions[index].result == nil {
      guard let identity = decisions[index].identity, let edition = decisions[index].edition else { continue }
      // This packer makes other bytes than the released ones, as it did when it made these.
      let version = try edition.recorded.map { (pack) throws(PackError) in try PackEdition.version(after: pack) } ?? edition.version
      names.append((index, try cached.name(of: identity, version: version)))
    }
    let references = try cached.references(names.map(\.name))
    let made = names.compactMap { item in references[item.name].map { (index: item.index, file: $0) } }
    try await takeCached(made, &decisions, keys: keys, from: cached, into: staged)
  }

  private func takeCached(
    _ wanted: [(index: Int, file: CachedFile)], _ decisions: inout [PackDecision], keys: ContentKeys, from cached: CachedFiles,
    into staged: StagedRelease
  ) async throws(PackError) {
    let found = try cached.bring(wanted.map { ($0.file, decisions[$0.index].largestSize, "pack '\(decisions[$0.index].id)'") })
    for (index, file) in wanted where found.contains(file) {
      try checkpoint()
      let id = decisions[index].id
      do throws(PackError) {
        try await take(file, from: cached, for: &decisions[index], key: keys.key(of: id).key, into: staged)
        decisions[index].isCached = true
      } catch {
        guard !Self.endsBuild(error) else { throw error }
        try? staged.remove(Self.draft(id))
        cached.refuse(file, of: "pack '\(id)'", error)
      }
      cached.drop(file.name)
    }
  }

  /// Whether an error is not about a file of the cache.
  static func endsBuild(_ error: PackError) -> Bool { error.code == .cannotWrite || error.code == .noSpace || error.code == .cancelled }

  /// The name of a pack before its digest is known.
  static func draft(_ id: String) -> String { "\(id).pack" }

  private func take(
    _ cachedFile: CachedFile, from cached: CachedFiles, for decision: inout PackDecision, key: borrowing PackKey, into staged: StagedRelease
  ) async throws(PackError) {
    guard let census = decision.census, let edition = decision.edition else { preconditionFailure("kept packs are not due") }
    let directory = try files.openDirectory(cached.directory)
    let draft = Self.draft(decision.id)
    // Others may still write to the file.
    try staged.adopt(cachedFile.name, in: directory, as: draft, sourcePath: cached.directory, isCopied: true)
    let (size, sha256) = try staged.digest(of: draft)
    // Other machines have the key of the pack, so only its content shows that it is made from these sources.
    let pack = try Pack(staged.path(of: draft), key: key, files: files, backend: backend)
    try pack.checkName(decision.pack.id)
    guard "\(pack.keyID)" == decision.keyID, try PackCensus(pack).contentRoot == census.contentRoot else {
      throw PackError(.wrongPack, of: "pack '\(decision.id)'", "has a pack with another content or key")
    }
    let file = Self.fileName(decision.id, sha256)
    var made = BuildRecord.Pack(
      id: decision.id, version: pack.header.packVersion, file: file, size: size, sha256: sha256, contentRoot: census.contentRoot,
      keyID: decision.keyID, settings: decision.settings, created: time.now)
    if let recorded = edition.recorded {
      if recorded.sha256 == sha256 { made.created = recorded.created } else { differ(&decision, &made, from: recorded) }
    }
    guard
      edition.objection(to: made, contentRoot: census.contentRoot, keyID: decision.keyID, settings: decision.settings) == nil
    else {
      throw PackError(.wrongPack, of: "pack '\(decision.id)'", "has version \(made.version), but must have version \(edition.version)")
    }
    try await pack.verify(jobs: jobs, contentLimit: census.contentSize)
    try staged.rename(draft, to: file)
    decision.result = made
  }
}
