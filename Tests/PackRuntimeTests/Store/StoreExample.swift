import PackRuntime

/// What an app does with its store, from start to play.
struct Games: Sendable {
  let store: AssetStore

  /// At each start, before anything is opened.
  init(directory: String, keys: some KeyProvider, publisher: SigningPublicKey) async throws(PackError) {
    store = try await AssetStore(root: directory, keys: keys, trusting: [publisher])
    for finding in try await store.reconcile() { print(finding) }
  }

  /// When a manifest has come, at start or later. Whatever goes wrong, what is installed stays and runs.
  func update(to manifest: SignedManifest, fetch: (ManifestPack) async throws -> String) async throws {
    for pack in try await store.adopt(manifest).downloads {
      try await store.install(try await fetch(pack), as: pack.id)
    }
  }

  /// Right before a game is shown. `show` shows it, and hands the token to `confirm` of the store once the game says that it has started.
  ///
  /// - Returns: what runs now. If it is another version than was shown, that one did not start in time, and the version before is to be shown.
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
