import PackBuild
import PackManifest

/// PK5007.
enum ManifestRollbackCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK5007", "the manifest's version is below the one released last", needs: [.manifest, .lock],
    what: "The version is at least the one that packer.lock.json recorded.",
    onPhone: "The app refuses it as a rollback.",
    remedy: "Pull the newest lock file and run 'packer build'. To go back to older content, build it again: it gets a new, higher version.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let manifest = release.manifest.manifest, let released = release.lock?.released else { return [] }
    if manifest.version == released.manifestVersion, released.isDoubled {
      return [
        finding(
          "manifest \(manifest.version) went out twice, with different content", file: release.manifest.path, actual: manifest.version,
          limit: released.manifestVersion + 1, hint: "packer build")
      ]
    }
    guard manifest.version < released.manifestVersion else { return [] }
    return [
      finding(
        "the manifest has version \(manifest.version), but \(released.manifestVersion) was released", file: release.manifest.path,
        actual: manifest.version, limit: released.manifestVersion, hint: "packer build")
    ]
  }
}
