import PackManifest
import PackProject

/// PK6004.
enum SecretCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK6004", "a pack holds what looks like a secret", needs: [.files, .payload],
    what: "No entry has the name or the first bytes of a private key, a key store, credentials or environment secrets.",
    onPhone: "Everyone with the app can extract its key, and so the secret: treat the secret as public.",
    remedy: "Exclude the file and change the secret; if it is not a secret, set allowSecrets for the pack in packer.yml.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.pairs.compactMap { entry, file in
      guard let first = file.secrets.first, release.configured(entry.id)?.allowsSecrets != true else { return nil }
      return finding(
        "it holds \(first)\(file.secrets.count > 1 ? ", and \(file.secrets.count - 1) more" : "")", pack: entry.id,
        file: file.path, details: Array(file.secrets.prefix(20)),
        hint: "exclude it in packer.yml, change the secret, then: \(release.rebuild(entry.id))")
    }
  }
}
