import PackManifest

/// PK5004.
enum ExpiredManifestCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK5004", "the manifest has expired", needs: [.manifest],
    what: "The current time is before 'expires' of the manifest.",
    onPhone: "No new pack is installed from it; installed packs stay.",
    remedy: "Run 'packer build --renew' and upload the manifest.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let manifest = release.manifest.manifest, manifest.expires <= release.now else { return [] }
    return [
      finding(
        "the manifest expired at \(manifest.expires); now it is \(release.now)", file: release.manifest.path, hint: "packer build --renew")
    ]
  }
}
