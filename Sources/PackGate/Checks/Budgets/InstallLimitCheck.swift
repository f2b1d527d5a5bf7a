import PackManifest

/// PK3004.
enum InstallLimitCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK3004", "prefetch packs take more on the device than the Info.plist says", .error, .budget, needs: [.manifest, .plist],
    what: """
      BAMaxInstallSize is at least what prefetch packs leave on the device: unpacked trees in blocks of 4 KiB, or the pack itself where it is \
      played in place. Essential packs are not in it.
      """,
    onPhone: "The App Store shows too small a size, and the system may purge or refuse what goes beyond it.",
    remedy: "Run 'packer plist merge Info.plist'.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    BudgetComparison.findings(release, BudgetKey.installed, of: Self.self)
  }
}
