import PackBuild
import PackProject

/// PK4002.
enum MissingPlistKeyCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK4002", "a key that Background Assets needs is missing from the Info.plist", phone: .uploadRefused, needs: [.plist],
    what: """
      Every key of the hosting mode is present, even if its number is 0. Unmanaged: BAManifestURL, BAInitialDownloadRestrictions with its \
      three keys, BAMaxInstallSize and BAEssentialMaxInstallSize. Managed: also BAHasManagedAssetPacks and BAAppGroupID. Apple hosting: only \
      BAHasManagedAssetPacks, BAAppGroupID and BAUsesAppleHosting.
      """,
    onPhone:
      "The upload is refused, or allowances are 0 and nothing is downloaded; without BAAppGroupID, a managed app crashes at its first use of a pack.",
    remedy: "Run 'packer plist merge Info.plist'.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let plist = release.plist else { return [] }
    let keys = plist.keys
    // A key whose value has the wrong type is present, and PK4001 reports it.
    let faulty = Set(keys.problems.map(\.key))
    let hosting = release.configuration?.hosting ?? keys.hosting
    let inner = BackgroundAssetsKey.restrictions
    var wanted: [(key: String, isThere: Bool)] = []
    if hosting != .unmanaged {
      wanted.append((BackgroundAssetsKey.hasManagedAssetPacks, keys.hasManagedAssetPacks == true))
      wanted.append((BackgroundAssetsKey.appGroupID, keys.appGroupID != nil))
    }
    if hosting == .apple {
      wanted.append((BackgroundAssetsKey.usesAppleHosting, keys.usesAppleHosting == true))
    } else {
      wanted += [
        (BackgroundAssetsKey.manifestURL, keys.manifestURL != nil),
        ("\(inner).\(BackgroundAssetsKey.downloadAllowance)", keys.downloadAllowance != nil),
        ("\(inner).\(BackgroundAssetsKey.essentialDownloadAllowance)", keys.essentialDownloadAllowance != nil),
        ("\(inner).\(BackgroundAssetsKey.allowList)", keys.allowList != nil),
        (BackgroundAssetsKey.essentialMaxInstallSize, keys.essentialMaxInstallSize != nil),
        (BackgroundAssetsKey.maxInstallSize, keys.maxInstallSize != nil),
      ]
    }
    return wanted.filter { key, isThere in
      !isThere && !faulty.contains(key) && !(key.hasPrefix(inner + ".") && faulty.contains(inner))
    }.map { key, _ in
      finding("\(key) is missing", file: plist.path, hint: plist.mergeHint)
    }
  }
}
