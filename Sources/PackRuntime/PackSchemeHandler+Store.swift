#if canImport(WebKit)
  extension PackSchemeHandler {
    /// Creates a handler that serves the running versions of a store's packs: the version on trial, otherwise the current one.
    ///
    /// A version stays in use until ``forget(_:)``, or until the handler is released.
    ///
    /// - Parameters:
    ///   - store: The store with the packs.
    ///   - mounts: The ids of packs that the pages of all others share, by directory, such as `["engine": "engine-2"]`: `/engine/…` is then that pack,
    ///     within the origin of the game.
    ///   - options: The options for all packs.
    public convenience init(store: AssetStore, mounts: [String: String] = [:], options: PackResponder.Options = .init()) {
      self.init { (id) async throws(PackError) in
        try await PackResponder(store, id, mounts: mounts, options: options)
      }
    }
  }
#endif
