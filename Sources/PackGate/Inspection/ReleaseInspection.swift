/// Collects the state of a release for the checks: reads the manifest and the files beside it.
struct ReleaseInspection: Sendable {
  private let options: ReleaseVerification
  private let key: Shared<PackKey>?
  private var files: any FileSystem { options.files }

  init(_ options: ReleaseVerification, key: Shared<PackKey>?) {
    self.options = options
    self.key = key
  }

  func run(progress: ProgressHandler?) async throws(PackError) -> Facts {
    let place = try locate()
    let lock: ReleaseLock? = if let path = options.lock { try ReleaseLock.read(path, files: files) } else { nil }
    let setting = Setting(
      directory: place.directory, isQuick: options.isQuick, lockPath: options.lock ?? ReleaseFile.lock, now: options.now,
      wording: options.wording, rootKeyPlaces: RootKeySearch(files: files).places(options.configuration))
    let (plist, targets) = try plist()
    var facts = Facts(
      setting: setting, contentKeys: ContentKeys(id: key.map { "\($0.key.id)" }),
      manifest: try ManifestReading(path: place.manifest, trusted: options.trusted, lock: lock, files: files).sighting(), plist: plist,
      app: options.app, targets: targets, run: options.run,
      keys: try options.configuration?.keysFile.map { (path) throws(PackError) in try KeysSighting(path) }, lock: lock,
      published: options.published, configuration: options.configuration)
    guard let manifest = facts.manifest.manifest else { return facts }
    facts.portals = options.portals
    facts.catalogue = try CatalogueSighting(manifest, in: place, files: files)
    let entries = facts.entries
    facts.configuration = try configuration(for: entries)
    facts.hasSources = facts.configuration?.packs.contains { isDirectory($0.root) } ?? false
    facts.contentKeys.roots = roots(entries, lock, in: place)
    guard options.looksAtFiles else { return facts }
    facts.beside = try beside(manifest, entries, in: place)
    let survey = ContentSurvey()
    (facts.packs, facts.contents) = try await packs(entries, facts.configuration, in: place, survey, progress: progress)
    facts.updates = try updates(entries, lock, in: place)
    for entry in entries {
      guard let stream = entry.stream else { continue }
      facts.leads.append(try LeadSighting(stream, of: entry, in: place, isQuick: options.isQuick, files: files))
    }
    for entry in entries {
      guard let opener = entry.opener else { continue }
      facts.openers.append(try OpenerSighting(opener, of: entry, in: place, key: key, files: files))
    }
    facts.shared = survey.shared(ids: entries.map(\.id))
    return facts
  }

  /// Returns the Info.plist: of the built app, if that is given. Otherwise it comes with the other files of the app project that were given.
  private func plist() throws(PackError) -> (PlistSighting?, AppTargets?) {
    var plist: PlistSighting? = options.app.map { PlistSighting(of: $0) }
    var targets: AppTargets?
    if plist == nil, let path = options.plist {
      let app = try InfoPlist.read(path, files: files)
      plist = PlistSighting(app)
      if options.downloader != nil || !options.entitlements.isEmpty {
        targets = AppTargets(
          app: app, downloader: options.downloader, entitlements: options.entitlements, bundleID: options.configuration?.app.bundleID)
      }
    }
    if let platform = options.platform { plist?.platform = platform }
    return (plist, targets)
  }

  /// Inspects what is in the directory beside the files of the release.
  private func beside(_ manifest: Manifest, _ entries: [ManifestPack], in place: Place) throws(PackError) -> Beside {
    let names = try files.names(at: place.directory)
    let editions = entries.flatMap { $0.editions(manifest.defaults) }
    let published = Set(
      editions.flatMap { [$0.fileName] + $0.filesBeside.map(\.name) + ($0.openerFile.map { [$0.name] } ?? []) }
        + manifest.catalogue.map(\.fileName))
    let strays = names.filter { ManifestPack.isPublishedName($0) && !published.contains($0) }.map { place.path($0) }
    let search = ForeignFilesSearch(
      place: place, packs: entries, published: published, files: files, isQuick: options.isQuick)
    let companions = CompanionReading.all(names: names, place: place, manifest: manifest, packs: entries, files: files)
    var beside = try search.run(names: names, key: key)
    beside.strayShards = strays.filter { $0.hasSuffix(Shard.fileExtension) }
    beside.strayPacks = strays.filter { !$0.hasSuffix(Shard.fileExtension) }
    let managed = try search.managed(names: names)
    beside.companions = companions + (managed.map { [$0] } ?? [])
    beside.lacksPackageInput = managed == nil && options.configuration.map { $0.hosting != .unmanaged } ?? false
    return beside
  }

