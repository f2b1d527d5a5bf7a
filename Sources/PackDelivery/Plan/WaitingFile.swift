/// A file in the shared directory.
public struct WaitingFile: Hashable, Sendable {
  /// The identifier of its download.
  public let identifier: DownloadIdentifier
  /// Its length in bytes.
  public let size: UInt64

  /// Creates a value.
  public init(identifier: DownloadIdentifier, size: UInt64) {
    self.identifier = identifier
    self.size = size
  }
}
