public import PackStore

/// There is little space on the device, and packs that are asked for do not fit: the counterpart of NSBundleResourceRequestLowDiskSpace.
///
/// What can be freed by itself has been. An app that hears of it ends accesses that it can do without; what they held may then be purged.
public struct LowSpace: Hashable, Sendable {
  /// The names of the packs that there is no room for.
  public let packs: [String]
  /// The bytes that are missing after all that could be removed; 0 where that was enough, and the request goes on. Otherwise it fails.
  public let missing: UInt64
  /// What was removed from the store to make room. Nothing is removed where it would not be enough.
  public let removed: [InstalledPack]
}
