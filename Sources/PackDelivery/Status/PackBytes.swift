/// The identity of a pack's bytes: one version, exactly as one manifest offers it.
public struct PackBytes: Hashable, Sendable {
  /// The version of the pack.
  public let version: UInt64
  /// The exact size of the pack file in bytes, as served.
  public let size: UInt64
  /// The SHA-256 of the pack file, 32 bytes.
  public let sha256: [UInt8]

  /// Creates a value.
  public init(version: UInt64, size: UInt64, sha256: [UInt8]) {
    self.version = version
    self.size = size
    self.sha256 = sha256
  }

  /// What a record has for a pack that was requested before its shard arrived. No pack has it, because no SHA-256 is known that is zero.
  static let unknown = PackBytes(version: 0, size: 0, sha256: [UInt8](repeating: 0, count: 32))

  /// Creates the value for a pack of a manifest.
  public init(_ pack: ManifestPack) {
    self.init(version: pack.version, size: pack.size, sha256: pack.sha256)
  }
}
