import PackBuild
import PackManifest

/// PK3010.
enum ReleasedContentKeyCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK3010", "an app version already released has no key for a pack", .error, .released, needs: [.manifest, .lock],
    what:
      "The key ids of all packs are among those that every app version holds which is not retired, or are made from a root key among them.",
    onPhone: "That version downloads the pack and cannot open it.",
    remedy: "Build with the key that all versions hold; change keys only with the app that brings the new one.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.apps.flatMap { app in
      let missing = Dictionary(grouping: release.entries.filter { !release.holds(app, $0.keyID) }, by: \.keyID)
      return missing.sorted { $0.key < $1.key }.map { keyID, entries in
        finding(
          "app \(app.version) does not hold key \(keyID), which opens \(entries.map(\.id).summary)", app: app.version,
          file: release.lockPath,
          details: entries.map(\.id), hint: "packer build --key REF, with a key that app \(app.version) holds")
      }
    }
  }
}

extension ReleaseContext {
  /// Whether an app version has a key: itself, or the root it is made from.
  fileprivate func holds(_ app: ReleaseLock.App, _ keyID: String) -> Bool {
    app.keyIDs.contains(keyID) || roots[keyID].map(app.keyIDs.contains) ?? false
  }
}
