public import PackManifest

/// One version of a pack that is on the device, whole.
public struct InstalledPack: Hashable, Sendable {
  /// What a version is to the store.
  public enum State: String, Hashable, Sendable, CaseIterable {
    /// What ``AssetStore/open(_:)`` opens.
    case current
    /// What ``AssetStore/open(_:)`` opens until it is confirmed or falls.
    case trial
    /// What takes over again if the version on trial falls.
    case fallback
    /// An earlier version that is kept.
    case kept
    /// Newer than the current one, or the first: waits to be activated.
    case installed
    /// Fell on its trial, or was rolled back from: goes as soon as nobody has it open.
    case failed
  }

  /// The name of the pack.
  public let id: String
  /// Its version.
  public let version: UInt64
  /// The SHA-256 of the pack file it came as, 32 bytes.
  public let sha256: [UInt8]
  /// Whether it is kept encrypted or was unpacked.
  public let mode: InstallMode
  /// The bytes it takes on the device, in whole blocks.
  public let sizeOnDevice: UInt64
  /// The pack file, or the directory of the unpacked tree. Good while the version is in use (``AssetStore/open(_:)``) or current.
  public let path: String
  /// What it is to the store.
  public let state: State
}
