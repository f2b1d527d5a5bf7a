import PackBuild
import PackManifest

/// PK3002.
enum DownloadAllowanceCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK3002", "the other downloads do not fit their allowance", phone: .exceedsAllowance, needs: [.manifest, .plist],
    what: """
      BADownloadAllowance is larger than all prefetch packs together. Essential packs do not count, and neither do on-demand packs, which \
      are fetched after the first launch, when no allowance applies.
      """,
    onPhone: "Scheduling the pack that exceeds the allowance fails with 112, and the app starts without it.",
    remedy: "Run 'packer plist merge Info.plist', or make a pack onDemand.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    BudgetComparison.findings(release, BudgetKey.download, of: Self.self)
  }
}
