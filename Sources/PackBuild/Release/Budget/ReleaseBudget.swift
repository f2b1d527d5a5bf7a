/// The four numbers of a release's install budget, and the parts of each.
///
/// The two allowances count packs as served. The two install sizes count what stays on the device, in blocks of 4 KiB. On-demand packs are in none
/// of the four, because they are not downloaded before the app asks for them. A pack counts on its platforms only; languages make no difference, because the
/// app may ask for all of them, and after a change of the language those of both are there for a while.
package struct ReleaseBudget: Hashable, Sendable {
  /// One of the four numbers as a sum.
  package struct Amount: Hashable, Sendable {
    /// The sum over its packs, in bytes.
    package let packs: UInt64
    /// The bytes reserved in addition: for the manifest, or for an essential pack that is queued again. 0 for sizes on the device.
    package let reserved: UInt64
    /// The bytes added so that the number is never used up exactly. Never 0.
    package let headroom: UInt64

    /// The bytes that the release needs. The number must be larger.
    package var needed: UInt64 { packs + reserved }
    /// The number, in bytes.
    package var total: UInt64 { needed + headroom }
  }

  /// `BAEssentialDownloadAllowance`: essential packs as served, and the size reserved for the manifest.
  package let essentialDownload: Amount
  /// `BADownloadAllowance`: prefetch packs as served, and the largest essential pack, which is queued again as non-essential if its download fails.
  package let download: Amount
  /// `BAEssentialMaxInstallSize`: the size of the essential packs on the device.
  package let essentialInstalled: Amount
  /// `BAMaxInstallSize`: the size of the prefetch packs on the device.
  package let installed: Amount
  /// On-demand packs as served, in bytes.
  package let onDemandDownload: UInt64
  /// The size of the on-demand packs on the device, in bytes.
  package let onDemandInstalled: UInt64
  /// The most space that the release takes on the device: while all packs are updated to it, in a store with the usual policy that keeps as many earlier
  /// versions as it may, each as large as the one in this release.
  package let peak: StorePeak

  /// The bytes of ``peak``.
  package var peakDisk: UInt64 { peak.total }

  /// Adds up the packs of a release. If platforms have different packs, each number is that of the platform for which it is largest.
  ///
  /// - Parameter manifestCeiling: the size reserved for the manifest in bytes.
  /// - Throws: ``PackError/Code/limitExceeded`` if a number does not fit in a manifest.
  package init(
    packs: [ManifestPack], manifestCeiling: UInt64, headroom: PackerConfiguration.Headroom
  ) throws(PackError) {
    self.init(largestOf: try Self.byPlatform(packs: packs, manifestCeiling: manifestCeiling, headroom: headroom).map(\.budget))
  }

  /// Takes each number from the budget in which it is largest.
  ///
  /// - Parameter budgets: at least one.
  init(largestOf budgets: [ReleaseBudget]) {
    self = budgets.dropFirst().reduce(budgets[0]) { $0.larger($1) }
  }

  /// Adds up the packs of each platform. Platforms with the same packs are in one element.
  package static func byPlatform(
    packs: [ManifestPack], manifestCeiling: UInt64, headroom: PackerConfiguration.Headroom
  ) throws(PackError) -> [(platforms: [DeviceProfile.Platform], packs: [ManifestPack], budget: ReleaseBudget)] {
    var result: [(platforms: [DeviceProfile.Platform], packs: [ManifestPack], budget: ReleaseBudget)] = []
    for (platforms, packs) in DeviceProfile.Platform.groups(of: packs.map(\.largestEdition)) {
      result.append((platforms, packs, try ReleaseBudget(all: packs, manifestCeiling: manifestCeiling, headroom: headroom)))
    }
    return result
  }

  private init(
    essentialDownload: Amount, download: Amount, essentialInstalled: Amount, installed: Amount, onDemandDownload: UInt64,
    onDemandInstalled: UInt64, peak: StorePeak
  ) {
    self.essentialDownload = essentialDownload
    self.download = download
    self.essentialInstalled = essentialInstalled
    self.installed = installed
    self.onDemandDownload = onDemandDownload
    self.onDemandInstalled = onDemandInstalled
    self.peak = peak
  }

  /// Returns the larger one of each number.
  private func larger(_ other: ReleaseBudget) -> ReleaseBudget {
    func larger(_ path: KeyPath<ReleaseBudget, Amount>) -> Amount {
      other[keyPath: path].total > self[keyPath: path].total ? other[keyPath: path] : self[keyPath: path]
    }
    return ReleaseBudget(
      essentialDownload: larger(\.essentialDownload), download: larger(\.download), essentialInstalled: larger(\.essentialInstalled),
      installed: larger(\.installed), onDemandDownload: max(onDemandDownload, other.onDemandDownload),
      onDemandInstalled: max(onDemandInstalled, other.onDemandInstalled), peak: other.peak.total > peak.total ? other.peak : peak)
  }

  private init(
    all packs: [ManifestPack], manifestCeiling: UInt64, headroom: PackerConfiguration.Headroom
  ) throws(PackError) {
    func sum(_ delivery: DeliveryClass) throws(PackError) -> (download: UInt64, onDevice: UInt64) {
      let (counted, name) = (packs.compactMap { $0.counted(as: delivery) }, "the packs that are \(delivery.rawValue)")
      return (try Self.sum(counted.map(\.download), name), try Self.sum(counted.map(\.onDevice), name))
    }
    let (essential, other, onDemand) = (try sum(.essential), try sum(.prefetch), try sum(.onDemand))
    func amount(_ key: String, _ packs: UInt64, reserved: UInt64 = 0) throws(PackError) -> Amount {
      let needed = try Self.sum([packs, reserved], key)
      let amount = Amount(packs: packs, reserved: reserved, headroom: Self.headroom(headroom, over: needed))
      _ = try Self.sum([needed, amount.headroom], key)
      return amount
    }
    let largestEssential = packs.compactMap(\.essentialSize).max() ?? 0
    essentialDownload = try amount("BAEssentialDownloadAllowance", essential.download, reserved: manifestCeiling)
    download = try amount("BADownloadAllowance", other.download, reserved: largestEssential)
    essentialInstalled = try amount("BAEssentialMaxInstallSize", essential.onDevice)
    installed = try amount("BAMaxInstallSize", other.onDevice)
    (onDemandDownload, onDemandInstalled) = onDemand
    peak = StorePeak(updatingAll: packs, policy: StorePolicy(), manifestSize: manifestCeiling)
    _ = try Self.sum([peak.total], "all packs with their earlier versions")
  }

  /// The four numbers without their parts.
  package var install: InstallBudget {
    InstallBudget(
      essentialDownloadAllowance: essentialDownload.total, downloadAllowance: download.total,
      essentialMaxInstallSize: essentialInstalled.total, maxInstallSize: installed.total)
  }

  /// Returns the larger of the percentage and the bytes, at least 1: a download is allowed only if more is left than it needs.
  private static func headroom(_ headroom: PackerConfiguration.Headroom, over sum: UInt64) -> UInt64 {
    let (whole, rest) = sum.quotientAndRemainder(dividingBy: 10_000)
    let (product, overflow) = whole.multipliedReportingOverflow(by: headroom.basisPoints)
    let (partial, partialOverflow) = rest.multipliedReportingOverflow(by: headroom.basisPoints)
    guard !overflow, !partialOverflow else { return Limits.packVersion }
    let (percent, sumOverflow) = product.addingReportingOverflow(partial / 10_000 + (partial % 10_000 == 0 ? 0 : 1))
    return max(sumOverflow ? Limits.packVersion : percent, headroom.bytes, 1)
  }

  private static func sum(_ numbers: [UInt64], _ name: String) throws(PackError) -> UInt64 {
    var sum: UInt64 = 0
    for number in numbers {
      let (next, overflow) = sum.addingReportingOverflow(number)
      guard !overflow, next <= Limits.packVersion else {
        throw PackError(.limitExceeded, "\(name) add up to more than \(Limits.packVersion) bytes")
      }
      sum = next
    }
    return sum
  }
}
