/// A version of a pack that is in use: it is not removed before the last reference to this value goes.
public final class OpenedPack: Sendable {
  /// What was opened.
  public let installed: InstalledPack
  /// The open pack, where it is kept encrypted.
  public let pack: Pack?
  /// The directory of the tree, where it was unpacked.
  public let directory: String?

  init(_ installed: InstalledPack, pack: Pack?, directory: String?) {
    self.installed = installed
    self.pack = pack
    self.directory = directory
  }
}
