import PackBuild
import PackManifest
import PackProject

/// PK3013.
enum ManifestBudgetCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK3013", "the budget in the manifest is smaller than its packs need", needs: [.manifest],
    what: "The four budgets in the manifest are large enough for all its packs; allowances must be larger by at least one byte.",
    onPhone: "Devices do not read these numbers, but the Info.plist is made from them and becomes wrong, too.",
    remedy: "Run 'packer build', which computes the budget.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let budget = release.manifest.manifest?.budget else { return [] }
    return release.demand.named.compactMap { key, needed in
      guard let limit = budget.named.first(where: { $0.key == key })?.bytes, !ReleaseDemand.fits(needed, in: limit, key) else { return nil }
      // If only the bytes of the manifest above its ceiling are missing, that is PK3005.
      if key == BudgetKey.essentialDownload, let ceiling = release.manifestCeiling, release.manifest.size > ceiling,
        ReleaseDemand.fits(needed - (release.manifest.size - ceiling), in: limit, key)
      {
        return nil
      }
      return finding(
        "the manifest's own budget: \(BudgetComparison.sentence(key, limit, needed))", file: release.manifest.path, actual: needed,
        limit: limit,
        hint: "packer build")
    }
  }
}
