extension PackResponder {
  /// Creates a responder for a pack that ``PackLibrary/ensure(_:)-(String)`` or ``PackLibrary/play(_:)`` opened, with other packs of the library in directories of
  /// it. The versions stay in use until the responder is released.
  ///
  /// - Parameters:
  ///   - library: The library with the packs.
  ///   - id: The pack.
  ///   - mounts: The ids of other packs by directory, such as `["engine": "engine-2"]`; see ``PackServing/PackResponder/mounting(_:at:)``.
  ///   - options: The options, which are those of the whole origin.
  /// - Throws: ``PackError/Code/notInstalled`` if a pack is not open, or ``PackError/Code/usage`` if it was unpacked.
  public init(_ library: PackLibrary, _ id: String, mounts: [String: String] = [:], options: Options = .init()) throws(PackError) {
    var whole = try PackResponder(library.opened(id), options: options)
    for (directory, other) in mounts where other != id {
      whole = whole.mounting(try PackResponder(library.opened(other), options: options), at: directory)
    }
    self = whole
  }
}

#if canImport(WebKit)
  extension PackSchemeHandler {
    /// Creates a handler that serves the packs that a library has open, also those that are still arriving.
    ///
    /// A version stays in use until ``forget(_:)``, or until the handler is released.
    ///
    /// - Parameters:
    ///   - library: The library with the packs.
    ///   - mounts: The ids of packs that the pages of all others share, by directory, such as `["engine": "engine-2"]`: `/engine/…` is then that pack,
    ///     within the origin of the game.
    ///   - options: The options for all packs.
    public convenience init(library: PackLibrary, mounts: [String: String] = [:], options: PackResponder.Options = .init()) {
      self.init { (id) async throws(PackError) in
        try PackResponder(library, id, mounts: mounts, options: options)
      }
    }
  }
#endif
