/// A download to hand to the system.
public struct PlannedDownload: Hashable, Sendable {
  /// The name of the pack, or `~` and the file name of a page of the manifest.
  public let id: String
  /// The bytes to download. The size is exact: the system refuses a file of another size.
  public let bytes: PackBytes
  /// The URL of the pack file.
  public let url: String
  /// Whether the app has to wait for the download. True only if ``DeliveryEvent/permitsEssential`` is true.
  public let isEssential: Bool
  /// The priority, from 0 to 1.
  public let priority: Double
  /// Whether the app should start the download in the foreground because someone is waiting for it. The system's policies on battery and network do
  /// not apply there.
  public let startsInForeground: Bool

  /// The identifier of the download in the app, its extension and the system.
  public var identifier: DownloadIdentifier { DownloadIdentifier(id: id, bytes: bytes) }
}
