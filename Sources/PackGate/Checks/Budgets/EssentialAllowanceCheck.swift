import PackBuild
import PackManifest

/// PK3001.
enum EssentialAllowanceCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK3001", "the essential download does not fit its allowance", phone: .outOfAllowance, needs: [.manifest, .plist],
    what: """
      BAEssentialDownloadAllowance is larger than all essential packs and the manifest together. An allowance that is used up to the last \
      byte counts as exceeded.
      """,
    onPhone: "Downloads fail with 203 or 204. If not even the manifest fits, the extension never runs before the first launch.",
    remedy: "Run 'packer plist merge Info.plist', or make a pack prefetch or onDemand.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    BudgetComparison.findings(release, BudgetKey.essentialDownload, of: Self.self)
  }
}
