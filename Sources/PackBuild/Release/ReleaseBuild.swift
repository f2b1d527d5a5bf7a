/// Builds a release from a configured project: packs, a signed manifest, and the keys for an app's Info.plist.
///
/// The same sources, configuration, keys, lock file, released packs and fixed time give the same directory, byte for byte, wherever and however often
/// it is built. A pack is taken from the earlier build at ``output`` if its content, key and settings did not change.
package struct ReleaseBuild: Sendable {
  /// The configuration of the project.
  package var configuration: PackerConfiguration
  /// The directory of the release, by default `dist` beside the configuration. An earlier release there is replaced only by a complete one.
  package var output: String
  /// The path of the lock file, which determines versions. By default it is beside the configuration.
  package var lockPath: String
  /// The ids of the packs to build. Empty means all packs. Other packs are taken unchanged from the earlier build.
  package var wanted: [String] = []
  /// The manifest that devices have now, whose versions are not used again. Nil if it is not known.
  package var published: PublishedManifest?
  /// Where machines share what they made. Nil for no such place.
  package var cache: PackCache?
  /// The keys documents that count. Nil means those of the file that the configuration names, which is read once.
  package var keysFile: KeysFile?
  /// Whether the manifest gets new issue and expiry times even if nothing else changed.
  package var renews = false
  /// Whether the packaging manifests for Apple's `ba-package` are made, too.
  package var makesBAPackages = false
  /// Whether the build only reports what it would do, and writes nothing.
  package var isTrial = false
  /// Whether the key of a trial run is not that of the packs: it is taken to be the one that they were made with before.
  package var assumesKeys = false
  /// Whether the sources are those of an earlier release, whose contents are meant to come back.
  package var bringsBack = false
  /// The number of threads. Nil means the number of processors that are online.
  package var jobs: Int?
  /// The time to write into the release.
  package var time: BuildTime

  package var files: any FileSystem = SystemFiles()
  package var backend: any CryptoBackend = CryptoBackends.standard

  /// Makes a build of all packs with default settings.
  package init(_ configuration: PackerConfiguration, time: BuildTime) {
    self.configuration = configuration
    self.time = time
    output = configuration.path(of: ReleaseFile.folder)
    lockPath = configuration.path(of: ReleaseFile.lock)
  }

  /// Builds the release.
  ///
  /// Nothing appears at ``output`` until the release is complete, checked with the code of a client, and on the disk. On failure, and if the task is
  /// cancelled, the earlier release is unchanged.
  ///
  /// - Parameters:
  ///   - key: the application key, or with `perPackKeys` the root key, from which the key of each pack is derived.
  ///   - signers: the keys to sign the manifest with: at least one, except in a trial run.
  ///   - progress: called with the progress of reading and packing, in bytes of content.
  /// - Throws: ``PackError``. If sources cannot be packed, its details list the problems of all of them.
  package func run(
    key: borrowing PackKey, signers: [ReleaseSigner], progress: ProgressHandler? = nil
  ) async throws(PackError) -> ReleaseBuildReport {
    let packs = sortedPacks
    try checkWanted(packs)
    try checkSigners(signers)
    try checkPlace(packs)
    var lock = try ReleaseLock.readIfPresent(lockPath, requiredBy: configuration, files: files)
    // Before anything is packed.
    let trust: ReleaseTrust? = try isTrial ? nil : trust(of: signers.map(\.publicKey), lock)
    let existing = try ExistingRelease.look(at: output, files: files)
    var remarks = try raise(&lock, to: existing)
    try checkManifestSize(packs, keyID: "\(key.id)")
    try lock.checkApps(at: lockPath)

    var keyed = try keyed(packs, with: Shared(key.copy()))
    if assumesKeys { keyed = assumingKeys(keyed, lock, existing) }
    let decisions = try await decide(keyed, lock: lock, existing: existing, progress: progress)
    remarks += [removed(decisions, lock), unmatched(decisions)].compactMap(\.self)
    let history = ReleaseHistory(lock, configuration, files: files)
    if let history, let settings = configuration.updates, let last = lock.released, try !history.isRecorded() {
      remarks.append(
        .warning(
          "\(settings.packs) has no record of manifest \(last.manifestVersion), the last release: players with earlier releases download changed packs whole",
          hint: "bring the folder back, and keep it from one build to the next; 'updates: none' in \(configuration.path) turns deltas off"))
    }
    var editions = try history?.editions(besides: decisions.map { ($0.id, $0.planned.sha256) }) ?? [:]
    if !bringsBack, let remark = returned(decisions, to: editions, lock) { remarks.append(remark) }
    guard let trust else {
      let updates = plannedUpdates(to: decisions, from: editions, existing: existing)
      // A cache may have them.
      if cache == nil, let remark = lackingFiles(updates) { remarks.append(remark) }
      return ReleaseBuildReport(
        output: output, items: try trial(decisions), updates: updates, downloads: [], change: nil, room: [], release: nil, remarks: remarks)
    }

    // Otherwise it would be noticed after everything is packed.
    if decisions.contains(where: \.isDue) {
      for signer in signers { try signer.checkProgram() }
    }
    let staged = try StagedRelease(output, keepsStale: existing?.isUnfinished ?? false, files: files, backend: backend)
    do throws(PackError) {
      let cached = try CachedFiles(self, staged)
      let made = try await PackMaker(build: self, staged: staged, cached: cached, progress: progress).packs(decisions)
      // Then the released pack is an earlier edition, too.
      if let history, made.contains(where: { $0.record.differsFrom != nil }) {
        editions = try history.editions(besides: made.map { ($0.id, $0.record.sha256) })
      }
      var entries: [ManifestPack] = []
      for pack in made {
        try Task.checkpoint()
        entries.append(try entry(for: pack, in: staged))
        remarks += pack.remarks
      }
      LanguageGroup.complete(&entries, fallback: configuration.fallbackLanguage)
      let deltas = DeltaMaker(build: self, existing: existing, staged: staged, cached: cached, progress: progress)
      let outcomes = try await deltas.updates(to: made, from: editions)
      try cached?.finish()
      remarks += cache?.takeRemarks() ?? []
      entries = Self.listing(outcomes, in: entries)
      if let remark = lackingFiles(outcomes.map(\.update)) { remarks.append(remark) }
      let release = try release(made, entries, outcomes, trust, lock: lock, existing: existing)
      let signed = try sign(release, signers, trust, existing)
      remarks += [release.term.remark, trust.remark].compactMap(\.self)
      remarks += sizeRemarks(signed.document.bytes.count, packs: release.manifest.packs.count, ceiling: release.ceiling)
      try write(release, existing, staged)
      for (name, bytes) in try release.documents(configuration, signed) { try staged.write(bytes, to: name) }
      if makesBAPackages { remarks += try writeBAPackages(release, staged) }
      let record = release.record(
        signed, rootKeyID: configuration.perPackKeys ? "\(key.id)" : nil, signers: signers.map(\.publicKey.text), files: staged.names)
      try staged.write(record.document, to: BuildRecord.fileName)
      let downloads = try history?.updates(to: entries) ?? []
      // Checked again: a file that was added meanwhile would be removed.
      _ = try ExistingRelease.look(at: output, files: files)
      try Task.checkpoint()
      try staged.commit()
      return ReleaseBuildReport(
        output: output, items: zip(made, entries).map { $0.origin.item($0.id, $0.record.version, $1) },
        updates: outcomes.map(\.update), downloads: downloads,
        change: lock.released.map { ReleaseBuildReport.Change(from: $0, to: entries) },
        room: AppRoom.all(lock.apps, packs: entries, manifestSize: signed.size), release: release.report(signed),
        remarks: remarks)
    } catch {
      throw staged.naming(error)
    }
  }

  /// The packs of the configuration in the byte order of their ids.
  var sortedPacks: [PackerConfiguration.Pack] {
    configuration.packs.sorted { $0.id.text.utf8.lexicographicallyPrecedes($1.id.text.utf8) }
  }

  /// Raises the versions of a lock file to those of releases that it does not know, and returns remarks about them.
  ///
  /// - Throws: ``PackError/Code/invalidRecord`` if a recorded version is too far above a known one.
  func raise(_ lock: inout ReleaseLock, to existing: ExistingRelease?) throws(PackError) -> [ReleaseBuildReport.Remark] {
    if let record = existing?.record {
      try check(lock, manifest: record.manifest.version, packs: record.packs.map { ($0.id, $0.version) }, at: output)
    }
    if let published {
      try check(lock, manifest: published.version, packs: published.packs.map { ($0.id, $0.version) }, at: published.place)
    }
    if let folder = configuration.updates.map({ ReleasedPacks($0.packs, files: files) }), let record = try folder.records().first {
      let newest = try folder.release(record)
      try check(lock, manifest: newest.manifestVersion, packs: newest.packs.map { ($0.id, $0.version) }, at: folder.directory)
    }
    var remarks: [ReleaseBuildReport.Remark] = []
    if let existing, lock.raise(to: existing.record) {
      remarks.append(unrecorded("manifest \(existing.record.manifest.version)", at: output))
    }
    if let published, let unknown = lock.raise(to: published) {
      remarks.append(unrecorded(unknown, at: published.place))
    }
    return remarks
  }

  // MARK: Checks

  /// Throws if the lock has a version that cannot have followed one of these.
  private func check(_ lock: ReleaseLock, manifest: UInt64, packs: [(id: String, version: UInt64)], at place: String) throws(PackError) {
    guard let released = lock.released else { return }
    let recorded = Dictionary(uniqueKeysWithValues: released.packs.map { ($0.id, $0.version) })
    let pairs = [("the manifest", manifest, released.manifestVersion)] + packs.map { ("pack '\($0.id)'", $0.version, recorded[$0.id] ?? 0) }
    guard let (name, known, version) = pairs.first(where: { Limits.isVersionJump(from: $0.1, to: $0.2) }) else { return }
    throw PackError(
      .invalidRecord, of: lockPath, "has version \(version) of \(name), but \(place) has \(known): no release goes that far",
      hint: "bring back the lock file before that change: git log -p \(ShellWord.path(lockPath))")
  }

  /// Returns a remark about packs of the last release that the configuration does not name.
  private func removed(_ packs: [PackDecision], _ lock: ReleaseLock) -> ReleaseBuildReport.Remark? {
    let kept = Set(packs.map(\.id))
    let before = (lock.released?.packs ?? []).filter { !$0.isRemoved }
    let (offered, removed) = (Set(before.map(\.id)), before.map(\.id).filter { !kept.contains($0) })
    guard let first = removed.first else { return nil }
    let new = Dictionary(packs.filter { !offered.contains($0.id) }.map { ($0.planned.contentRoot, $0.id) }) { first, _ in first }
    for pack in before where !kept.contains(pack.id) {
      guard let other = new[pack.contentRoot] else { continue }
      return .warning(
        "pack '\(other)' is what '\(pack.id)' was in the last release: players download it again, and lose what a game has saved",
        hint: "keep the id '\(pack.id)'; 'name' is what people read")
    }
    guard removed.count == offered.count else {
      let more = removed.count > 1 ? ", and \(removed.count - 1) more" : ""
      return .note("pack '\(first)' of the last release is not in \(configuration.path)\(more)")
    }
    return .warning(
      "no pack of the last release is in \(configuration.path), neither '\(first)' nor any other",
      hint: "if \(lockPath) is that of another configuration, give each its own directory")
  }

  /// Returns a remark about a pack that has an earlier content again: perhaps a rollback replaced that, and its sources were not mended.
  private func returned(
    _ decisions: [PackDecision], to editions: [String: [ReleaseHistory.Edition]], _ lock: ReleaseLock
  ) -> ReleaseBuildReport.Remark? {
    let last = Dictionary((lock.released?.packs ?? []).map { ($0.id, $0.contentRoot) }) { first, _ in first }
    for decision in decisions where last[decision.id].map({ $0 != decision.planned.contentRoot }) ?? false {
      guard let edition = (editions[decision.id] ?? []).first(where: { $0.pack.contentRoot == decision.planned.contentRoot }) else {
        continue
      }
      return .note(
        "pack '\(decision.id)' has the content of manifest \(edition.manifest) again",
        hint: "after a rollback, mend the sources before they are published")
    }
    return nil
  }

  /// Returns the warning that patterns exclude nothing from any pack. Those that keep packer's own files out may come before the files.
  private func unmatched(_ decisions: [PackDecision]) -> ReleaseBuildReport.Remark? {
    var (patterns, idle, used): ([String], Set<String>, Set<Place>) = ([], [], [])
    for decision in decisions {
      let unmatched = decision.census?.unmatched ?? []
      patterns += unmatched.filter { idle.insert($0).inserted }
      used.formUnion(Self.places(in: decision).filter { !unmatched.contains($0.pattern) }.map(\.place))
    }
    let keys = ([configuration.key].compactMap(\.self) + configuration.signKeys).compactMap { (try? KeyReference(parsing: $0))?.file }
    let folders = [configuration.updates?.packs, configuration.cache].compactMap(\.self)
    let own = [configuration.path, lockPath, output] + [ReleaseFile.apps, ".gitignore"].map(configuration.path(of:)) + keys + folders
    for decision in decisions where !idle.isEmpty {
      var pack = decision.keyed.pack
      for (place, pattern) in Self.places(in: decision) where idle.contains(pattern) {
        pack.settings.excludes = [pattern]
        if used.contains(place) || own.contains(where: { pack.keepsOut($0, files: files) }) { idle.remove(pattern) }
      }
    }
    patterns.removeAll { !idle.contains($0) }
    guard !patterns.isEmpty else { return nil }
    let named = patterns.prefix(3).map { "'\($0)'" }.joined(separator: ", ") + (patterns.count > 3 ? " and \(patterns.count - 3) more" : "")
    return .warning("'exclude' in \(configuration.path): nothing to pack matches \(named)", hint: Glob.hint)
  }

  /// The place of a pattern in packer.yml. Packs of one entry have the same patterns, with the names of their directories.
  private struct Place: Hashable {
    let entry: SourcePosition
    let number: Int
  }

  private static func places(in decision: PackDecision) -> [(place: Place, pattern: String)] {
    let pack = decision.keyed.pack
    return pack.settings.excludes.enumerated().map { (Place(entry: pack.position, number: $0), $1) }
  }

  /// The warning that the lock file lacks a release.
  private func unrecorded(_ release: String, at place: String) -> ReleaseBuildReport.Remark {
    .warning(
      "\(place) has \(release), which \(lockPath) does not know: this build goes on from there",
      hint: "restore the newest lock file and build again; its record of this release is missing")
  }

  func checkWanted(_ packs: [PackerConfiguration.Pack]) throws(PackError) {
    let known = Set(packs.map(\.id.text))
    for id in wanted where !known.contains(id) {
      throw PackError(
        .usage, of: configuration.path, "has no pack '\(id)'",
        hint: "its packs are \(packs.map(\.id.text).prefix(20).joined(separator: ", "))")
    }
  }

  private func checkSigners(_ signers: [ReleaseSigner]) throws(PackError) {
    guard !signers.isEmpty || isTrial else {
      throw PackError(.noKey, "no signing key was given", hint: "make one with 'packer key new --signing -o release.sign.key'")
    }
    guard Set(signers.map(\.publicKey.id)).count == signers.count else {
      throw PackError(.usage, "a signing key was given twice", hint: "give each key once")
    }
  }

  /// Throws if the output is inside the root of a pack that does not exclude it, or the root inside the output: the release would be packed itself,
  /// and differ with each build.
  func checkPlace(_ packs: [PackerConfiguration.Pack]) throws(PackError) {
    guard PathParts(output) != nil else {
      throw PackError(.usage, "'\(output)' cannot be the directory of a release", hint: "name a directory, as in -o dist")
    }
    // A directory that does not exist is reported later, when it is used.
    guard let place = CanonicalPlace(output, files: files) else { return }
    let roots = packs.compactMap { pack in (try? files.canonicalPath(of: pack.root)).map { (pack: pack, root: $0) } }
    let own = place.path
    for (pack, root) in roots {
      guard !root.utf8.elementsEqual(own.utf8), !root.utf8.starts(with: "\(own)/".utf8) else {
        throw PackError(
          .usage, of: pack.root, "is the root of pack '\(pack.id)', and is inside \(output), which a build replaces",
          hint: "correct the root in \(configuration.path), or choose another directory with -o")
      }
      guard let inner = pack.place(of: place, inRoot: root) else { continue }
      throw PackError(
        .usage, of: output, "is inside \(pack.root), the root of pack '\(pack.id)', and would be packed",
        hint: "choose a directory outside it with -o, or exclude it from the pack: exclude: [\(JSON.quoted(Glob.writable("/\(inner)/")))]")
    }
    let kept = configuration.updates.flatMap { ReleasePlaces.exists($0.packs) ? $0.packs : nil }
    let cache = configuration.cache.flatMap { PackerConfiguration.isDirectory($0) ? $0 : nil }
    let keptPlace = kept.flatMap { CanonicalPlace($0, files: files) }
    let cachePlace = cache.flatMap { CanonicalPlace($0, files: files) }
    if let cache,
      "\(cache)/".utf8.starts(with: "\(output)/".utf8) || cachePlace.map({ "\($0.named)/".utf8.starts(with: "\(own)/".utf8) }) ?? false
    {
      throw PackError(
        .usage, of: cache, "is in \(output), which a build replaces", hint: "name another directory in \(configuration.path): cache: …")
    }
    for (pack, root) in roots {
      if let kept, let inner = keptPlace.flatMap({ pack.place(of: $0, inRoot: root) }) { throw Self.packed(kept, in: pack, at: inner) }
      if let cache, let inner = cachePlace.flatMap({ pack.place(of: $0, inRoot: root) }) {
        throw Self.packed(cache, in: pack, at: inner, key: "cache: …")
      }
    }
  }

  /// Returns the error that the folder of released packs, or another one that a key names, would be packed.
  static func packed(
    _ folder: String, in pack: PackerConfiguration.Pack, at place: String, key: String = "updates: {packs: …}"
  ) -> PackError {
    PackError(
      .usage, of: folder, "is inside \(pack.root), the root of pack '\(pack.id)', and would be packed",
      hint: "name another with '\(key)', or exclude it from the pack: exclude: [\(JSON.quoted(Glob.writable("/\(place)/")))]")
  }
}

