import PackProject

/// PK4011.
enum BundleIdentifierCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK4011", "the Info.plist is of another app", needs: [.plist, .configuration],
    what:
      "CFBundleIdentifier of the Info.plist is app.bundleID of packer.yml, where neither is missing and no variable of Xcode's stands there.",
    onPhone: "The numbers that were checked are those of another app; this one has others, or none.",
    remedy: "Give --plist the Info.plist of the app that the release is for, or correct app.bundleID in packer.yml.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let plist = release.plist, let found = plist.bundleID, let wanted = release.configuration?.app.bundleID, found != wanted else {
      return []
    }
    return [
      finding(
        "CFBundleIdentifier is '\(found)', but packer.yml is about '\(wanted)'", file: plist.path,
        hint: "give --plist the Info.plist of \(wanted), or correct app.bundleID in packer.yml")
    ]
  }
}