  /// Inspects the deltas, and what players of recorded releases download.
  private func updates(_ entries: [ManifestPack], _ lock: ReleaseLock?, in place: Place) throws(PackError) -> UpdateInspection.Result {
    var history: ReleaseHistory?
    if let lock, let configuration = options.configuration { history = ReleaseHistory(lock, configuration, files: files) }
    let inspection = UpdateInspection(
      place: place, entries: entries, key: key, isQuick: options.isQuick, files: files, history: history)
    return try inspection.run()
  }

  /// Returns the configuration. Where `each` finds no directory, because the release is checked without its sources, it has the packs of the release.
  private func configuration(for entries: [ManifestPack]) throws(PackError) -> PackerConfiguration? {
    guard let configuration = options.configuration, configuration.lacksPacks else { return options.configuration }
    return try PackerConfiguration.read(configuration.path, sources: .released(entries.map(\.id)), files: files)
  }

  private func isDirectory(_ path: String) -> Bool {
    (try? files.status(of: path, in: nil, following: .followed))?.kind == .directory
  }

  // MARK: The place

  /// The location of a release.
  struct Place: Sendable {
    var directory: String
    var manifest: String

    /// Returns the path of a file of the release, as the caller would name it.
    func path(_ name: String) -> String { directory == "." ? name : "\(directory)/\(name)" }
  }

  private func locate() throws(PackError) -> Place {
    let status = try files.status(of: options.target)
    var target = options.target
    while target.utf8.count > 1, target.hasSuffix("/") { target.removeLast() }
    guard status.kind == .directory else {
      return Place(directory: PathParts(target)?.directory ?? ".", manifest: target)
    }
    var place = Place(directory: target, manifest: "")
    place.manifest = place.path(ReleaseFile.manifest)
    return place
  }

  // MARK: Keys

  /// Returns the ids of root keys, by the ids of the pack keys derived from them. The given key comes last, because only it proves the derivation.
  private func roots(_ entries: [ManifestPack], _ lock: ReleaseLock?, in place: Place) -> [String: String] {
    var roots: [String: String] = [:]
    if let released = lock?.released, let root = released.rootKeyID {
      for pack in released.packs where !pack.isRemoved { roots[pack.keyID] = root }
    }
    if let record = try? BuildRecord.read(in: place.directory, files: files), let root = record.rootKeyID {
      for pack in record.packs { roots[pack.keyID] = root }
    }
    if let key {
      for entry in entries where key.key.isRoot(of: entry) { roots[entry.keyID] = "\(key.key.id)" }
    }
    return roots
  }

  // MARK: Packs

  /// Inspects all packs, and unless `isQuick` is set, what is in them.
  private func packs(
    _ entries: [ManifestPack], _ configuration: PackerConfiguration?, in place: Place, _ survey: ContentSurvey, progress: ProgressHandler?
  ) async throws(PackError) -> ([PackSighting], [PackContents]) {
    var packs = try await look(at: entries, in: place, survey)
    if !options.isQuick { try await readWhole(entries, configuration?.packsByID ?? [:], &packs, progress: progress) }
    return (packs.map(\.file), packs.map(\.contents))
  }

  /// A pack file, and what is in it.
  private typealias Found = (file: PackSighting, contents: PackContents)

  /// Inspects all packs in parallel: size, digest and header, and also the index unless `isQuick` is set.
  private func look(at entries: [ManifestPack], in place: Place, _ survey: ContentSurvey) async throws(PackError) -> [Found] {
    guard !entries.isEmpty else { return [] }
    let packs = Monitor([Found?](repeating: nil, count: entries.count))
    let next = Monitor(0)
    try await WorkerPool.run(min(try WorkerPool.size(for: options.jobs), entries.count)) { (pool, _) throws(PackError) in
      let reader = try PackFileReading(files: files, isQuick: options.isQuick)
      while let number = next.count(below: entries.count) {
        try pool.checkpoint()
        let found = try reader.look(at: entries[number], path: place.path(entries[number].fileName), key: key, survey, number: number)
        packs.withLock { $0[number] = found }
      }
    }
    return packs.withLock { $0 }.compactMap(\.self)
  }

