import PackBuild
import PackProject

/// PK4003.
enum ForbiddenPlistKeyCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK4003", "the Info.plist has a key that belongs to another hosting mode", phone: .uploadRefused, needs: [.plist],
    what: """
      With Apple hosting, the only Background Assets keys are BAHasManagedAssetPacks, BAUsesAppleHosting and BAAppGroupID. Unmanaged apps \
      have none of these three. A boolean that is false counts as missing.
      """,
    onPhone: "The system runs the app's extension in the other mode, and nothing is downloaded.",
    remedy: "Remove the key, or set 'hosting' in packer.yml to the hosting mode of the app.")

  private static let managed: Set<String> = [
    BackgroundAssetsKey.hasManagedAssetPacks, BackgroundAssetsKey.usesAppleHosting, BackgroundAssetsKey.appGroupID,
  ]

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let plist = release.plist else { return [] }
    let hosting = release.configuration?.hosting ?? plist.keys.hosting
    var present = plist.names.filter { $0.hasPrefix("BA") }
    if plist.keys.hasManagedAssetPacks == false { present.remove(BackgroundAssetsKey.hasManagedAssetPacks) }
    if plist.keys.usesAppleHosting == false { present.remove(BackgroundAssetsKey.usesAppleHosting) }
    let forbidden: Set<String> =
      switch hosting {
      case .unmanaged: present.intersection(managed)
      case .managed: present.intersection([BackgroundAssetsKey.usesAppleHosting])
      case .apple: present.subtracting(managed)
      }
    return forbidden.sorted().map { key in
      finding("\(key) must not be set if hosting is \(hosting.rawValue)", file: plist.path, hint: "remove \(key) from \(plist.path)")
    }
  }
}
