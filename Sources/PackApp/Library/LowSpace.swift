/// A notice that requested packs did not fit on the device: the counterpart of NSBundleResourceRequestLowDiskSpace.
///
/// Packs that may be purged have been, if that was enough. An app that receives this ends accesses that it does not need, so that their packs may be
/// purged too.
public struct LowSpace: Hashable, Sendable {
  /// The names of the packs for which there was no room.
  public let packs: [String]
  /// The number of bytes that would be missing even if everything were removed that may be. If it is 0, there is room now and the request
  /// continues. Otherwise it fails.
  public let missing: UInt64
  /// The versions that were removed from the store to make room. If that would not be enough, nothing is removed.
  public let removed: [InstalledPack]
}
