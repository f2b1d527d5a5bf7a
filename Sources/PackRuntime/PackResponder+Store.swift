extension PackResponder {
  /// Creates a responder for a version that a store opened. The version stays in use until the responder is released.
  ///
  /// - Throws: ``PackError/Code/usage`` if the version was unpacked, because it then has files and no pack.
  public init(_ opened: OpenedPack, options: Options = .init()) throws(PackError) {
    guard let pack = opened.pack else {
      throw PackError(
        .usage, "'\(opened.installed.id)' is installed unpacked, but only encrypted packs can be served",
        advice: .developer("install it with mode: .packed"))
    }
    self.init(pack, owner: opened, options: options)
  }

  /// Creates a responder for the running version of a pack, with other packs of the store in directories of it. The versions stay in use until the
  /// responder is released.
  ///
  /// - Parameters:
  ///   - store: The store with the packs.
  ///   - id: The pack.
  ///   - mounts: The ids of other packs by directory, such as `["engine": "engine-2"]`; see ``PackServing/PackResponder/mounting(_:at:)``.
  ///   - options: The options, which are those of the whole origin.
  /// - Throws: ``PackError/Code/usage`` if a version was unpacked, because it then has files and no pack; or the error of ``AssetStore/open(_:)``.
  public init(
    _ store: AssetStore, _ id: String, mounts: [String: String] = [:], options: Options = .init()
  ) async throws(PackError) {
    var whole = try PackResponder(try await store.open(id), options: options)
    for (directory, other) in mounts where other != id {
      whole = whole.mounting(try PackResponder(try await store.open(other), options: options), at: directory)
    }
    self = whole
  }
}
