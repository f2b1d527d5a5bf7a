import PackBuild
import PackProject

/// PK4012.
enum MissingExtensionCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK4012", "the built app has no downloader extension", needs: [.manifest, .plist, .app],
    what: """
      The app has an extension for the point com.apple.background-asset-downloader-extension (EXExtensionPointIdentifier) in Extensions or \
      PlugIns. Without one, an error for managed asset packs and for releases with essential packs, otherwise a warning.
      """,
    onPhone: """
      No essential pack is there at the first launch, because only the extension requests them; a managed app crashes at its first use of a pack.
      """,
    remedy: "Add the extension to the app in Xcode, or archive the scheme that contains it. 'packer init --app' makes such a project.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let app = release.app, release.downloaders.isEmpty else { return [] }
    let isManaged = release.hosting != .unmanaged
    let platform = release.plist?.platform
    let isNeeded = isManaged || release.demand(for: platform).hasEssential
    let others = app.extensions.map { "\($0.place) is for \($0.extensionPoint ?? "no extension point")" }
    return [
      finding(
        "it has no extension that downloads packs, but the release \(reason(isManaged: isManaged, isNeeded: isNeeded))",
        level: isNeeded ? .error : .warning, file: app.path, details: Array(others.prefix(20)),
        hint: "embed the downloader extension, and build the app again")
    ]
  }

  private static func reason(isManaged: Bool, isNeeded: Bool) -> String {
    isManaged ? "has managed asset packs" : isNeeded ? "has essential packs" : "is downloaded before the first launch only by one"
  }
}
