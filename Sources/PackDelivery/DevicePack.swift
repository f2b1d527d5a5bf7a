public import PackManifest

/// A version of a pack that the device has, whole, as the store knows it.
public struct DevicePack: Hashable, Sendable {
  /// The name of the pack.
  public let id: String
  /// The version.
  public let version: UInt64
  /// The SHA-256 of the pack file it came as, 32 bytes.
  public let sha256: [UInt8]
  /// Whether it is kept packed or was unpacked.
  public let mode: InstallMode
  /// Whether the store will not have these bytes again, because they failed when they were tried.
  public let isRejected: Bool

  /// Makes a value from its parts.
  public init(id: String, version: UInt64, sha256: [UInt8], mode: InstallMode, isRejected: Bool = false) {
    self.id = id
    self.version = version
    self.sha256 = sha256
    self.mode = mode
    self.isRejected = isRejected
  }
}
