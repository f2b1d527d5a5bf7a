/// A file to install.
public struct HandOver: Hashable, Sendable {
  /// The name of the pack.
  public let id: String
  /// The bytes that the file should contain: those of the pack, or of a delta to it. They have not been checked yet.
  public let bytes: PackBytes
  /// How to install the file: as the manifest says, except that a pack that is installed packed stays packed.
  public let mode: InstallMode

  /// Creates a value.
  public init(id: String, bytes: PackBytes, mode: InstallMode) {
    self.id = id
    self.bytes = bytes
    self.mode = mode
  }

  /// The name of the file in the shared directory.
  var identifier: DownloadIdentifier { DownloadIdentifier(id: id, bytes: bytes) }
}
