import PackBuild
import PackManifest
import PackProject

/// PK3012.
enum ReleasedManifestCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK3012", "an app version already released refuses or never fetches the manifest", .error, .released, needs: [.manifest, .lock],
    what: """
      The manifest's version is not below the one that an app version was shipped with, and the manifest is served at the URL that the app \
      version fetches. Another URL is a warning, because two URLs may lead to the same file.
      """,
    onPhone: "That app version keeps the manifest it has. It refuses a lower version as a rollback.",
    remedy: "Let 'packer build' choose the version, with an up-to-date lock file; also serve the manifest at the old URL.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let manifest = release.manifest.manifest else { return [] }
    return release.apps.compactMap { app in
      if manifest.version < app.firstManifest {
        return finding(
          "app \(app.title) was shipped with manifest version \(app.firstManifest), but this is version \(manifest.version)",
          app: app.version,
          file: release.lockPath, actual: manifest.version, limit: app.firstManifest,
          hint: (release.lock?.released?.manifestVersion ?? 0) < app.firstManifest
            ? "restore the newest \(ReleaseFile.lock), then: packer build -o \(ShellWord.path(release.directory))"
            : "packer build -o \(ShellWord.path(release.directory))")
      }
      guard let configuration = release.configuration, let url = app.manifestURL, configuration.serve.manifestURL != url else {
        return nil
      }
      return finding(
        "app \(app.title) fetches the manifest from \(url), but it is served at \(configuration.serve.manifestURL)",
        level: .warning,
        app: app.version, file: release.lockPath,
        hint: "serve it at both URLs, or: packer release retire \(ShellWord.quoted(app.version))")
    }
  }
}
