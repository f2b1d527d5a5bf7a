/// A pack that the manifest does not offer, but that is still on the device.
public struct ObsoletePack: Hashable, Sendable {
  /// The name of the pack.
  public let id: String
  /// The installed versions.
  public let installed: [DevicePack]
}
