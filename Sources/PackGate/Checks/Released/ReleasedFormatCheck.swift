import PackBuild
import PackManifest
import PackProject

/// PK3011.
enum ReleasedFormatCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK3011", "an app version already released cannot read the format of a pack", .error, .released, needs: [.files, .lock],
    what:
      "The format version of every pack is one that the runtime of every app version reads which is not retired: the same major number.",
    onPhone: "That version refuses the pack as made for a newer reader.",
    remedy: "Build with a packer that writes the older format, or retire the app version.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.apps.flatMap { app in
      release.pairs.compactMap { entry, file in
        guard let format = file.start?.format, major(format) != major(app.format) else { return nil }
        return finding(
          "app \(app.version) reads format \(app.format), but the pack has format \(format)", pack: entry.id, app: app.version,
          file: release.lockPath, hint: "packer release retire \(ShellWord.quoted(app.version))")
      }
    }
  }

  private static func major(_ format: String) -> Substring { format.prefix { $0 != "." } }
}