  /// Reads the payloads of all packs that could be opened, with the client library and with libarchive, and compares them with their sources.
  private func readWhole(
    _ entries: [ManifestPack], _ sources: [String: PackerConfiguration.Pack], _ packs: inout [Found], progress: ProgressHandler?
  ) async throws(PackError) {
    let jobs = try WorkerPool.size(for: options.jobs)
    let total = entries.reduce(0 as UInt64) { $0.adding($1.contentSize) }
    var done: UInt64 = 0
    for (number, entry) in entries.enumerated() where packs[number].file.content != nil && packs[number].file.failure == nil {
      do throws(PackError) {
        guard let pack = try key?.key.open(packs[number].file.path, files: files) else { return }
        do throws(PackError) {
          try PortabilityCheck.run(pack)
        } catch {
          guard error.code == .unportablePath else { throw error }
          packs[number].contents.unportable = error.details.isEmpty ? [error.message] : error.details
        }
        let search = ContentSearch()
        let references = try WebSearch(pack)
        // Also of a damaged pack.
        defer { search.finish(pack, &packs[number].contents) }
        try await ArchiveComparison.run(
          pack, jobs: jobs, phase: .verifying, progress: progress.map { Self.part(of: total, after: done, $0) },
          makeObserver: { references.makeObserver(before: search.makeObserver()) }, onStop: { search.close() })
        done = done.adding(entry.contentSize)
        let source = sources[entry.id]
        let faults = try WebGraph(pack, references) { excludingPattern($0, source) }.run()
        packs[number].contents.references = faults
        if !options.portals.isEmpty { packs[number].contents.game = try PortalGame(pack, faults, run: options.run) }
        packs[number].contents.differences = try await differences(of: pack, source)
        packs[number].contents.lostLaunch = try source?.settings.order?.missing(in: pack)
        packs[number].contents.excludesPage = excludingPattern("index.html", source) != nil
      } catch {
        guard error.code != .cancelled else { throw error }
        packs[number].file.failure = error
      }
    }
  }

  /// Returns a handler that reports the progress of one pack as part of the progress of all packs.
  private static func part(of total: UInt64, after done: UInt64, _ progress: @escaping ProgressHandler) -> ProgressHandler {
    { step in
      progress(PackProgress(phase: step.phase, done: min(total, done.adding(step.done)), total: total))
    }
  }

  /// Returns the pattern of the configuration that excludes a file; nil if there is none, or no such file in the source directory of the pack.
  private func excludingPattern(_ path: String, _ source: PackerConfiguration.Pack?) -> String? {
    guard let source,
      let pattern = source.settings.excludes.first(where: { DirectoryScan.doesExclude(path, isDirectory: false, by: [$0]) }),
      (try? files.status(of: "\(source.root)/\(path)", in: nil, following: .followed))?.kind == .file
    else { return nil }
    return pattern
  }

  /// Returns how a pack differs from its source directory; nil if the directory is not known or does not exist.
  private func differences(of pack: Pack, _ source: PackerConfiguration.Pack?) async throws(PackError) -> [TreeDifference]? {
    guard let source, isDirectory(source.root) else { return nil }
    do throws(PackError) {
      return try await TreeComparison.run(
        pack, source.root, excludes: source.settings.excludes, followsSymlinks: source.settings.followsSymlinks,
        jobs: try WorkerPool.size(for: options.jobs))
    } catch {
      guard error.code != .cancelled else { throw error }
      return [TreeDifference(kind: .differs, path: source.rootInProject, message: "cannot be compared: \(error.message)")]
    }
  }
}

extension PlistSighting {
  init(of app: BuiltApp) {
    self.init(app.bundle.plist)
    path = app.path
    place = app.bundle.plistPlace
  }

  init(_ plist: InfoPlist) {
    self.init(path: plist.path, keys: plist.keys)
    names = Set((plist.content.members ?? []).map(\.key))
    isPackersOwn = plist.isMergedFreely
    platform = plist.platform
    if case .string(let text) = plist.content[key: "CFBundleIdentifier"], !AppTargets.isVariable(text) { bundleID = text }
    if case .boolean(let value) = plist.content[key: "ITSAppUsesNonExemptEncryption"] { usesNonExemptEncryption = value }
  }
}
