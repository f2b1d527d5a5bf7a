import Foundation
import PackBackground

/// What app and extension know of whoever makes the packs: the lines to change. What `packer plist` wrote into the app's plists is read from there.
enum Publisher {
  /// What `packer key public` prints: manifests with another signature are not believed.
  static let publicKey = "pkp1-…"

  /// The app group of app and extension: `app.group` of packer.yml.
  static let group = Bundle.main.object(forInfoDictionaryKey: "AppGroupIdentifier") as? String ?? "group.com.example.games"

  /// Whether a pack is for this device. App and extension have to agree.
  static func isForDevice(_ pack: ManifestPack) -> Bool {
    pack.platforms.isEmpty || pack.platforms.contains("iOS")
  }
}
