import PackProject

/// PK5003.
enum NoTrustedKeyCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK5003", "there is no trusted key to check the signature with", .error, .signature, needs: [.manifest],
    what: "Trusted keys are known from 'trust' or a readable 'signKey' in packer.yml, --trust, or an app version in the lock file.",
    onPhone: "An app accepts only manifests signed by its trusted keys, and verify must know these keys to check the signature.",
    remedy: "Print the public key with 'packer key public --sign-key REF' and write it under 'trust' in packer.yml; it is not secret.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard release.manifest.trusted.isEmpty else { return [] }
    return [
      finding(
        "no public key is trusted, so the signature cannot be checked (signed by \(release.manifest.signers))", file: release.manifest.path,
        hint: "packer verify \(ShellWord.path(release.directory)) --trust pkp1-…, as 'packer key public' prints it")
    ]
  }
}
