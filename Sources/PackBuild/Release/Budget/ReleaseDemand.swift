/// The sizes that a release needs on a device in bytes, without headroom. Packs of all languages count, because a device may have all of them. Of an
/// essential pack with a lead, the lead counts with the essential packs, and the pack with those that are fetched in advance.
package struct ReleaseDemand: Hashable, Sendable {
  /// The size of the essential packs and the manifest, as served.
  package let essentialDownload: UInt64
  /// The size of the prefetch packs, as served.
  package let otherDownload: UInt64
  /// The size of the essential packs on the device.
  package let essentialInstalled: UInt64
  /// The size of the prefetch packs on the device.
  package let otherInstalled: UInt64
  /// The size of the on-demand packs, as served. They do not count against any allowance.
  package let onDemandDownload: UInt64
  /// The size of the largest essential pack, as served. A failed essential pack is queued again as a non-essential one.
  package let largestEssential: UInt64
  /// The size of the prefetch packs and the largest essential pack, as served.
  package let largestRetry: UInt64
  package let hasEssential: Bool

  /// - Parameter platform: The platform of the device. If nil, each number is that of the platform for which it is largest.
  package init(_ packs: [ManifestPack], for platform: DeviceProfile.Platform? = nil, manifestSize: UInt64) {
    let groups = DeviceProfile.Platform.groups(of: packs.map(\.largestEdition))
    let demands = groups.filter { platform.map($0.platforms.contains) ?? true }.map {
      ReleaseDemand(all: $0.packs, manifestSize: manifestSize)
    }
    func largest(_ path: KeyPath<ReleaseDemand, UInt64>) -> UInt64 { demands.map { $0[keyPath: path] }.max() ?? 0 }
    essentialDownload = largest(\.essentialDownload)
    otherDownload = largest(\.otherDownload)
    essentialInstalled = largest(\.essentialInstalled)
    otherInstalled = largest(\.otherInstalled)
    onDemandDownload = largest(\.onDemandDownload)
    largestEssential = largest(\.largestEssential)
    largestRetry = largest(\.largestRetry)
    hasEssential = demands.contains(where: \.hasEssential)
  }

  private init(all packs: [ManifestPack], manifestSize: UInt64) {
    func sum(_ delivery: DeliveryClass) -> (download: UInt64, onDevice: UInt64) {
      packs.lazy.compactMap { $0.counted(as: delivery) }.reduce((0, 0)) { ($0.0.adding($1.download), $0.1.adding($1.onDevice)) }
    }
    let (essential, other) = (sum(.essential), sum(.prefetch))
    essentialDownload = essential.download.adding(manifestSize)
    otherDownload = other.download
    essentialInstalled = essential.onDevice
    otherInstalled = other.onDevice
    onDemandDownload = sum(.onDemand).download
    largestEssential = packs.lazy.compactMap(\.essentialSize).max() ?? 0
    largestRetry = otherDownload.adding(largestEssential)
    hasEssential = packs.contains { $0.delivery == .essential }
  }

  /// The size for each of Apple's keys, in ascending order of the keys.
  package var named: [(key: String, bytes: UInt64)] {
    [
      (BudgetKey.download, otherDownload), (BudgetKey.essentialDownload, essentialDownload),
      (BudgetKey.essentialInstalled, essentialInstalled), (BudgetKey.installed, otherInstalled),
    ]
  }

  /// Returns whether a number of the Info.plist is large enough. An allowance must be larger than the download, because the system treats an
  /// allowance that is used up to the last byte as exceeded.
  package static func fits(_ needed: UInt64, in limit: UInt64, _ key: String) -> Bool {
    BudgetKey.isAllowance(key) ? needed < limit : needed <= limit
  }
}

/// Apple's keys for the four sizes.
package enum BudgetKey {
  package static let download = "BADownloadAllowance"
  package static let essentialDownload = "BAEssentialDownloadAllowance"
  package static let essentialInstalled = "BAEssentialMaxInstallSize"
  package static let installed = "BAMaxInstallSize"
  package static let all = [download, essentialDownload, essentialInstalled, installed]

  package static func isAllowance(_ key: String) -> Bool { key == download || key == essentialDownload }
}
