import PackBuild

/// PK3022.
enum ReleasedInstallSizeCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK3022", "the App Store shows too small a size for an app version already released", .warning, .released, needs: [.manifest, .lock],
    what: "The packs fit both install sizes of every app version in packer.lock.json that is not retired. No download is refused for them.",
    onPhone: "The product page shows too small a size until a new app version is out.",
    remedy: "Release an app with the new Info.plist, make packs smaller or onDemand, or accept the finding with a reason in packer.yml.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    ReleasedBudgetCheck.findings(release, of: Self.self) { !BudgetKey.isAllowance($0) }
  }
}
