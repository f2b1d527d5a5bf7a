import PackBuild
import PackManifest

/// PK5009.
enum NeedlessManifestVersionCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK5009", "the manifest has a new version, but nothing in it changed", .note, needs: [.manifest, .lock],
    what: "A manifest with a new version has new content, or is valid for longer.",
    onPhone: "Every device downloads and checks a manifest unnecessarily.",
    remedy: "Run 'packer build' with the recorded lock file: it keeps the version.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let manifest = release.manifest.manifest, let released = release.lock?.released, manifest.version > released.manifestVersion,
      release.manifest.contentDigest == released.contentDigest, manifest.expires <= released.expires
    else { return [] }
    return [
      finding(
        "version \(manifest.version) has the content of version \(released.manifestVersion), and is not valid for longer",
        file: release.manifest.path,
        actual: manifest.version, limit: released.manifestVersion, hint: "packer build")
    ]
  }
}
