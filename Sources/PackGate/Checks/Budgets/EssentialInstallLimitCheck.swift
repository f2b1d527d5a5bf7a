import PackBuild
import PackManifest

/// PK3003.
enum EssentialInstallLimitCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK3003", "essential packs take more space on the device than the Info.plist says", needs: [.manifest, .plist],
    what: """
      BAEssentialMaxInstallSize is at least the size of the essential packs on the device: unpacked trees in blocks of 4 KiB, or the pack \
      itself if it is used without unpacking.
      """,
    onPhone: "The App Store shows too small a size, and the system may purge or refuse packs beyond it.",
    remedy: "Run 'packer plist merge Info.plist'.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    BudgetComparison.findings(release, BudgetKey.essentialInstalled, of: Self.self)
  }
}
