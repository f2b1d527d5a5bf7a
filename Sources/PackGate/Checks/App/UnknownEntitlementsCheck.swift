import PackBuild

/// PK4015.
enum UnknownEntitlementsCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK4015", "the entitlements of the built app are not known", .note, needs: [.plist, .app],
    what: """
      App and downloader extension have a code signature with entitlements. Without it, PK4013 is skipped. A missing or damaged executable is a \
      warning.
      """,
    onPhone: "No effect if the app is signed later; a phone does not run an app that is not signed.",
    remedy: "Give --app the app as it is uploaded: exported and signed for the App Store.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let app = release.app else { return [] }
    return ([app.bundle] + release.downloaders).compactMap { bundle in
      switch bundle.groups {
      case .known: return nil
      case .unsigned:
        return finding(
          "\(bundle.title) is not signed, so its app groups are not checked", file: app.path, hint: "give --app the exported, signed app")
      case .unreadable(let reason):
        return finding(
          "\(bundle.title) \(reason), so its app groups are not checked", level: .warning, file: app.path, hint: "build the app again")
      }
    }
  }
}
