import PackFormat
import PackManifest

/// PK3006.
enum RetryRoomCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK3006", "no room for an essential pack that failed", .warning, .budget, phone: .exceedsAllowance, needs: [.manifest, .plist],
    what: "BADownloadAllowance has room for the largest essential pack besides all prefetch packs.",
    onPhone: "An essential download that failed is queued again as a non-essential one; before the first launch that ends with 112.",
    remedy: "Run 'packer plist merge Info.plist', which leaves that room.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    let demand = release.demand
    guard let plist = release.plist, let limit = plist.number(BudgetKey.download), demand.hasEssential else { return [] }
    let needed = demand.otherDownload.adding(demand.largestEssential)
    guard ReleaseDemand.fits(demand.otherDownload, in: limit, BudgetKey.download), needed >= limit else { return [] }
    return [
      finding(
        "\(BudgetKey.download) is \(limit) bytes, but \(needed) and one more are needed where the largest essential pack fails and is queued again",
        file: plist.path, actual: needed, limit: limit, hint: plist.mergeHint)
    ]
  }
}
