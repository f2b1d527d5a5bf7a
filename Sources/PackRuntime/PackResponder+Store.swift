extension PackResponder {
  /// Answers out of a version that a store opened, which stays in use as long as the responder is there.
  ///
  /// - Throws: ``PackError/Code/usage`` where the version was unpacked: it has files, and no pack to answer from.
  public init(_ opened: OpenedPack, options: Options = .init()) throws(PackError) {
    guard let pack = opened.pack else {
      throw PackError(
        .usage, "'\(opened.installed.id)' is installed unpacked, and only packs can be answered from",
        advice: .developer("install it with mode: .packed"))
    }
    self.init(pack, owner: opened, options: options)
  }
}
