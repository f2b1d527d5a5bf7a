import PackFormat
import PackManifest
import PackProject

/// PK6004.
enum SecretCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK6004", "a pack holds what looks like a secret", needs: [.files, .payload],
    what: """
      No entry has the name or the first bytes of a key, a key store or credentials, and no file contains a key or a token. Keys of packer are \
      accepted only with an entry under allowSecrets, not with 'allowSecrets: true'.
      """,
    onPhone: "Everyone with the app can extract its key, and so the secret: treat the secret as public.",
    remedy: "Exclude the file and change the secret; if it is not a secret, list it under allowSecrets in packer.yml.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    let packs = release.configuredPacks
    return release.pairs.compactMap { entry, file in
      let configured = packs[entry.id]
      let allowed = configured?.allowedSecrets ?? []
      // 'allowSecrets: true' is for certificates of tests and the like. With a key of packer in a pack, everybody can open or sign all of them.
      let isAllowed = configured?.allowsSecrets == true
      let secrets = file.secrets.filter { isAllowed ? SecretRule.own.contains($0.rule) : !allowed.allow($0.path, rule: $0.rule) }.map {
        "'\(printable($0.path.utf8))', which \($0.reason)"
      }
      guard let first = secrets.first else { return nil }
      return finding(
        "it holds \(first)\(secrets.andMore)", pack: entry.id,
        file: file.path, details: Array(secrets.prefix(20)),
        hint: "exclude it in packer.yml, change the secret, then: \(release.rebuild(entry.id))")
    }
  }
}
