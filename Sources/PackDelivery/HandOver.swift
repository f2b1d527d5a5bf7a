public import PackManifest

/// A file to install.
public struct HandOver: Hashable, Sendable {
  /// The name of the pack.
  public let id: String
  /// The bytes that the file should hold. Nobody has checked them yet.
  public let bytes: PackBytes
  /// How to install it: as the manifest says, but what the device holds packed stays packed.
  public let mode: InstallMode

  /// Makes a value from its parts.
  public init(id: String, bytes: PackBytes, mode: InstallMode) {
    self.id = id
    self.bytes = bytes
    self.mode = mode
  }
}
