import PackFormat
import PackManifest

/// What a release asks of a device in bytes, without any headroom.
struct ReleaseDemand: Hashable, Sendable {
  /// Essential packs and the manifest, as served.
  let essentialDownload: UInt64
  /// Prefetch packs, as served.
  let otherDownload: UInt64
  /// What essential packs leave on the device.
  let essentialInstalled: UInt64
  /// What prefetch packs leave on the device.
  let otherInstalled: UInt64
  /// On-demand packs, as served. They are outside of every allowance.
  let onDemandDownload: UInt64
  /// The largest essential pack, which is queued again as non-essential after it failed.
  let largestEssential: UInt64
  let hasEssential: Bool

  init(_ packs: [ManifestPack], manifestSize: UInt64) {
    func sum(_ delivery: DeliveryClass, _ size: (ManifestPack) -> UInt64) -> UInt64 {
      packs.reduce(0 as UInt64) { sum, pack in pack.delivery == delivery ? sum.adding(size(pack)) : sum }
    }
    let essential = sum(.essential, \.size)
    essentialDownload = essential.adding(manifestSize)
    otherDownload = sum(.prefetch, \.size)
    essentialInstalled = sum(.essential, \.sizeOnDevice)
    otherInstalled = sum(.prefetch, \.sizeOnDevice)
    onDemandDownload = sum(.onDemand, \.size)
    largestEssential = packs.lazy.filter { $0.delivery == .essential }.map(\.size).max() ?? 0
    hasEssential = packs.contains { $0.delivery == .essential }
  }

  /// What is asked under each of Apple's names, in ascending order of the names.
  var named: [(key: String, bytes: UInt64)] {
    [
      (BudgetKey.download, otherDownload), (BudgetKey.essentialDownload, essentialDownload),
      (BudgetKey.essentialInstalled, essentialInstalled), (BudgetKey.installed, otherInstalled),
    ]
  }

  /// Whether a number of the Info.plist is enough. An allowance must be more than what is downloaded: the system takes one that is used up to
  /// the last byte for passed.
  static func fits(_ needed: UInt64, in limit: UInt64, _ key: String) -> Bool {
    BudgetKey.isAllowance(key) ? needed < limit : needed <= limit
  }
}

/// Apple's names of the four numbers.
enum BudgetKey {
  static let download = "BADownloadAllowance"
  static let essentialDownload = "BAEssentialDownloadAllowance"
  static let essentialInstalled = "BAEssentialMaxInstallSize"
  static let installed = "BAMaxInstallSize"
  static let all = [download, essentialDownload, essentialInstalled, installed]

  static func isAllowance(_ key: String) -> Bool { key == download || key == essentialDownload }
}