extension PackerConfiguration.Pack {
  /// Whether a directory would be packed, because it is the root or inside it and not excluded.
  package func packs(_ directory: String) -> Bool { place(of: directory, files: SystemFiles()) != nil }

  /// Whether a directory would be in the pack, were it not excluded.
  func keepsOut(_ directory: String, files: any FileSystem) -> Bool {
    var open = self
    open.settings.excludes = []
    return place(of: directory, files: files) == nil && open.place(of: directory, files: files) != nil
  }

  /// Returns the path of a directory in the pack if it would be packed, because it is inside the root and not excluded; otherwise nil.
  func place(of directory: String, files: any FileSystem) -> String? {
    guard let place = CanonicalPlace(directory, files: files), let root = try? files.canonicalPath(of: root) else { return nil }
    return self.place(of: place, inRoot: root)
  }

  /// Does the same for a directory and a root whose paths are known.
  fileprivate func place(of place: CanonicalPlace, inRoot root: String) -> String? {
    // The root itself, perhaps by way of a link.
    guard !place.path.utf8.elementsEqual(root.utf8) else { return "." }
    let front = Array("\(root == "/" ? "" : root)/".utf8)
    guard place.parent.utf8.elementsEqual(root.utf8) || place.parent.utf8.starts(with: front) else { return nil }
    let inner = String(decoding: place.named.utf8.dropFirst(front.count), as: UTF8.self)
    return DirectoryScan.doesExclude(inner, by: settings.excludes) ? nil : inner
  }
}

/// Where a directory is, which need not exist.
private struct CanonicalPlace {
  /// The canonical path of the directory above it.
  let parent: String
  /// Its name in that, as a path.
  let named: String
  /// Its own canonical path, if it exists; otherwise its name.
  let path: String

  /// Returns nil if the directory above it does not exist.
  init?(_ directory: String, files: any FileSystem) {
    guard let parts = PathParts(directory), let parent = try? files.canonicalPath(of: parts.directory) else { return nil }
    self.parent = parent
    named = "\(parent == "/" ? "" : parent)/\(parts.name)"
    path = (try? files.canonicalPath(of: directory)) ?? named
  }
}

extension PackerConfiguration {
  /// Returns the path of a file beside the configuration, as the process can open it.
  package func path(of name: String) -> String {
    switch directory {
    case ".", "": name
    case "/": "/\(name)"
    default: "\(directory)/\(name)"
    }
  }
}
