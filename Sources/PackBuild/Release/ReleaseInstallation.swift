package import PackFormat
package import PackManifest
package import PackReading
package import PackStore
import PackTrust

/// Installs a release, or single pack files of one, into a store, as an app does after a download.
package struct ReleaseInstallation: Sendable {
  private let sources: Sources

  private enum Sources: Sendable {
    case release(ReleaseFolder, SignedManifest)
    case files([String], name: String?)
  }

  /// What one run changed.
  package struct Outcome: Hashable, Sendable {
    /// The installed packs that the store still has, in the order of installation.
    package var installed: [InstalledPack] = []
    /// The packs that were removed to make room.
    package var removed: [InstalledPack] = []
    /// The packs that were not installed, because their version failed on this device before.
    package var failed: [ManifestPack] = []
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

  /// Adopts the manifest of a release, then installs each pack, whole or not at all.
  ///
  /// If one pack fails, those before it stay installed.
  ///
  /// - Parameter perform: Runs the installation of the file at a path, for example to show progress or to add the path to an error.
  /// - Throws: ``PackError/Code/noManifest`` if the store has no manifest to find files in, ``PackError/Code/unknownPack`` for a file that it does
  ///   not name, and the errors of ``AssetStore/adopt(_:)``, ``AssetStore/install(_:as:taking:mode:progress:)`` and `perform`.
  package func run(
    in store: AssetStore, taking: Taking, mode: InstallMode?,
    perform: (_ file: String, _ install: (ProgressHandler?) async throws(PackError) -> InstalledPack) async throws(PackError) ->
      InstalledPack
  ) async throws(PackError) -> Outcome {
    var outcome = Outcome()
    let wanted = try await wanted(in: store, &outcome.failed)
    let before = try await store.installed()
    var installed: [InstalledPack] = []
    for (file, id) in wanted {
      installed.append(
        try await perform(file) { (progress) async throws(PackError) in
          try await store.install(file, as: id, taking: taking, mode: mode, progress: progress)
        })
    }
    let after = try await store.installed()
    let isGone = { (pack: InstalledPack) in !after.contains { $0.id == pack.id && $0.version == pack.version } }
    outcome.removed = (before + installed).filter(isGone)
    outcome.installed = installed.filter { !isGone($0) }
    return outcome
  }

  /// Returns the files to install, and the pack that each one is.
  private func wanted(in store: AssetStore, _ failed: inout [ManifestPack]) async throws(PackError) -> [(file: String, id: String)] {
    switch sources {
    case .release(let folder, let document):
      let plan = try await store.adopt(document)
      failed = plan.failed
      return plan.downloads.map { (folder.path(of: $0), $0.id) }
    case .files(let files, let name?):
      return files.map { ($0, name) }
    case .files(let files, nil):
      guard let manifest = await store.manifest?.manifest else {
        throw PackError(.noManifest, "the store has adopted no manifest yet")
      }
      return try files.map { (file) throws(PackError) in (file, try ReleaseFolder.pack(ofFile: file, in: manifest).id) }
    }
  }
}
