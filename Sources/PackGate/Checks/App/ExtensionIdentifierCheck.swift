import PackBuild

/// PK4014.
enum ExtensionIdentifierCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK4014", "the bundle identifier of the extension is not below the app's", phone: .uploadRefused, needs: [.plist, .app],
    what: "CFBundleIdentifier of the downloader extension is that of the app, a dot and more, as in com.example.arcade.downloader.",
    onPhone: "The app cannot be uploaded or installed.",
    remedy: "Correct PRODUCT_BUNDLE_IDENTIFIER of the extension in Xcode.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let app = release.app, let parent = app.bundle.identifier else { return [] }
    return release.downloaders.compactMap { downloader in
      let identifier = downloader.identifier
      guard identifier?.hasPrefix(parent + ".") != true || identifier == parent + "." else { return nil }
      let found = identifier.map { "is '\($0)'" } ?? "is missing"
      return finding(
        "CFBundleIdentifier of \(downloader.place) \(found), but it must start with '\(parent).'", file: app.path,
        hint: "set it to \(parent).downloader, and build the app again")
    }
  }
}
