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
    /// A version that failed its trial or was rolled back. It is removed as soon as no process has it open.
    case failed
  }

  /// The name of the pack.
  public let id: String
  /// The version of the pack.
  public let version: UInt64
  /// The SHA-256 of the pack file it was installed from, 32 bytes.
  public let sha256: [UInt8]
  /// Whether the pack is kept encrypted or was unpacked.
  public let mode: InstallMode
  /// The number of bytes it takes on the device, in whole blocks. A version that it is read over is counted there.
  public let sizeOnDevice: UInt64
  /// The path of the pack file, of the last delta, or of the directory of the unpacked tree. Valid while the version is in use
  /// (``AssetStore/open(_:)``); of another version, until it is removed or rewritten.
  public let path: String
  /// The role of the version in the store.
  public let state: State
  /// The number of deltas, each over the one before, that the version is read from beside a full pack. 0 if it has a pack file or tree of its own.
  public let deltaCount: Int
  /// The content root, 32 bytes. Nil if an earlier release of the store installed the version.
  package let contentRoot: [UInt8]?

  /// The number of deltas that may still be installed over the version. Those to an unpacked one leave nothing to read over.
  package var deltaRoom: Int { mode == .packed ? max(0, Pack.mostDeltas - deltaCount) : Pack.mostDeltas }
}
