/// One version of a pack that is installed on the device.
public struct InstalledPack: Hashable, Sendable {
  /// The role of a version in the store.
  public enum State: String, Hashable, Sendable, CaseIterable {
    /// The version that ``AssetStore/open(_:)`` opens.
    case current
    /// The version that ``AssetStore/open(_:)`` opens until its trial is confirmed or fails.
    case trial
    /// The version that runs again if the version on trial fails.
    case fallback
    /// An earlier version that is kept for rollback.
    case kept
    /// A version that was installed but not activated yet.
    case installed
    /// A version that cannot be opened before the file is there that opens it.
    case sealed
    /// A version that failed its trial or was rolled back. It is removed as soon as no process has it open.
    case failed
  }

  /// The name of the pack.
  public let id: String
  /// The version of the pack.
  public let version: UInt64
  /// The SHA-256 of the pack file that the manifest names, 32 bytes. If the version was made by a delta, the file on the device has another one. Empty
  /// for a managed asset pack, which no manifest names.
  public let sha256: [UInt8]
  /// Whether the pack is kept encrypted or was unpacked.
  public let mode: InstallMode
  /// The number of bytes it takes on the device, in whole blocks; of a managed asset pack, the size of the pack file.
  public let sizeOnDevice: UInt64
  /// The path of the pack file, or of the directory of the unpacked tree. Valid while the version is in use (``AssetStore/open(_:)``); of another
  /// version, until it is removed.
  public let path: String
  /// The role of the version in the store.
  public let state: State
  /// The content root, 32 bytes. Nil if the version is kept encrypted, and its record was rebuilt without an entry of a manifest.
  package let contentRoot: [UInt8]?
}

extension PackRecord {
  func state(of content: Content) -> InstalledPack.State {
    if content.isSealed, !hasFailed(content.bytes) { return .sealed }
    if content.bytes == trial?.bytes { return .trial }
    if content.bytes == current { return trial == nil ? .current : .fallback }
    if hasFailed(content.bytes) { return .failed }
    return content.isProven ? .kept : .installed
  }
}
