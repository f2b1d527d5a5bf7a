/// The four sizes that the system and the App Store read from an app's Info.plist, in bytes (FORMAT.md §9.3).
///
/// The allowances count downloads before the first launch. The other two count what stays on the device. Essential and non-essential sizes are
/// separate: neither includes the other.
public struct InstallBudget: Hashable, Sendable {
  /// `BAEssentialDownloadAllowance`: essential packs as served, and the manifest.
  public var essentialDownloadAllowance: UInt64
  /// `BADownloadAllowance`: non-essential packs as served.
  public var downloadAllowance: UInt64
  /// `BAEssentialMaxInstallSize`: the space that essential packs occupy on the device.
  public var essentialMaxInstallSize: UInt64
  /// `BAMaxInstallSize`: the space that non-essential packs occupy on the device.
  public var maxInstallSize: UInt64

  /// Makes a budget from its numbers.
  public init(
    essentialDownloadAllowance: UInt64, downloadAllowance: UInt64, essentialMaxInstallSize: UInt64, maxInstallSize: UInt64
  ) {
    self.essentialDownloadAllowance = essentialDownloadAllowance
    self.downloadAllowance = downloadAllowance
    self.essentialMaxInstallSize = essentialMaxInstallSize
    self.maxInstallSize = maxInstallSize
  }

  /// The numbers under Apple's names, in ascending order of the names.
  public var named: [(key: String, bytes: UInt64)] {
    [
      ("BADownloadAllowance", downloadAllowance),
      ("BAEssentialDownloadAllowance", essentialDownloadAllowance),
      ("BAEssentialMaxInstallSize", essentialMaxInstallSize),
      ("BAMaxInstallSize", maxInstallSize),
    ]
  }
}
