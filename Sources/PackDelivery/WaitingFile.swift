/// A file in the shared directory.
public struct WaitingFile: Hashable, Sendable {
  /// The download it came by.
  public let identifier: DownloadIdentifier
  /// Its length in bytes.
  public let size: UInt64
  /// Whether the app took it to install it.
  public let isBeingInstalled: Bool

  /// Makes a value from its parts.
  public init(identifier: DownloadIdentifier, size: UInt64, isBeingInstalled: Bool = false) {
    self.identifier = identifier
    self.size = size
    self.isBeingInstalled = isBeingInstalled
  }
}
