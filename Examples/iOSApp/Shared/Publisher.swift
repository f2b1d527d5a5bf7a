/// The publisher's values for app and extension: change these lines.
nonisolated enum Publisher {
  /// The output of `packer key public`; make-release writes it here. Manifests with another signature are refused.
  static let publicKey = "pkp1-…"

  /// The app group of app and extension: `app.group` of packer.yml.
  static let group = "group.com.example.games"

  /// The service name of the keys in the Keychain.
  static let keys = "com.example.games.packs"
}
