import PackBuild
import PackFormat
import PackManifest

/// PK3006.
enum RetryRoomCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK3006", "no room to retry a failed essential pack", .warning, phone: .exceedsAllowance, needs: [.manifest, .plist],
    what: "BADownloadAllowance is larger than all prefetch packs and the largest essential pack together.",
    onPhone: "A failed essential download is queued again as a non-essential one, and before the first launch this fails with 112.",
    remedy: "Run 'packer plist merge Info.plist', which adds that room.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    let demand = release.plistDemand
    guard let plist = release.plist, let limit = plist.number(BudgetKey.download), demand.hasEssential else { return [] }
    let needed = demand.largestRetry
    guard ReleaseDemand.fits(demand.otherDownload, in: limit, BudgetKey.download), needed >= limit else { return [] }
    return [
      finding(
        BudgetComparison.sentence(BudgetKey.download, limit, needed, by: "a retry of the largest essential pack"),
        file: plist.path, actual: needed, limit: limit, hint: plist.mergeHint)
    ]
  }
}
