/// Installs a release, or single pack files of one, into a store, as an app does after a download.
package struct ReleaseInstallation: Sendable {
  private let sources: Sources

  private enum Sources: Sendable {
    case release(ReleaseFolder, SignedManifest)
    case files([String], name: String?)
  }

  /// The release; nil if single files are installed.
  private var folder: ReleaseFolder? { if case .release(let folder, _) = sources { folder } else { nil } }

  /// What one run changed.
  package struct Outcome: Sendable {
    /// The installed packs that the store still has, in the order of installation.
    package var installed: [Arrival] = []
    /// The packs that were removed to make room.
    package var removed: [InstalledPack] = []
    /// The names of packs that were asked for, and that the store has in no version, because they were removed to make room for others.
    package var displaced: [String] = []
    /// The packs that were not installed, because their version failed on this device before.
    package var failed: [ManifestPack] = []
    /// The packs that were installed whole although there are deltas to them, each with the reason.
    package var fallbacks: [Fallback] = []
  }

  /// An installed pack, and what brought it.
  package struct Arrival: Sendable {
    package let pack: InstalledPack
    /// Whether it came as a delta.
    package let isDelta: Bool
    /// The size of the file in bytes: of the delta, or of the whole pack.
    package let size: UInt64
    /// The size of the whole pack in bytes; nil if it is not known, because single files were installed.
    package let fullSize: UInt64?
  }

  /// A pack that was installed whole, because a delta to it could not be used.
  package struct Fallback: Sendable {
    /// The name of the pack.
    package let id: String
    /// What is wrong with the delta, or with the version that it is for.
    package let reason: PackError
  }

  /// A pack to install.
  private struct Wanted {
    var id: String
    /// Its file, or a delta to it.
    var file: String
    /// Its entry in the release; nil if single files are installed.
    var entry: ManifestPack?
  }

  /// Installs all packs of a release that the store does not have yet.
  ///
  /// - Throws: ``PackError/Code/missingInput`` or the error of an unreadable manifest.
  package init(release: String) throws(PackError) {
    let folder = ReleaseFolder(release)
    sources = .release(folder, try SignedManifest.read(folder.manifestPath))
  }

  /// Installs single pack files.
  ///
  /// - Parameter name: The name of the only pack. If nil, the store's manifest is searched for each file name.
  package init(files: [String], as name: String?) {
    precondition(name == nil || files.count == 1, "one name is for one file")
    sources = .files(files, name: name)
  }

  /// Adopts the manifest of a release, then installs each pack, whole or not at all: by a delta over installed versions if the release has one and
  /// it is smaller.
  ///
  /// If one pack fails, those before it stay installed.
  ///
  /// - Parameter perform: Runs the installation of the file at a path, for example to show progress or to add the path to an error.
  /// - Throws: ``PackError/Code/noManifest`` if the store has no manifest to find files in, ``PackError/Code/unknownPack`` for a file that it does
  ///   not name, ``PackError/Code/catalogueNotAvailable`` if a shard is neither beside the packs nor in the store, ``PackError/Code/wrongShard`` if another file
  ///   has its name, and the errors of ``AssetStore/adopt(_:)``, ``AssetStore/install(_:as:taking:mode:progress:)`` and `perform`.
  package func run(
    in store: AssetStore, taking: Taking, mode: InstallMode?,
    perform: (_ file: String, _ install: (ProgressHandler?) async throws(PackError) -> InstalledPack) async throws(PackError) ->
      InstalledPack
  ) async throws(PackError) -> Outcome {
    var outcome = Outcome()
    var listed: [String] = []
    let wanted = try await wanted(in: store, &outcome, &listed)
    let before = try await store.installed()
    var installed: [Arrival] = []
    for pack in wanted {
      if let folder, let entry = pack.entry, !entry.deltas.isEmpty, let delta = try await store.deltas(to: [entry])[pack.id] {
        let path = folder.path(of: delta, to: pack.id)
        do throws(PackError) {
          let installedPack = try await perform(path) { (progress) async throws(PackError) in
            try await store.install(path, as: pack.id, taking: taking, mode: mode, progress: progress)
          }
          installed.append(Arrival(pack: installedPack, isDelta: true, size: delta.size, fullSize: entry.size))
          continue
        } catch {
          guard !Self.isForFullPack(error) else { throw error }
          outcome.fallbacks.append(Fallback(id: pack.id, reason: error))
        }
      }
      // Before the file is moved into the store.
      let size = (try? SystemFiles().status(of: pack.file, in: nil, following: .followed))?.size ?? 0
      let isDelta = (try? PackSummary.read(pack.file))?.header.kind == .delta
      let installedPack = try await perform(pack.file) { (progress) async throws(PackError) in
        try await store.install(pack.file, as: pack.id, taking: taking, mode: mode, progress: progress)
      }
      installed.append(Arrival(pack: installedPack, isDelta: isDelta, size: size, fullSize: pack.entry?.size))
    }
    let after = try await store.installed()
    let versions = Dictionary(grouping: after, by: \.id)
    let isGone = { (pack: InstalledPack) in versions[pack.id]?.contains { $0.version == pack.version } != true }
    outcome.removed = (before + installed.map(\.pack)).filter(isGone)
    outcome.installed = installed.filter { !isGone($0.pack) }
    outcome.displaced = Set(wanted.map(\.id) + listed).subtracting(versions.keys).intersection(outcome.removed.map(\.id)).sorted()
    return outcome
  }

  /// Whether an error would also meet the full pack, so that this is not tried.
  private static func isForFullPack(_ error: PackError) -> Bool {
    [
      .cancelled, .noSpace, .quotaExceeded, .cannotWrite, .manifestExpired, .keysExpired, .noManifest, .storeBusy, .noKey, .wrongKey,
      .internalError,
    ].contains(error.code)
  }

  /// Returns what to install.
  ///
  /// - Parameters:
  ///   - outcome: Receives the packs that failed before.
  ///   - listed: Receives the names of the packs of a release that are installed already.
  private func wanted(
    in store: AssetStore, _ outcome: inout Outcome, _ listed: inout [String]
  ) async throws(PackError) -> [Wanted] {
    switch sources {
    case .release(let folder, let document):
      var plan = try await store.adopt(document)
      let manifest = try await store.requiredManifest()
      if !manifest.catalogue.isEmpty {
        try await store.takeShards(from: folder.directory)
        let listing = try await store.listing()
        if let refusal = listing.refusal { throw refusal }
        guard listing.missing.isEmpty else { throw .missing(listing.missing, of: manifest, for: folder.manifestPath) }
        plan = try await store.plan(wanting: Set(listing.packs.map(\.id)))
        try await store.expect(plan.downloads)
      }
      outcome.failed = plan.failed
      listed = plan.installed
      let wanted = try Self.byShard(plan.downloads, of: manifest).map { Wanted(id: $0.id, file: folder.path(of: $0), entry: $0) }
      // A pack may come as a delta over another one, which is installed before it.
      return wanted.filter { $0.entry?.basePack == nil } + wanted.filter { $0.entry?.basePack != nil }
    case .files(let files, let name):
      guard let manifest = await store.manifest?.manifest else {
        guard let name else { throw PackError(.noManifest, "the store has adopted no manifest yet") }
        return files.map { Wanted(id: name, file: $0) }
      }
      var wanted: [Wanted] = []
      for file in files { wanted.append(Wanted(id: try await id(name, ofFile: file, in: manifest, store), file: file)) }
      return wanted
    }
  }

  /// Returns packs in another order: first those that the manifest lists itself, then those of each shard, which so is opened once.
  private static func byShard(_ packs: [ManifestPack], of manifest: Manifest) throws(PackError) -> [ManifestPack] {
    guard manifest.catalogue.count > 1 else { return packs }
    let own = Set(manifest.packs.map(\.id))
    var places: [(shard: Int, number: Int)] = []
    for (number, pack) in packs.enumerated() {
      places.append((own.contains(pack.id) ? -1 : try Shard.number(of: pack.id, among: manifest.catalogue.count), number))
    }
    return places.sorted { $0 < $1 }.map { packs[$0.number] }
  }

  /// Returns the id of the pack that a file is, or is a delta to. Shards that are missing in the store are taken from beside the file.
  private func id(_ name: String?, ofFile file: String, in manifest: Manifest, _ store: AssetStore) async throws(PackError) -> String {
    if !manifest.catalogue.isEmpty { try await store.takeShards(from: ReleaseFolder(file).directory) }
    if let name { return name }
    let listing = try await store.listing()
    let fileName = PathParts(file)?.name ?? file
    let found = listing.current.first { pack in
      pack.fileName == fileName || pack.deltas.contains { ManifestPack.publishedName(pack.id, $0.sha256) == fileName }
    }
    if let found { return found.id }
    if let refusal = listing.refusal { throw refusal }
    guard listing.missing.isEmpty else { throw .missing(listing.missing, of: manifest, for: file) }
    throw PackError(
      .unknownPack, "manifest version \(manifest.version) names no file '\(fileName)'", hint: "name the pack with --as ID")
  }
}
