import PackBuild
import PackFormat
import PackManifest

/// PK3017.
enum CountedTwiceCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK3017", "essential packs are counted in the non-essential numbers", .warning, needs: [.manifest, .plist],
    what: "BADownloadAllowance and BAMaxInstallSize count only non-essential packs; they are not the sums of all packs.",
    onPhone: "The App Store adds both numbers, so it counts the essential packs twice.",
    remedy: "Run 'packer plist merge Info.plist'.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let plist = release.plist else { return [] }
    return [BudgetKey.download, BudgetKey.installed].compactMap { key in
      guard isCountedTwice(release, key), let value = plist.number(key),
        let needed = release.plistDemand.named.first(where: { $0.key == key })?.bytes
      else { return nil }
      let sizes = SizeText.pair(value, needed)
      return finding(
        "\(key) is \(sizes.0), about the sum of all packs; the prefetch packs need only \(sizes.1)", file: plist.path, actual: value,
        limit: needed, hint: plist.mergeHint)
    }
  }

  /// Returns whether a non-essential number is far above the needed one, and within 5 % of the sum of both classes.
  static func isCountedTwice(_ release: ReleaseContext, _ key: String) -> Bool {
    let demand = release.plistDemand
    let (other, essential): (UInt64, UInt64)
    switch key {
    case BudgetKey.download: (other, essential) = (demand.otherDownload, demand.essentialDownload)
    case BudgetKey.installed: (other, essential) = (demand.otherInstalled, demand.essentialInstalled)
    default: return false
    }
    // The wanted allowance includes the largest essential pack. If there is only one essential pack, that is the sum of all packs.
    let retry = key == BudgetKey.download ? demand.largestEssential : 0
    let wanted = max(other.adding(retry), release.manifest.manifest?.budget?.named.first { $0.key == key }?.bytes ?? 0)
    let sum = other.adding(essential)
    guard essential >= 1 << 20, sum > wanted.adding(wanted / 5), let value = release.plist?.number(key) else { return false }
    return value >= sum - sum / 20 && value <= sum.adding(sum / 20)
  }
}
