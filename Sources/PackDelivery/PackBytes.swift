public import PackManifest

/// Which bytes of a pack are meant: one version of it, exactly as one manifest offers it.
public struct PackBytes: Hashable, Sendable {
  /// The version of the pack.
  public let version: UInt64
  /// The exact size of the pack file in bytes, as served.
  public let size: UInt64
  /// The SHA-256 of the pack file, 32 bytes.
  public let sha256: [UInt8]

  /// Makes a value from its parts.
  public init(version: UInt64, size: UInt64, sha256: [UInt8]) {
    self.version = version
    self.size = size
    self.sha256 = sha256
  }

  /// What a manifest offers.
  public init(_ pack: ManifestPack) {
    self.init(version: pack.version, size: pack.size, sha256: pack.sha256)
  }
}
