import PackManifest

/// PK3002.
enum DownloadAllowanceCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK3002", "the other downloads do not fit their allowance", .error, .budget, phone: .exceedsAllowance, needs: [.manifest, .plist],
    what: """
      BADownloadAllowance is more than the sizes of all prefetch packs together. Essential packs are not in it, and on-demand packs are \
      fetched after the first launch, when there is no allowance.
      """,
    onPhone: "Scheduling the pack that passes the allowance ends with 112, and the app starts without it.",
    remedy: "Run 'packer plist merge Info.plist', or make a pack onDemand.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    BudgetComparison.findings(release, BudgetKey.download, of: Self.self)
  }
}
