import PackFormat

/// PK5002.
enum UntrustedSignatureCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK5002", "nobody who is trusted signed the manifest", .error, .signature, needs: [],
    what:
      "A key of 'trust' in packer.yml (or of 'signKey', or of --trust) signed the manifest, and no signature under such a key is wrong.",
    onPhone: "The app refuses the manifest and stays with the one it has; a new install gets nothing.",
    remedy: "Sign with the app's key: 'packer build --sign-key REF'. Where the file was changed after that, find out by whom.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let failure = release.manifest.signatureFailure else { return [] }
    return [
      finding(
        failure.message, file: release.manifest.path, details: failure.details,
        hint: release.wording(failure) ?? "packer build --sign-key REF, with a key that the app trusts")
    ]
  }
}
