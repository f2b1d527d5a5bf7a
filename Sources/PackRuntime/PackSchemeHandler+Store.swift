#if canImport(WebKit)
  extension PackSchemeHandler {
    /// Creates a handler that serves the running versions of a store's packs: the version on trial, otherwise the current one.
    ///
    /// A version stays in use until ``forget(_:)``, or until the handler is released.
    ///
    /// - Parameters:
    ///   - store: The store with the packs.
    ///   - options: The options for all packs.
    public convenience init(store: AssetStore, options: PackResponder.Options = .init()) {
      self.init { (id) async throws(PackError) in
        try PackResponder(try await store.open(id), options: options)
      }
    }
  }
#endif
