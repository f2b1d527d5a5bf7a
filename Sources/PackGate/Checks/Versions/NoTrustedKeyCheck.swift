import PackProject

/// PK5003.
enum NoTrustedKeyCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK5003", "there is no key to hold the signature against", .error, .signature, needs: [.manifest],
    what: "packer.yml has 'trust' or a 'signKey' that can be read, --trust was given, or the lock file knows an app's keys.",
    onPhone: "An app takes manifests of its own keys only; which these are, the gate must know as well.",
    remedy: "Print the public key with 'packer key public --sign-key REF' and write it under 'trust' in packer.yml: it is no secret.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard release.manifest.trusted.isEmpty else { return [] }
    return [
      finding(
        "nobody's signature is trusted: no public key was given (signed by \(release.manifest.signers))", file: release.manifest.path,
        hint: "packer verify \(ShellWord.path(release.directory)) --trust pkp1-…, as 'packer key public' prints it")
    ]
  }
}
