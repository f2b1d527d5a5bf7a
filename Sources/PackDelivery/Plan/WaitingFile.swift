/// A file in the shared directory.
public struct WaitingFile: Hashable, Sendable {
  /// The identifier of its download.
  public let identifier: DownloadIdentifier
  /// Its length in bytes.
  public let size: UInt64
  /// Whether the app took the file for installation.
  public let isBeingInstalled: Bool

  /// Creates a value.
  public init(identifier: DownloadIdentifier, size: UInt64, isBeingInstalled: Bool = false) {
    self.identifier = identifier
    self.size = size
    self.isBeingInstalled = isBeingInstalled
  }
}
