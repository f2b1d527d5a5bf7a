import PackBuild
import PackManifest

/// PK6010.
enum EmbeddedPackCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK6010", "a pack of the release is also in the built app", .note, needs: [.manifest, .plist, .app],
    what: "No file of the app has the bytes of a pack of the manifest.",
    onPhone: "Players download and store the pack twice, unless the app reads the one that it contains.",
    remedy: "Leave the packs out of the app; debug builds may have them for a first run without a server.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let app = release.app else { return [] }
    return release.entries.compactMap { entry in
      guard let copy = app.packs.first(where: { $0.sha256 == entry.sha256 }) else { return nil }
      return finding(
        "\(copy.place) is the same pack: its \(SizeText.short(entry.size)) ship twice", pack: entry.id, file: app.path,
        actual: copy.size, hint: "leave it out of the app")
    }
  }
}
