import PackManifest

/// PK3021.
enum AllEssentialCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK3021", "every pack is essential", .note, .other, needs: [.manifest],
    what: "At least one pack is not essential, or the team knows that the app must start without any.",
    onPhone: """
      People can switch off in-app content, and an essential download that fails is skipped: the app is then opened without a single pack, and \
      App Review asks that it works (guideline 4.2.3).
      """,
    remedy: "Put what the app needs to start into the app itself, and let it queue essential packs again.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard release.entries.count > 1, release.entries.allSatisfy({ $0.delivery == .essential }) else { return [] }
    return [
      finding(
        "all \(release.entries.count) packs are essential: where they are switched off or fail, the app starts with none",
        file: release.manifest.path,
        hint: "set 'delivery: prefetch' for what the first minutes do not need")
    ]
  }
}
