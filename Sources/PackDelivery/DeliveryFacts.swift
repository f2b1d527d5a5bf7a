public import PackManifest

/// What is known when downloads are planned, besides the manifest and the shared state.
public struct DeliveryFacts: Sendable {
  /// Why it is planned now.
  public var event: DeliveryEvent
  /// The time by the device's clock, in seconds since 1970.
  public var time: Int64
  /// What the device has, by the store: every version that is installed, and those that the store rejects (of which one that is left out would be downloaded
  /// again). Nil where nobody knows it, as in the extension;
  /// the records are believed then.
  public var device: [DevicePack]?
  /// The identifiers of all downloads that the system has, but for those that failed. Nil where the system was not asked.
  public var downloads: Set<String>?
  /// The packs that the app wants now: the only way to a pack that is delivered on demand.
  public var asked: Set<String>
  /// What may be downloaded before the first start of the app; nil after it.
  public var allowance: Allowance?
  /// The bytes that are free on the device; nil where they are not to be looked at.
  public var freeSpace: UInt64?
  /// Whether a pack is meant for this device: for its platform, its languages. What is not counts as not offered.
  public var isForDevice: @Sendable (ManifestPack) -> Bool

  /// Puts facts together. Those that are left out are not known.
  public init(
    _ event: DeliveryEvent, at time: Int64, device: [DevicePack]? = nil, downloads: Set<String>? = nil, asked: Set<String> = [],
    allowance: Allowance? = nil, freeSpace: UInt64? = nil, isForDevice: @escaping @Sendable (ManifestPack) -> Bool = { _ in true }
  ) {
    self.event = event
    self.time = time
    self.device = device
    self.downloads = downloads
    self.asked = asked
    self.allowance = allowance
    self.freeSpace = freeSpace
    self.isForDevice = isForDevice
  }
}
