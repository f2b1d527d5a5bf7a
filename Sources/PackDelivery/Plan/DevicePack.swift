/// A complete version of a pack that is on the device, or one that was rejected, as the store reports it.
public struct DevicePack: Hashable, Sendable {
  /// The name of the pack.
  public let id: String
  /// The version.
  public let version: UInt64
  /// The SHA-256 of the pack file that it was installed from, 32 bytes.
  public let sha256: [UInt8]
  /// Whether the pack is installed packed or unpacked.
  public let mode: InstallMode
  /// Whether the store rejects these bytes because they failed their trial.
  public let isRejected: Bool
  /// The content root of the pack, 32 bytes. Nil if it is not known: then no delta over it is chosen.
  public let contentRoot: [UInt8]?

  /// Whether it was made of exactly these bytes.
  func isExactly(_ bytes: PackBytes) -> Bool { version == bytes.version && sha256 == bytes.sha256 }

  /// Creates a value.
  public init(
    id: String, version: UInt64, sha256: [UInt8], mode: InstallMode, isRejected: Bool = false, contentRoot: [UInt8]? = nil
  ) {
    self.id = id
    self.version = version
    self.sha256 = sha256
    self.mode = mode
    self.isRejected = isRejected
    self.contentRoot = contentRoot
  }
}
