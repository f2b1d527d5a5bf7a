import PackProject

/// PK4011.
enum BundleIdentifierCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK4011", "the Info.plist belongs to another app", needs: [.plist, .configuration],
    what:
      "CFBundleIdentifier of the Info.plist is app.bundleID of packer.yml, if both are set and neither is an Xcode variable.",
    onPhone: "The checked numbers are those of another app; this app has different ones, or none.",
    remedy: "Give --plist the Info.plist of the app that the release is for, or correct app.bundleID in packer.yml.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let plist = release.plist, let found = plist.bundleID, let wanted = release.configuration?.app.bundleID, found != wanted else {
      return []
    }
    return [
      finding(
        "CFBundleIdentifier is '\(found)', but app.bundleID in packer.yml is '\(wanted)'", file: plist.path,
        hint: "give \(plist.place == nil ? "--plist the Info.plist of" : "--app the app") \(wanted), or correct app.bundleID in packer.yml")
    ]
  }
}
