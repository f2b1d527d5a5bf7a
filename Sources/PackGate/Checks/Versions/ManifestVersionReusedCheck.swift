import PackBuild
import PackManifest

/// PK5008.
enum ManifestVersionReusedCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK5008", "the manifest changed, but its version did not", needs: [.manifest, .lock],
    what: "A manifest with the version of the last release has exactly the bytes of that release.",
    onPhone: "An app that has accepted the other manifest refuses this one.",
    remedy: "Run 'packer build' with the recorded lock file: it assigns the next version.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let manifest = release.manifest.manifest, let released = release.lock?.released, manifest.version == released.manifestVersion,
      release.manifest.signedDigest != released.signedDigest
    else { return [] }
    return [
      finding(
        "version \(manifest.version) was released with different content", file: release.manifest.path, limit: manifest.version,
        hint: "packer build")
    ]
  }
}
