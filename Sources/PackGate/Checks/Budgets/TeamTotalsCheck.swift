import PackManifest
import PackProject

/// PK3019.
enum TeamTotalsCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK3019", "the packs together are larger than the team allows", .error, .budget, needs: [.manifest, .configuration],
    what: "Essential and prefetch packs together stay within 'totals' of packer.yml. The manifest is not in them.",
    onPhone: "Players wait longer, and delete the app sooner.",
    remedy: "Make packs smaller or onDemand, or raise the totals in packer.yml.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let configuration = release.configuration else { return [] }
    let (demand, totals) = (ReleaseDemand(release.entries, manifestSize: 0), configuration.totals)
    let rows = [
      ("essential.download", demand.essentialDownload, totals.essentialDownload),
      ("essential.installed", demand.essentialInstalled, totals.essentialInstalled),
      ("other.download", demand.otherDownload, totals.otherDownload),
      ("other.installed", demand.otherInstalled, totals.otherInstalled),
    ]
    return rows.compactMap { name, actual, limit in
      guard let limit, actual > limit else { return nil }
      return finding(
        "the packs take \(actual) bytes, but totals.\(name) is \(limit)", file: configuration.path, actual: actual, limit: limit,
        hint: totals.message ?? "make packs smaller or onDemand, or raise totals.\(name) in \(configuration.path)")
    }
  }
}
