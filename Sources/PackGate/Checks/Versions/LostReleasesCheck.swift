import PackBuild
import PackFormat
import PackManifest
import PackProject
import PackTrust

/// PK5015.
enum LostReleasesCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK5015", "the lock file does not know the releases before this one", needs: [.manifest, .lock],
    what: """
      The versions of manifest and packs are those of packer.lock.json, or one higher, and it has a release if it has an app version.
      """,
    onPhone: "App versions that the lock file no longer names are not checked: they may get a release that they cannot use.",
    remedy: """
      Restore the newest packer.lock.json from version control. If it is lost, record the app versions in use again, and accept the finding \
      once with --ignore.
      """)

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let manifest = release.manifest.manifest, let lock = release.lock else { return [] }
    let hint = "restore the newest \(release.lockPath): git log -p \(ShellWord.path(release.lockPath))"
    // Without any release in the lock file, a published manifest proves that it was lost.
    let published = lock.released == nil ? nil : release.published
    let known = max(lock.released?.manifestVersion ?? 0, published?.verified.manifest.version ?? 0)
    guard manifest.version <= known.adding(1) else {
      return [
        finding(
          "the manifest has version \(manifest.version), but \(Self.title(known)) in \(release.lockPath)", file: release.lockPath,
          actual: manifest.version, limit: known, hint: hint)
      ]
    }
    // PK3012 finds an app version that knows a later manifest than this one.
    if lock.released == nil, let app = lock.apps.first(where: { $0.firstManifest <= manifest.version }) {
      return [
        finding(
          "app \(app.title) was shipped with manifest \(app.firstManifest), but no release is in \(release.lockPath)",
          file: release.lockPath, actual: app.firstManifest, limit: 0, hint: hint)
      ]
    }
    let recorded = Dictionary(
      (lock.released?.packs ?? []).map { ($0.id, $0.version) } + (published?.packs ?? []).map { ($0.id, $0.version) }, uniquingKeysWith: max
    )
    return release.entries.filter { $0.version > (recorded[$0.id] ?? 0).adding(1) }.map { entry in
      finding(
        "it has version \(entry.version), but \(Self.title(recorded[entry.id] ?? 0)) in \(release.lockPath)", pack: entry.id,
        file: release.lockPath, actual: entry.version, limit: recorded[entry.id] ?? 0, hint: hint)
    }
  }

  private static func title(_ version: UInt64) -> String { version == 0 ? "no release is" : "version \(version) is the last" }
}
