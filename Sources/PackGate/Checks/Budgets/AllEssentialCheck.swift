import PackManifest

/// PK3021.
enum AllEssentialCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK3021", "every pack is essential", .note, .other, needs: [.manifest],
    what: "At least one pack is not essential, or the team knows that the app must be able to start without any pack.",
    onPhone: """
      In-app content can be switched off in the settings, and an essential download that fails is skipped. The app then starts without any \
      pack, and App Review requires that it works (guideline 4.2.3).
      """,
    remedy: "Put the files that the app needs to start into the app itself, and let the app queue essential packs again.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard release.entries.count > 1, release.entries.allSatisfy({ $0.delivery == .essential }) else { return [] }
    return [
      finding(
        "all \(release.entries.count) packs are essential: if in-app content is switched off or downloads fail, the app starts without packs",
        file: release.manifest.path,
        hint: "set 'delivery: prefetch' for packs that the first minutes do not need")
    ]
  }
}
