/// A pack that the manifest does not offer, but that is still on the device or in the records.
public struct ObsoletePack: Hashable, Sendable {
  /// The name of the pack.
  public let id: String
  /// The installed versions; also empty if unknown.
  public let installed: [DevicePack]
}
