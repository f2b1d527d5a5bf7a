import PackProject

/// PK2019.
enum UploadedSecretCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2019", "a secret key is among the files that are uploaded", needs: [.manifest],
    what: "No file beside the packs holds a key of packer, a private key, or what looks like another secret.",
    onPhone: """
      Everybody can download the key. A content key opens the packs; with a signing key anybody can sign a manifest that the apps accept.
      """,
    remedy: "Move it out of the directory. If it was ever uploaded, replace it; Documentation/RECOVERY.md has the steps.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.secrets.map { secret in
      finding(
        "\(secret.path) \(what(secret.kind))", file: secret.path,
        hint: "\(release.movingAside([secret.path]))\nif it was ever uploaded, \(replacement(secret.kind))")
    }
  }

  private static func what(_ kind: UploadedSecret.Kind) -> String {
    switch kind {
    case .contentKey: "holds a secret content key (pkk1-), which opens packs"
    case .signingKey: "holds a secret signing key (pks1-), which signs manifests"
    case .rootKey: "holds a root signing key (pkt1-), which says who may sign manifests"
    case .other(let reason): reason
    }
  }

  private static func replacement(_ kind: UploadedSecret.Kind) -> String {
    switch kind {
    case .contentKey: "replace the key: Documentation/RECOVERY.md, 'A content key leaked'"
    case .signingKey: "replace the key: Documentation/RECOVERY.md, 'A signing key leaked'"
    case .rootKey: "replace the key: Documentation/TRUST.md, 'A root signing key leaked'"
    case .other: "replace the secret where it is used"
    }
  }
}
