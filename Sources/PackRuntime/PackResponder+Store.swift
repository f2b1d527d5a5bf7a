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
}
