import PackBuild
import PackManifest
import PackProject

/// PK3011.
enum ReleasedFormatCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK3011", "an app version already released cannot read the format of a pack", .error, .released, needs: [.files, .lock],
    what:
      "Every app version that is not retired can read the format of every pack: the major version is the same.",
    onPhone: "That version refuses the pack, because it needs a newer reader.",
    remedy: "Build with a packer that writes the older format, or retire the app version.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.apps.flatMap { app in
      release.pairs.compactMap { entry, file in
        guard let format = file.start?.format, major(format) != major(app.format) else { return nil }
        return finding(
          "app \(app.title) reads format \(app.format), but the pack has format \(format)", pack: entry.id, app: app.version,
          file: release.lockPath, hint: "packer release retire \(ShellWord.quoted(app.version))")
      }
    }
  }

  private static func major(_ format: String) -> Substring { format.prefix { $0 != "." } }
}
