/// Inspects the deltas of a release, one after the other: each is applied to its base, if that is on this machine.
struct UpdateInspection {
  let place: ReleaseInspection.Place
  let entries: [ManifestPack]
  let key: Shared<PackKey>?
  let isQuick: Bool
  let files: any FileSystem
  /// The releases that players may have; nil if that is not known.
  let history: ReleaseHistory?

  /// What is known about updates.
  struct Result {
    var deltas: [DeltaSighting] = []
    /// The content roots of all packs of these releases; nil if the releases before the last one are not known.
    var recordedRoots: Set<[UInt8]>?
    /// What players of each release download, newest first.
    var downloads: [ReleaseUpdate] = []
    var burdens: [UpdateBurden] = []
  }

  /// - Throws: the error of a record that cannot be read, or of cancellation. Faults of deltas are part of the result.
  func run() throws(PackError) -> Result {
    var result = Result()
    var paths: [[UInt8]: [String]] = [:]
    for entry in entries { paths[entry.contentRoot, default: []].append(place.path(entry.fileName)) }
    var editions: [String: [ReleaseHistory.Edition]] = [:]
    if let history {
      editions = try history.editions(besides: entries.map { ($0.id, []) })
      if try history.isRecorded() { result.recordedRoots = Set(editions.values.joined().map(\.pack.contentRoot)) }
      for edition in editions.values.joined() { paths[edition.pack.contentRoot, default: []] += places(of: edition.pack, history) }
      result.downloads = try history.updates(to: entries)
    }
    for entry in entries {
      for delta in entry.deltas { result.deltas.append(try look(at: delta, to: entry.id, paths)) }
    }
    guard !isQuick else { return result }
    for entry in entries {
      // What went out with an earlier release cannot be mended any more.
      guard let edition = editions[entry.id]?.first, edition.pack.contentRoot != entry.contentRoot else { continue }
      let download = entry.cheapestDelta(over: [edition.pack.contentRoot])?.size ?? entry.size
      result.burdens += try burdens(of: entry, since: edition.pack, download: download, paths)
    }
    return result
  }

  /// Returns where the pack of an edition may be.
  private func places(of pack: ReleaseLock.Pack, _ history: ReleaseHistory) -> [String] {
    [place.path(ManifestPack.publishedName(pack.id, pack.sha256)), history.folder.path(of: pack)]
  }

  // MARK: Deltas

  private func look(at delta: ManifestDelta, to id: String, _ paths: [[UInt8]: [String]]) throws(PackError) -> DeltaSighting {
    let path = place.path(ManifestPack.publishedName(id, delta.sha256))
    var sighting = DeltaSighting(id: id, delta: delta, path: path)
    guard PathParts(path) != nil else { return sighting }
    let file = PublishedFile(path, files: files)
    (sighting.size, sighting.absence) = (file.size, file.absence)
    guard file.size != nil else { return sighting }
    do throws(PackError) {
      sighting.sha256 = try FileDigest.run(path, in: nil, title: path, files: files, backend: CryptoBackends.standard).sha256
      let start = try PackStart(path, files: files)
      sighting.start = PackSighting.Start(start)
      sighting.isDelta = start.header.kind == .delta
      sighting.isNamed = (try? PackID.bytes(for: PackName(id))) == start.header.packID
      // What has another size or digest is not what devices get.
      if sighting.isPublished, sighting.isDelta == true, key != nil, !isQuick { try open(&sighting, paths) }
    } catch {
      guard error.code != .cancelled, error.code != .internalError else { throw error }
      sighting.failure = error
    }
    return sighting
  }

  /// Applies a delta to its bases without writing anything, which proves the content root that it makes.
  private func open(_ sighting: inout DeltaSighting, _ paths: [[UInt8]: [String]]) throws(PackError) {
    var bases: [Pack] = []
    for root in sighting.delta.bases {
      do throws(PackError) {
        guard let base = try base(root, paths) else {
          sighting.unproven = "the pack with the content \(root.prefix(8).hex), which it is for, is not on this machine"
          return
        }
        bases.append(base)
      } catch {
        guard error.code != .cancelled else { throw error }
        sighting.unproven = "the pack that it is for cannot be opened: \(error.message)"
        return
      }
    }
    guard let delta = try key?.key.openDelta(sighting.path, files: files) else { return }
    var application = try DeltaApplication(delta, over: bases)
    try application.prove()
    sighting.contentRoot = delta.head.target
  }

  /// Opens the first file that has a content root; nil if no file does.
  private func base(_ root: [UInt8], _ paths: [[UInt8]: [String]]) throws(PackError) -> Pack? {
    var failure: PackError?
    for path in paths[root] ?? [] where (try? files.status(of: path, in: nil, following: .followed))?.kind == .file {
      do throws(PackError) {
        if let pack = try key?.key.open(path, files: files), pack.contentRoot == root { return pack }
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
    return nil
  }

  // MARK: Burdens

  private func burdens(
    of entry: ManifestPack, since edition: ReleaseLock.Pack, download: UInt64, _ paths: [[UInt8]: [String]]
  ) throws(PackError) -> [UpdateBurden] {
    guard download >= UpdateBurdenSearch.least else { return [] }
    do throws(PackError) {
      guard let old = try base(edition.contentRoot, paths), let new = try key?.key.open(place.path(entry.fileName), files: files) else {
        return []
      }
      return try UpdateBurdenSearch(from: old, to: new, download: download).run(id: entry.id, version: edition.version)
    } catch {
      // Damage of either pack is a finding of its own.
      guard error.code != .cancelled else { throw error }
      return []
    }
  }
}
