/// Rules about the app as it was built.
enum AppRules {
  static let all: [ReleaseRule] = [
    missingExtension, sharedGroup, extensionIdentifier, unknownEntitlements, dataProtection, appSecret, embeddedPack,
  ]

  static let missingExtension = ReleaseRule(
    "PK4012", "the built app has no downloader extension"
  ) { (listing: Listing, plist: PlistSighting, app: BuiltApp, configuration: PackerConfiguration?) -> Finding? in
    let hosting = PackerConfiguration.Hosting(configuration, plist)
    guard app.downloaders(hosting).isEmpty else { return nil }
    let isManaged = hosting != .unmanaged
    let isNeeded = isManaged || listing.demand(for: plist).hasEssential
    let others = app.extensions.map { "\($0.place) is for \($0.extensionPoint ?? "no extension point")" }
    return Finding(
      "it has no extension that downloads packs, but the release \(reason(isManaged: isManaged, isNeeded: isNeeded))",
      level: isNeeded ? .error : .warning, file: app.path, details: Array(others.prefix(20)),
      hint: "embed the downloader extension, and build the app again")
  }

  static let sharedGroup = ReleaseRule(
    "PK4013", "the entitlements of app and extension share no app group"
  ) { (plist: PlistSighting, app: BuiltApp, entitlements: Entitlements, configuration: PackerConfiguration?) -> [Finding] in
    let (own, downloaders) = (entitlements.groups, entitlements.downloaders)
    let isManaged = PackerConfiguration.Hosting(configuration, plist) != .unmanaged
    let (key, wanted) =
      isManaged
      ? (BackgroundAssetsKey.appGroupID, plist.keys.appGroupID) : (BackgroundAssetsKey.appGroupIdentifier, plist.keys.appGroupIdentifier)
    let hint = "add the app group \(wanted.map { "\($0) " } ?? "")to both targets in Xcode, and build the app again"
    func list(_ groups: [String]) -> String { groups.isEmpty ? "no app group" : groups.map { "'\($0)'" }.joined(separator: ", ") }
    if let wanted {
      let lacking = ([app.bundle] + downloaders).filter { !($0.groups.names ?? []).contains(wanted) }
      let isShared = downloaders.allSatisfy { !Set($0.groups.names ?? []).isDisjoint(with: own) }
      return lacking.map { bundle in
        Finding(
          "\(bundle.title) may use \(list(bundle.groups.names ?? [])), but \(key) is '\(wanted)'",
          level: isManaged || !isShared ? .error : .warning, file: app.path, hint: hint)
      }
    }
    return downloaders.compactMap { downloader in
      let groups = downloader.groups.names ?? []
      guard Set(groups).isDisjoint(with: own) else { return nil }
      return Finding("the app may use \(list(own)), but \(downloader.title) \(list(groups))", file: app.path, hint: hint)
    }
  }

  static let extensionIdentifier = ReleaseRule(
    "PK4014", "the bundle identifier of the extension is not below the app's", phone: .uploadRefused
  ) { (plist: PlistSighting, app: BuiltApp, configuration: PackerConfiguration?) -> [Finding] in
    guard let parent = app.bundle.identifier else { return [] }
    return app.downloaders(.init(configuration, plist)).compactMap { downloader in
      let identifier = downloader.identifier
      guard identifier?.hasPrefix(parent + ".") != true || identifier == parent + "." else { return nil }
      let found = identifier.map { "is '\($0)'" } ?? "is missing"
      return Finding(
        "CFBundleIdentifier of \(downloader.place) \(found), but it must start with '\(parent).'", file: app.path,
        hint: "set it to \(parent).downloader, and build the app again")
    }
  }

  static let unknownEntitlements = ReleaseRule(
    "PK4015", "the entitlements of the built app are not known", .note
  ) { (plist: PlistSighting, app: BuiltApp, configuration: PackerConfiguration?) -> [Finding] in
    return ([app.bundle] + app.downloaders(.init(configuration, plist))).compactMap { bundle in
      switch bundle.groups {
      case .known: return nil
      case .unsigned:
        return Finding(
          "\(bundle.title) is not signed, so its app groups are not checked", file: app.path, hint: "give --app the exported, signed app")
      case .unreadable(let reason):
        return Finding(
          "\(bundle.title) \(reason), so its app groups are not checked", level: .warning, file: app.path, hint: "build the app again")
      }
    }
  }

  static let dataProtection = ReleaseRule(
    "PK4017", "files of the app cannot be opened while the phone is locked", .warning
  ) { (plist: PlistSighting, app: BuiltApp, _: Entitlements, configuration: PackerConfiguration?) -> [Finding] in
    ([app.bundle] + app.downloaders(.init(configuration, plist))).compactMap { bundle in
      bundle.protection.flatMap(AppTargets.problem).map { problem in
        Finding("\(bundle.title): \(problem)", file: app.path, hint: AppTargets.protectionHint)
      }
    }
  }

  static let appSecret = ReleaseRule(
    "PK6009", "a secret is in the built app", .warning
  ) { (_: PlistSighting, app: BuiltApp, releases: RecordedReleases?, keys: ContentKeys) -> [Finding] in
    var roots = Set(keys.roots.values)
    if let root = releases?.newest?.rootKeyID { roots.insert(root) }
    return app.secrets.map { secret in
      switch secret.kind {
      case .signingKey:
        return Finding(
          "\(secret.place) holds a secret signing key (pks1-), which signs manifests", level: .error, file: app.path,
          hint: "remove it from the app; if it was ever shipped, replace it: Documentation/RECOVERY.md, 'A signing key leaked'")
      case .contentKeys(let ids):
        if let root = ids.first(where: roots.contains) {
          return Finding(
            "\(secret.place) holds the root key \(root), which opens all packs, also future ones", level: .error, file: app.path,
            hint: "give the app the keys of its packs: packer key derive --pack ID")
        }
        return Finding(
          "\(secret.place) holds the content key \(ids[0])\(ids.andMore), with which people who unpack the app open packs", level: .note,
          file: app.path, hint: "see Documentation/KEYS_IN_APPS.md")
      case .other(let reason):
        return Finding(
          "\(secret.place) \(reason)", file: app.path, hint: "remove it from the app; if it was ever shipped, change the secret")
      }
    }
  }

  static let embeddedPack = ReleaseRule(
    "PK6010", "a pack of the release is also in the built app", .note
  ) { (listing: Listing, _: PlistSighting, app: BuiltApp) -> [Finding] in
    let copies = Dictionary(app.packs.map { ($0.sha256, $0) }) { first, _ in first }
    return listing.entries.compactMap { entry in
      guard let copy = copies[entry.sha256] else { return nil }
      return Finding(
        "\(copy.place) is the same pack: its \(SizeText.short(entry.size)) ship twice", pack: entry.id, file: app.path,
        actual: copy.size, hint: "leave it out of the app")
    }
  }

  private static func reason(isManaged: Bool, isNeeded: Bool) -> String {
    isManaged ? "has managed asset packs" : isNeeded ? "has essential packs" : "is downloaded before the first launch only by one"
  }
}

extension BuiltApp.Bundle {
  /// The place, or the app itself, for messages.
  var title: String { place.isEmpty ? "the app" : place }
}
