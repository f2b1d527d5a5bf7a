/// The input of a plan, besides the manifest and the shared state.
public struct DeliveryFacts: Sendable {
  /// The reason for planning now.
  public var event: DeliveryEvent
  /// The time by the device's clock, in seconds since 1970.
  public var time: Int64
  /// The versions on the device, as the store reports them: every installed version, and every version that the store rejects. (A rejected version
  /// that is missing here would be downloaded again.) Nil in the extension: the shared state then reads the store's records of the packs that are offered.
  public var device: [DevicePack]?
  /// The identifiers of all downloads that the system has, except failed ones. Nil if the system was not asked.
  public var downloads: Set<String>?
  /// Whether the list of downloads is complete at this moment, as that of the app's own downloads is: one that is missing is lost. The system's list may
  /// be older than the records.
  public var isListExact = false
  /// The packs that the app wants now. A pack with on-demand delivery is downloaded only if it is listed here.
  public var asked: Set<String>
  /// The packs that somebody waits for. After a failure, they are tried again after at most ``DeliveryPolicy/longestAwaitedDelaySeconds``.
  public var awaited: Set<String> = []
  /// The bytes that may be downloaded before the first start of the app; nil after it.
  public var allowance: Allowance?
  /// The number of free bytes on the device; nil to ignore the free space.
  public var freeSpace: UInt64?
  /// Returns whether a pack is meant for this device, for example for its platform and languages. Other packs are treated as not offered.
  public var isForDevice: @Sendable (ManifestPack) -> Bool

  /// Creates facts. Facts that are left out are unknown.
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
