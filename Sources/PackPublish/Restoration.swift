/// The contents of an earlier release, unpacked, as the sources of the next one.
package struct Restoration: Sendable {
  /// The configuration, in which each pack has its earlier contents as its source.
  package let configuration: PackerConfiguration
  /// The ids of packs that the earlier release did not have. They stay as the last release has them.
  package let others: [String]
  /// The ids of packs of the configuration that were never released. They are left out.
  package let unreleased: [String]
  /// The settings of packs that are those of the earlier release, and not of the configuration: a line for each pack.
  package let changes: [String]
  /// The version of the last manifest, which the next one replaces.
  package let replaced: UInt64

  /// Unpacks the packs of an earlier release, and of those that it did not have the last edition.
  ///
  /// - Parameters:
  ///   - version: that of the manifest of the earlier release.
  ///   - place: from which packs are fetched that were not kept.
  ///   - key: with which the next release is made. It opens packs, too.
  ///   - earlierKeys: others that packs may have been made with.
  ///   - scratch: an empty directory, which gets a directory for each pack.
  ///   - isTrial: whether packs that are fetched are not kept, so that there are no deltas from them.
  /// - Throws: ``PackError/Code/missingInput`` if there is no record of the release, or no file of a pack; ``PackError/Code/usage`` if it had a pack
  ///   that the configuration does not have, and the place has no copy of its manifest; ``PackError/Code/wrongKey`` if no key opens a pack, or the key
  ///   is that of the earlier release and was replaced since.
  package static func run(
    _ version: UInt64, of configuration: PackerConfiguration, lockPath: String, from place: any PublishingPlace, key: Shared<PackKey>,
    earlierKeys: [Shared<PackKey>] = [], in scratch: String, isTrial: Bool, jobs: Int?
  ) async throws(PackError) -> Restoration {
    let lock = try ReleaseLock.readIfPresent(lockPath, requiredBy: configuration, files: SystemFiles())
    guard let last = lock.released, version < last.manifestVersion else {
      throw PackError(.usage, "manifest \(version) is not older than the last release in \(lockPath)", hint: "packer release list")
    }
    let kept = ReleasedPacks(of: configuration)
    let old = try kept.release(version, orLast: last)
    try checkKey("\(key.key.id)", of: old, after: last)
    let earlier = old.packs.filter { !$0.isRemoved }
    if let pack = earlier.first(where: { $0.standing != nil }) {
      throw PackError(
        .releaseConflict, "manifest \(version) offered version \(pack.version) of pack '\(pack.id)' to devices of a rollout only",
        hint: "choose a manifest that was for everybody: packer release list")
    }
    var packs = Dictionary(last.packs.filter { !$0.isRemoved }.map { ($0.id, $0) }) { first, _ in first }
    let ids = Set(earlier.map(\.id))
    var restored = configuration
    func isReleased(_ id: String) -> Bool { ids.contains(id) || packs[id] != nil }
    let unreleased = configuration.packs.map(\.id.text).filter { !isReleased($0) }
    restored.packs.removeAll { !isReleased($0.id.text) }
    let there = try place.sizes()
    let changes = try EarlierSettings(of: old, at: place, among: there.keys, in: scratch).apply(to: &restored)
    let known = Set(restored.packs.map(\.id.text))
    if let pack = earlier.first(where: { !known.contains($0.id) }) {
      throw PackError(
        .usage, of: configuration.path, "has no pack '\(pack.id)', which manifest \(version) had",
        hint: "bring its entry back from version control, and its directory, which may be empty")
    }
    let others = restored.packs.map(\.id.text).filter { !ids.contains($0) }
    for pack in earlier { packs[pack.id] = pack }
    try checkFiles(of: restored.packs.compactMap { packs[$0.id.text] }, of: old, before: last.manifestVersion, kept, there, at: place.title)
    // All in one run of the program that copies, and most of those below are among them.
    if !isTrial { try bringBases(of: restored, lock, kept, from: place, scratch) }
    for index in restored.packs.indices {
      if let base = restored.packs[index].base, !known.contains(base) { restored.packs[index].base = nil }
      guard let pack = packs[restored.packs[index].id.text] else { continue }
      try Task.checkpoint()
      let path = try file(of: pack, keptAt: kept.path(of: pack), place, scratch)
      // Those who have it get a delta then. Without the folder, no deltas are made.
      if path.hasPrefix(scratch), configuration.updates != nil, !isTrial { try? kept.add(path, as: pack) }
      let opened = try open(path, with: [key] + earlierKeys)
      let tree = "\(scratch)/\(pack.id)"
      try await opened.unpack(to: tree, jobs: jobs)
      if path.hasPrefix(scratch) { try? SystemFiles().remove(path, .file, in: nil) }
      restored.packs[index].root = tree
      // What was left out then is not there.
      restored.packs[index].settings.excludes = []
    }
    return Restoration(configuration: restored, others: others, unreleased: unreleased, changes: changes, replaced: last.manifestVersion)
  }

  /// Throws if a release would be made with a key that was replaced, perhaps because it leaked.
  private static func checkKey(_ key: String, of earlier: ReleaseLock.Release, after last: ReleaseLock.Release) throws(PackError) {
    func keys(_ release: ReleaseLock.Release) -> [String] {
      release.rootKeyID.map { [$0] } ?? release.packs.filter { !$0.isRemoved }.map(\.keyID)
    }
    guard keys(earlier).contains(key), let now = keys(last).first(where: { $0 != key }), !keys(last).contains(key) else { return }
    throw PackError(
      .wrongKey, "manifest \(earlier.manifestVersion) was made with key \(key), which key \(now) has replaced since",
      hint: "give key \(now) with --key, and key \(key) with --old-key")
  }

  /// Throws before anything is unpacked if a file is neither kept nor at the place.
  private static func checkFiles(
    of packs: [ReleaseLock.Pack], of release: ReleaseLock.Release, before last: UInt64, _ kept: ReleasedPacks, _ there: [String: UInt64],
    at place: String
  ) throws(PackError) {
    func exists(_ pack: ReleaseLock.Pack) -> Bool {
      there[ManifestPack.publishedName(pack.id, pack.sha256)] != nil || ReleasePlaces.exists(kept.path(of: pack))
    }
    guard let missing = packs.first(where: { !exists($0) }) else { return }
    var others: [String] = []
    try kept.forEachRelease { other in
      if other.manifestVersion < last, other.packs.allSatisfy({ $0.isRemoved || exists($0) }) { others.append("\(other.manifestVersion)") }
    }
    throw PackError(
      .missingInput,
      "manifest \(release.manifestVersion) cannot be brought back: neither \(kept.directory) nor \(place) has "
        + ManifestPack.publishedName(missing.id, missing.sha256),
      hint: others.isEmpty ? "bring its packs back from a backup" : "these can: \(others.prefix(20).joined(separator: ", "))")
  }

  /// Opens a pack with the first key that it was made with.
  private static func open(_ path: String, with keys: [Shared<PackKey>]) throws(PackError) -> Pack {
    var failure: PackError?
    for key in keys {
      do throws(PackError) {
        return try key.key.open(path, files: SystemFiles())
      } catch {
        guard error.code == .wrongKey else { throw error }
        failure = failure ?? error
      }
    }
    throw (failure ?? PackError(.noKey, of: path, "needs a key")).advising(
      .developer("give the key that the earlier packs were made with as --old-key"))
  }

  /// Fetches packs of other editions that were not kept, so that players who have them get deltas. What is not there stays missing.
  package static func bringBases(
    of configuration: PackerConfiguration, _ lock: ReleaseLock, _ kept: ReleasedPacks, from place: any PublishingPlace, _ scratch: String
  ) throws(PackError) {
    guard let history = ReleaseHistory(lock, configuration) else { return }
    let bases = try history.bases(of: configuration.packs.map(\.id.text), most: ReleaseBuild.mostDeltas)
    let missing = bases.filter { !ReleasePlaces.exists(kept.path(of: $0)) }
    guard !missing.isEmpty else { return }
    if let failure = try place.bring(missing.map(wanted), to: scratch).failures.first { throw failure }
    for pack in missing {
      let fetched = ReleaseFolder.path(ManifestPack.publishedName(pack.id, pack.sha256), in: scratch)
      guard ReleasePlaces.exists(fetched) else { continue }
      if try isRight(fetched, pack) { try? kept.add(fetched, as: pack) }
      try? SystemFiles().remove(fetched, .file, in: nil)
    }
  }

  /// The file of a pack, and the largest size that it may have.
  private static func wanted(_ pack: ReleaseLock.Pack) -> (name: String, limit: UInt64) {
    (ManifestPack.publishedName(pack.id, pack.sha256), pack.size ?? Limits.packSize)
  }

  private static func isRight(_ path: String, _ pack: ReleaseLock.Pack) throws(PackError) -> Bool {
    try FileDigest.run(path, in: nil, title: path, files: SystemFiles(), backend: CryptoBackends.standard).sha256 == pack.sha256
  }

  /// Returns the path of the file of a pack: the kept one, or one that is fetched.
  private static func file(
    of pack: ReleaseLock.Pack, keptAt path: String, _ place: any PublishingPlace, _ scratch: String
  ) throws(PackError) -> String {
    if ReleasePlaces.exists(path), try isRight(path, pack) { return path }
    let (name, limit) = wanted(pack)
    try place.fetch([(name, limit)], to: scratch)
    let fetched = ReleaseFolder.path(name, in: scratch)
    guard try isRight(fetched, pack) else {
      throw PackError(.wrongPack, of: "\(place.title): \(name)", "is not the pack that was released")
    }
    return fetched
  }
}
