import PackBuild
import PackManifest
import PackProject

/// PK3019.
enum TeamTotalsCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK3019", "all packs together are larger than the totals in packer.yml", .error, .budget, needs: [.manifest, .configuration],
    what: "The essential packs together, and the prefetch packs together, stay within 'totals' of packer.yml. The manifest does not count.",
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
      let sizes = SizeText.pair(limit, actual)
      return finding(
        "totals.\(name) allows \(sizes.0); the packs need \(sizes.1) (\(SizeText.short(actual - limit)) too much)",
        file: configuration.path,
        actual: actual, limit: limit,
        hint: totals.message ?? "make packs smaller or onDemand, or raise totals.\(name) in \(configuration.path)")
    }
  }
}
