import PackBuild
import PackProject

/// PK6009.
enum AppSecretCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK6009", "a secret is in the built app", .warning, needs: [.plist, .app],
    what: """
      No file of the app holds a signing key of packer or the root key of this release (errors), has the name of a key or a key store, or \
      contains a private key or a token. Any other content key is a note: an app may have it in its code. Google's API keys are not secret.
      """,
    onPhone: "Everyone with the app can take it out: sign manifests that the app accepts, or open all packs.",
    remedy: "Remove the file from the target in Xcode and change the secret. Documentation/RECOVERY.md and KEYS_IN_APPS.md have the steps.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let app = release.app else { return [] }
    var roots = Set(release.roots.values)
    if let root = release.lock?.released?.rootKeyID { roots.insert(root) }
    return app.secrets.map { secret in
      switch secret.kind {
      case .signingKey:
        return finding(
          "\(secret.place) holds a secret signing key (pks1-), which signs manifests", level: .error, file: app.path,
          hint: "remove it from the app; if it was ever shipped, replace it: Documentation/RECOVERY.md, 'A signing key leaked'")
      case .contentKeys(let ids):
        if let root = ids.first(where: roots.contains) {
          return finding(
            "\(secret.place) holds the root key \(root), which opens all packs, also future ones", level: .error, file: app.path,
            hint: "give the app the keys of its packs: packer key derive --pack ID")
        }
        return finding(
          "\(secret.place) holds the content key \(ids[0])\(ids.andMore), with which people who unpack the app open packs", level: .note,
          file: app.path, hint: "see Documentation/KEYS_IN_APPS.md")
      case .other(let reason):
        return finding(
          "\(secret.place) \(reason)", file: app.path, hint: "remove it from the app; if it was ever shipped, change the secret")
      }
    }
  }
}
