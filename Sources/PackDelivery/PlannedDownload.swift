/// A download to hand to the system.
public struct PlannedDownload: Hashable, Sendable {
  /// The name of the pack.
  public let id: String
  /// The bytes to fetch. Their size is exact: the system refuses a file of any other.
  public let bytes: PackBytes
  /// Where they are served.
  public let url: String
  /// Whether the app is to wait for it. Only where ``DeliveryEvent/permitsEssential`` is true.
  public let isEssential: Bool
  /// How urgent it is, from 0 to 1.
  public let priority: Double
  /// Whether the app should start it in the foreground, where the system's policies on battery and network do not hold: somebody waits for it.
  public let startsInForeground: Bool

  /// What the download is called in the app, its extension and the system.
  public var identifier: DownloadIdentifier { DownloadIdentifier(id: id, bytes: bytes) }
}
