import PackBuild
import PackFormat
import PackManifest

/// The common part of the checks of the two allowances and the two sizes on the device.
enum BudgetComparison {
  static func findings(_ release: ReleaseContext, _ key: String, of check: any ReleaseCheck.Type) -> [ReleaseFinding] {
    guard let plist = release.plist, let limit = plist.number(key),
      let needed = release.plistDemand.named.first(where: { $0.key == key })?.bytes,
      !ReleaseDemand.fits(needed, in: limit, key)
    else { return [] }
    return [
      ReleaseFinding(
        check.rule, sentence(key, limit, needed), file: plist.path, actual: needed, limit: limit, hint: plist.mergeHint)
    ]
  }

  static func sentence(_ key: String, _ limit: UInt64, _ needed: UInt64, by subject: String = "this release") -> String {
    let required = BudgetKey.isAllowance(key) ? needed.adding(1) : needed
    let sizes = SizeText.pair(limit, required)
    let excess = SizeText.short(required - min(required, limit))
    return "\(key) allows \(sizes.0); \(subject) needs \(sizes.1) (\(excess) too much)"
  }
}
