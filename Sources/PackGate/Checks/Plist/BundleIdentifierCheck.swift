import PackManifest
import PackProject

/// PK4011.
enum BundleIdentifierCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK4011", "the Info.plist belongs to another app", needs: [.plist, .configuration],
    what: """
      CFBundleIdentifier of the Info.plist is app.bundleID of packer.yml, if both are set and neither is an Xcode variable. If the Info.plist names its \
      platform, some pack is for that platform (a warning).
      """,
    onPhone: "The checked numbers are those of another app; this app has different ones, or none.",
    remedy: "Give --plist the Info.plist of the app that the release is for, or correct app.bundleID in packer.yml.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let plist = release.plist else { return [] }
    let option = plist.place == nil ? "--plist the Info.plist of" : "--app the app"
    var findings: [ReleaseFinding] = []
    if let found = plist.bundleID, let wanted = release.configuration?.app.bundleID, found != wanted {
      findings.append(
        finding(
          "CFBundleIdentifier is '\(found)', but app.bundleID in packer.yml is '\(wanted)'", file: plist.path,
          hint: "give \(option) \(wanted), or correct app.bundleID in packer.yml"))
    }
    if let platform = plist.platform, !release.entries.isEmpty,
      !release.entries.contains(where: { $0.platforms.isEmpty || $0.platforms.contains(platform.rawValue) })
    {
      findings.append(
        finding(
          "it is that of an app for \(platform.rawValue), but no pack of the release is", level: .warning, file: plist.path,
          hint: "correct 'platforms' in packer.yml, or give another Info.plist"))
    }
    return findings
  }
}
