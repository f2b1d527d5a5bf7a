import PackManifest

/// PK3001.
enum EssentialAllowanceCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK3001", "the essential download does not fit its allowance", .error, .budget, phone: .outOfAllowance, needs: [.manifest, .plist],
    what: """
      BAEssentialDownloadAllowance is more than the sizes of all essential packs and the manifest together. An allowance that is used up to \
      the last byte counts as passed.
      """,
    onPhone: "Downloads end with 203 or 204; where the manifest alone does not fit, the extension never runs before the first launch.",
    remedy: "Run 'packer plist merge Info.plist', or make a pack prefetch or onDemand.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    BudgetComparison.findings(release, BudgetKey.essentialDownload, of: Self.self)
  }
}
