import PackRuntime

/// How an app uses its store, from start to play.
struct Games: Sendable {
  let store: AssetStore

  /// Called at each start, before any pack is opened.
  init(directory: String, keys: some KeyProvider, publisher: SigningPublicKey) async throws(PackError) {
    store = try await AssetStore(root: directory, keys: keys, trusting: [publisher])
    for finding in try await store.reconcile() { print(finding) }
  }

  /// Called when a manifest has arrived, at start or later. If anything fails, the installed packs stay and run.
  func update(to manifest: SignedManifest, fetch: (ManifestPack) async throws -> String) async throws {
    for pack in try await store.adopt(manifest).downloads {
      try await store.install(try await fetch(pack), as: pack.id)
    }
  }

  /// Called at the first start: installs packs that came with the app. `files` has their paths in the app by id.
  func installShipped(_ files: [String: String], of manifest: SignedManifest) async throws(PackError) {
    guard await store.manifest == nil else { return }
    try await store.adopt(manifest)
    for (id, path) in files { try await store.install(path, as: id, taking: .copying) }
  }

  /// Called right before a game is shown. `show` shows it, and passes the token to `confirm` of the store when the game reports its start.
  ///
  /// - Returns: The version that runs now. If it is not the one that was shown, that one did not start in time. Show the returned version instead.
  func play(_ id: String, show: (OpenedPack, BootToken) async -> Void) async throws(PackError) -> InstalledPack? {
    let token = try await store.activate(id)
    await show(try await store.open(id), token)
    do throws(PackError) {
      try await store.confirmation(of: token)
    } catch {
      guard error.code == .notConfirmed else { throw error }
    }
    return try await store.current(id)
  }
}
