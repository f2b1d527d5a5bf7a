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

  /// Right before a game is shown. `show` plays it and hands back the token when the game says that it has started.
  func play(_ id: String, show: @escaping @Sendable (OpenedPack, BootToken) async -> Void) async throws -> InstalledPack? {
    let token = try await store.activate(id)
    let game = try await store.open(id)
    async let shown: Void = show(game, token)
    do {
      try await store.confirmation(of: token)
    } catch  where error.code == .notConfirmed {
      // The version before runs again: open it, and show it instead.
      return try await store.current(id)
    }
    await shown
    return game.installed
  }
}
