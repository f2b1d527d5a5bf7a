import PackBuild
import PackManifest

/// PK3016.
enum SwappedSizesCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK3016", "download and install sizes are swapped in the Info.plist", needs: [.manifest, .plist],
    what: "BADownloadAllowance and BAMaxInstallSize are not swapped, and neither are the two essential numbers.",
    onPhone: "The App Store shows too small a size, and the allowance is far too large.",
    remedy: "Run 'packer plist merge Info.plist'. Allowances count packs as served; max-install sizes count them unpacked.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    pairs.compactMap { download, installed in
      guard let plist = release.plist, isSwapped(release, download), let first = plist.number(download),
        let second = plist.number(installed)
      else { return nil }
      let sizes = SizeText.pair(first, second)
      return finding(
        "\(download) is \(sizes.0) and \(installed) is \(sizes.1): they are swapped", file: plist.path,
        actual: first, limit: second, hint: plist.mergeHint)
    }
  }

  private static let pairs = [
    (BudgetKey.essentialDownload, BudgetKey.essentialInstalled), (BudgetKey.download, BudgetKey.installed),
  ]

  /// Returns whether a number belongs to a pair that is wrong, but would be right if the two numbers were swapped, and both are nearer to that. The rules
  /// for each number find it, too: this one only explains.
  static func isSwapped(_ release: ReleaseContext, _ key: String) -> Bool {
    guard let (download, installed) = pairs.first(where: { $0 == key || $1 == key }), let plist = release.plist,
      let allowance = plist.number(download), let size = plist.number(installed),
      let neededDownload = release.plistDemand.named.first(where: { $0.key == download })?.bytes,
      let neededSize = release.plistDemand.named.first(where: { $0.key == installed })?.bytes
    else { return false }
    func distance(_ left: UInt64, _ right: UInt64) -> UInt64 { max(left, right) - min(left, right) }
    let isNearer =
      distance(size, neededDownload) < distance(size, neededSize)
      && distance(allowance, neededSize) < distance(allowance, neededDownload)
    return size < neededSize && isNearer && ReleaseDemand.fits(neededDownload, in: size, download) && allowance >= neededSize
  }
}
