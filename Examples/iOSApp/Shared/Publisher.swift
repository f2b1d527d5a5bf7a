import Foundation
import PackBackground

/// The publisher's values for app and extension: change these lines. Values that `packer plist` wrote into the app's plists are read from there.
nonisolated enum Publisher {
  /// The output of `packer key public`. Manifests with another signature are refused.
  static let publicKey = "pkp1-…"

  /// The app group of app and extension: `app.group` of packer.yml.
  static let group = Bundle.main.object(forInfoDictionaryKey: "AppGroupIdentifier") as? String ?? "group.com.example.games"

  /// Whether a pack is for this device. App and extension must give the same result.
  static func isForDevice(_ pack: ManifestPack) -> Bool {
    pack.platforms.isEmpty || pack.platforms.contains("iOS")
  }
}
