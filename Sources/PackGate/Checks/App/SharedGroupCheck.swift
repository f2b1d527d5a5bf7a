import PackBuild
import PackProject

/// PK4013.
enum SharedGroupCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK4013", "the entitlements of app and extension share no app group", needs: [.plist, .app, .entitlements],
    what: """
      com.apple.security.application-groups in the code signatures of the built app and its downloader extension have a group in common, and it is \
      the one that the Info.plist names: BAAppGroupID with managed asset packs, otherwise AppGroupIdentifier. The last is only a warning if both share \
      another group, because the code of the app may name that.
      """,
    onPhone: "The app does not find the downloads of the extension; a managed app crashes at its first use of a pack.",
    remedy: "Add the capability App Groups with the same group to both targets in Xcode, and sign with profiles that have it.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let app = release.app, let plist = release.plist, let own = app.bundle.groups.names else { return [] }
    let isManaged = release.hosting != .unmanaged
    let (key, wanted) =
      isManaged
      ? (BackgroundAssetsKey.appGroupID, plist.keys.appGroupID) : (BackgroundAssetsKey.appGroupIdentifier, plist.keys.appGroupIdentifier)
    let hint = "add the app group \(wanted.map { "\($0) " } ?? "")to both targets in Xcode, and build the app again"
    func list(_ groups: [String]) -> String { groups.isEmpty ? "no app group" : groups.map { "'\($0)'" }.joined(separator: ", ") }
    if let wanted {
      let lacking = ([app.bundle] + release.downloaders).filter { !($0.groups.names ?? []).contains(wanted) }
      let isShared = release.downloaders.allSatisfy { !Set($0.groups.names ?? []).isDisjoint(with: own) }
      return lacking.map { bundle in
        finding(
          "\(bundle.title) may use \(list(bundle.groups.names ?? [])), but \(key) is '\(wanted)'",
          level: isManaged || !isShared ? .error : .warning,
          file: app.path, hint: hint)
      }
    }
    return release.downloaders.compactMap { downloader in
      let groups = downloader.groups.names ?? []
      guard Set(groups).isDisjoint(with: own) else { return nil }
      return finding("the app may use \(list(own)), but \(downloader.title) \(list(groups))", file: app.path, hint: hint)
    }
  }
}

extension BuiltApp.Bundle {
  /// The place, or the app itself, for messages.
  var title: String { place.isEmpty ? "the app" : place }
}
