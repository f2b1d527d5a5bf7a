import PackBuild
import PackManifest

/// PK3010.
enum ReleasedContentKeyCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK3010", "an app version already released has no key for a pack", .error, .released, needs: [.manifest, .lock],
    what:
      "Every app version that is not retired holds the key of every pack, or the root key from which it is derived.",
    onPhone: "That version downloads the pack and cannot open it.",
    remedy: "Build with the key that all versions hold; use a new key only after the app version with that key is released.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.apps.flatMap { app in
      let missing = Dictionary(grouping: release.entries.filter { !release.holds(app, $0.keyID) }, by: \.keyID)
      return missing.sorted { $0.key < $1.key }.map { keyID, entries in
        finding(
          "app \(app.title) does not hold key \(keyID), which opens \(entries.map(\.id).summary)", app: app.version,
          file: release.lockPath,
          details: entries.map(\.id), hint: "packer build --key REF, with a key that app \(app.title) holds")
      }
    }
  }
}

extension ReleaseContext {
  /// Returns whether an app version has a key, or the root key from which it is derived.
  fileprivate func holds(_ app: ReleaseLock.App, _ keyID: String) -> Bool {
    app.keyIDs.contains(keyID) || roots[keyID].map(app.keyIDs.contains) ?? false
  }
}
