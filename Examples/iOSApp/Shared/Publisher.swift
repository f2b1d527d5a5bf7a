import Foundation

/// What app and extension know about the publisher of the packs. Nonisolated: the extension runs on the system's threads, not on the main actor.
nonisolated enum Publisher {
  /// The public keys that may sign the manifest, as `packer key public` prints them; make-release writes its own here.
  static let publicKeys = ["pkp1-…"]

  /// The app group of app and extension: `app.group` of packer.yml, from the Info.plist of either.
  static let group = Bundle.main.object(forInfoDictionaryKey: "AppGroupIdentifier") as? String ?? ""
}
