import PackFormat

/// PK5002.
enum UntrustedSignatureCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK5002", "no trusted key signed the manifest", .error, .signature, needs: [],
    what:
      "A key of 'trust' in packer.yml (or of 'signKey', or of --trust) signed the manifest, and no signature of such a key is invalid.",
    onPhone: "The app refuses the manifest and keeps the one it has; a new install gets no packs.",
    remedy: "Sign with the app's key: 'packer build --sign-key REF'. If the file was changed after signing, find out who changed it.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let failure = release.manifest.signatureFailure else { return [] }
    return [
      finding(
        failure.message, file: release.manifest.path, details: failure.details,
        hint: release.wording(failure) ?? "packer build --sign-key REF, with a key that the app trusts")
    ]
  }
}
