/// A download to hand to the system.
public struct PlannedDownload: Hashable, Sendable {
  /// The name of the pack.
  public let id: String
  /// The bytes to download: those of the pack, of a delta to it, or of its lead. The size is exact: the system refuses a file of another size.
  public let bytes: PackBytes
  /// The URL of the file.
  public let url: String
  /// Whether the file is a delta, and not the full pack.
  public let isDelta: Bool
  /// Why the full pack is downloaded although there are deltas to it; nil if no delta has failed.
  public let fallback: FailureReason?
  /// Whether the app has to wait for the download. True only if ``DeliveryEvent/permitsEssential`` is true.
  public let isEssential: Bool
  /// The priority, from 0 to 1.
  public package(set) var priority: Double
  /// Whether the app should start the download in the foreground because someone is waiting for it. The system's policies on battery and network do
  /// not apply there.
  public let startsInForeground: Bool
  /// The lead of the pack, with which it can be read before it is here as a whole; nil if it has none, for a delta, and for the lead itself.
  package let lead: PackLeadFile?

  package init(
    id: String, bytes: PackBytes, url: String, isDelta: Bool = false, fallback: FailureReason? = nil, isEssential: Bool = false,
    priority: Double = 0.5, startsInForeground: Bool = false, lead: PackLeadFile? = nil
  ) {
    self.id = id
    self.bytes = bytes
    self.url = url
    self.isDelta = isDelta
    self.fallback = fallback
    self.isEssential = isEssential
    self.priority = priority
    self.startsInForeground = startsInForeground
    self.lead = lead
  }

  /// Creates the download of a pack that somebody wants to read before it is here as a whole; nil if it has no lead.
  package init?(arriving pack: ManifestPack, _ defaults: ManifestDefaults) {
    guard let lead = PackLeadFile(of: pack, defaults) else { return nil }
    self.init(id: pack.id, bytes: PackBytes(pack), url: pack.url, priority: Self.wantedPriority, lead: lead)
  }

  /// The priority of a pack that is on demand and was requested.
  package static let wantedPriority = 0.75

  /// The identifier of the download in the app, its extension and the system.
  public var identifier: DownloadIdentifier { DownloadIdentifier(id: id, bytes: bytes) }
}

extension DeliveryFacts {
  /// Whether a pack is downloaded as it is, and not as a delta. An essential download depends on nothing, because only this event permits it. What a lead
  /// has would be lost with a delta.
  ///
  /// - Parameter held: The versions on the device.
  func isWhole(_ pack: ManifestPack, over held: [DevicePack], _ defaults: ManifestDefaults) -> Bool {
    guard pack.delivery == .essential else { return false }
    return PackLeadFile(of: pack, defaults) == nil ? event.permitsEssential : held.isEmpty
  }
}

/// The lead of a pack, with its URL (FORMAT.md §9.9).
package struct PackLeadFile: Hashable, Sendable {
  /// The URL of the lead.
  package let url: String
  package let stream: ManifestStream

  package init?(of pack: ManifestPack, _ defaults: ManifestDefaults) {
    guard let stream = pack.stream, let base = defaults.baseURL, pack.install == .packed else { return nil }
    url = base + ManifestPack.leadName(pack.id, stream.sha256)
    self.stream = stream
  }

  /// The file as a download.
  func bytes(of pack: ManifestPack) -> PackBytes { PackBytes(version: pack.version, size: stream.size, sha256: stream.sha256) }
}
