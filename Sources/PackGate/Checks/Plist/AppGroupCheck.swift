import PackBuild
import PackProject

/// PK4009.
enum AppGroupCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK4009", "the app group is not shared by app and extension", needs: [.plist],
    what: "The app group of the Info.plist starts with 'group.' (on a Mac also with the team identifier) and is app.group of packer.yml.",
    onPhone: "The app does not find the downloads of the extension; a managed app crashes at its first use of a pack.",
    remedy: "Run 'packer plist merge Info.plist', and compare with the entitlements of both targets.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let plist = release.plist else { return [] }
    let groups = [
      (BackgroundAssetsKey.appGroupIdentifier, plist.keys.appGroupIdentifier), (BackgroundAssetsKey.appGroupID, plist.keys.appGroupID),
    ]
    return groups.compactMap { key, group in
      guard let group else { return nil }
      if let wanted = release.configuration?.app.group, wanted != group {
        return finding("\(key) is '\(group)', but packer.yml says '\(wanted)'", file: plist.path, hint: plist.mergeHint)
      }
      guard !AppTargets.isVariable(group), !AppTargets.isGroup(group) else { return nil }
      return finding("\(key) is '\(group)', but the name of a group starts with 'group.'", file: plist.path, hint: "write group.\(group)")
    }
  }
}
