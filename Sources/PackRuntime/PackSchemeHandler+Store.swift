#if canImport(WebKit)
  extension PackSchemeHandler {
    /// Plays what a store has: the version on trial, or else the current one. It is in use until ``forget(_:)``, or until the handler goes.
    ///
    /// - Parameter options: how all packs are answered from.
    public convenience init(store: AssetStore, options: PackResponder.Options = .init()) {
      self.init { (id) async throws(PackError) in
        try PackResponder(try await store.open(id), options: options)
      }
    }
  }
#endif
