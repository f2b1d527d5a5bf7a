/// Rules about the app as it was built.
enum AppRules {
  static let all: [ReleaseRule] = [
    missingExtension, sharedGroup, extensionIdentifier, unknownEntitlements, dataProtection, appSecret, embeddedPack,
  ]

  static let missingExtension = ReleaseRule(
    "PK4012", "the built app has no downloader extension",
    what: """
      The app has an extension for the point com.apple.background-asset-downloader-extension (EXExtensionPointIdentifier) in Extensions or \
      PlugIns. Without one, an error for managed asset packs and for releases with essential packs, otherwise a warning.
      """,
    onPhone: """
      No essential pack is there at the first launch, because only the extension requests them; a managed app crashes at its first use of a pack.
      """,
    remedy: "Add the extension to the app in Xcode, or archive the scheme that contains it. 'packer init --app' makes such a project."
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
    "PK4013", "the entitlements of app and extension share no app group",
    what: """
      com.apple.security.application-groups in the code signatures of the built app and its downloader extension have a group in common, and it is \
      the one that the Info.plist names: BAAppGroupID with managed asset packs, otherwise AppGroupIdentifier. The last is only a warning if both share \
      another group, because the code of the app may name that.
      """,
    onPhone: "The app does not find the downloads of the extension; a managed app crashes at its first use of a pack.",
    remedy: "Add the capability App Groups with the same group to both targets in Xcode, and sign with profiles that have it."
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
    "PK4014", "the bundle identifier of the extension is not below the app's", phone: .uploadRefused,
    what: "CFBundleIdentifier of the downloader extension is that of the app, a dot and more, as in com.example.arcade.downloader.",
    onPhone: "The app cannot be uploaded or installed.",
    remedy: "Correct PRODUCT_BUNDLE_IDENTIFIER of the extension in Xcode."
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
    "PK4015", "the entitlements of the built app are not known", .note,
    what: """
      App and downloader extension have a code signature with entitlements. Without it, PK4013 and PK4017 are skipped. A missing or damaged executable is a \
      warning.
      """,
    onPhone: "No effect if the app is signed later; a phone does not run an app that is not signed.",
    remedy: "Give --app the app as it is uploaded: exported and signed for the App Store."
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
    "PK4017", "files of the app cannot be opened while the phone is locked", .warning,
    what: """
      com.apple.developer.default-data-protection in the code signatures of the built app and its downloader extension is neither \
      NSFileProtectionComplete nor NSFileProtectionCompleteUnlessOpen.
      """,
    onPhone: """
      The extension runs in the background, mostly while the phone is locked. The library's own directories stay readable, because it sets their \
      class. A download may get the app's class and wait for the next unlocking, and so does everything that the app's code keeps elsewhere.
      """,
    remedy: "Remove the capability Data Protection from both targets in Xcode, and set the class of files that need protection in the code."
  ) { (plist: PlistSighting, app: BuiltApp, _: Entitlements, configuration: PackerConfiguration?) -> [Finding] in
    ([app.bundle] + app.downloaders(.init(configuration, plist))).compactMap { bundle in
      bundle.protection.flatMap(AppTargets.problem).map { problem in
        Finding("\(bundle.title): \(problem)", file: app.path, hint: AppTargets.protectionHint)
      }
    }
  }

  static let appSecret = ReleaseRule(
    "PK6009", "a secret is in the built app", .warning,
    what: """
      No file of the app holds a signing key of packer or the root key of this release (errors), has the name of a key or a key store, or \
      contains a private key or a token. Any other content key is a note: an app may have it in its code. Google's API keys are not secret.
      """,
    onPhone: "Everyone with the app can take it out: sign manifests that the app accepts, or open all packs.",
    remedy: "Remove the file from the target in Xcode and change the secret. Documentation/RECOVERY.md and KEYS_IN_APPS.md have the steps."
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
    "PK6010", "a pack of the release is also in the built app", .note,
    what: "No file of the app has the bytes of a pack of the manifest.",
    onPhone: "Players download and store the pack twice, unless the app reads the one that it contains.",
    remedy: "Leave the packs out of the app; debug builds may have them for a first run without a server."
  ) { (listing: Listing, _: PlistSighting, app: BuiltApp) -> [Finding] in
    return listing.entries.compactMap { entry in
      guard let copy = app.packs.first(where: { $0.sha256 == entry.sha256 }) else { return nil }
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
