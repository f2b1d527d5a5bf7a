/// A pack that the manifest does not offer, but the device has something of.
public struct ObsoletePack: Hashable, Sendable {
  /// The name of the pack.
  public let id: String
  /// What is installed of it; empty also where nobody knows.
  public let installed: [DevicePack]
}
