/// Rules about the Info.plist and the addresses of a release.
enum PlistRules {
  static let all: [ReleaseRule] = [
    plistValue, missingPlistKey, forbiddenPlistKey, host, allowListEntry, unusedHost, packURL, manifestURL, appGroup, encryptionDeclaration,
    bundleIdentifier, targets,
  ]

  static let plistValue = ReleaseRule("PK4001", "a value of the Info.plist has the wrong type") { (plist: PlistSighting) -> [Finding] in
    return plist.keys.problems.map { problem in
      if AppTargets.isVariable(problem.value) {
        return Finding(
          "\(problem.key) is \(problem.value), with a variable that Xcode replaces, so it is not checked", level: .warning,
          file: plist.path, hint: "give the Info.plist of the built app")
      }
      return Finding(problem.message, file: plist.path, phone: .uploadRefused, hint: problem.hint ?? plist.mergeHint)
    }
  }

  static let missingPlistKey = ReleaseRule(
    "PK4002", "a key that Background Assets needs is missing from the Info.plist", phone: .uploadRefused
  ) { (plist: PlistSighting, configuration: PackerConfiguration?) -> [Finding] in
    let keys = plist.keys
    // A key whose value has the wrong type is present, and PK4001 reports it.
    let faulty = Set(keys.problems.map(\.key))
    let hosting = PackerConfiguration.Hosting(configuration, plist)
    let inner = BackgroundAssetsKey.restrictions
    var wanted: [(key: String, isThere: Bool)] = []
    if hosting != .unmanaged {
      wanted.append((BackgroundAssetsKey.hasManagedAssetPacks, keys.hasManagedAssetPacks == true))
      wanted.append((BackgroundAssetsKey.appGroupID, keys.appGroupID != nil))
    }
    if hosting == .apple {
      wanted.append((BackgroundAssetsKey.usesAppleHosting, keys.usesAppleHosting == true))
    } else {
      wanted += [
        (BackgroundAssetsKey.manifestURL, keys.manifestURL != nil),
        ("\(inner).\(BackgroundAssetsKey.downloadAllowance)", keys.downloadAllowance != nil),
        ("\(inner).\(BackgroundAssetsKey.essentialDownloadAllowance)", keys.essentialDownloadAllowance != nil),
        ("\(inner).\(BackgroundAssetsKey.allowList)", keys.allowList != nil),
        (BackgroundAssetsKey.essentialMaxInstallSize, keys.essentialMaxInstallSize != nil),
        (BackgroundAssetsKey.maxInstallSize, keys.maxInstallSize != nil),
      ]
    }
    return wanted.filter { key, isThere in
      !isThere && !faulty.contains(key) && !(key.hasPrefix(inner + ".") && faulty.contains(inner))
    }.map { key, _ in
      Finding("\(key) is missing", file: plist.path, hint: plist.mergeHint)
    }
  }

  static let forbiddenPlistKey = ReleaseRule(
    "PK4003", "the Info.plist has a key that belongs to another hosting mode", phone: .uploadRefused
  ) { (plist: PlistSighting, configuration: PackerConfiguration?) -> [Finding] in
    let hosting = PackerConfiguration.Hosting(configuration, plist)
    var present = plist.names.filter { $0.hasPrefix("BA") }
    if plist.keys.hasManagedAssetPacks == false { present.remove(BackgroundAssetsKey.hasManagedAssetPacks) }
    if plist.keys.usesAppleHosting == false { present.remove(BackgroundAssetsKey.usesAppleHosting) }
    let forbidden: Set<String> =
      switch hosting {
      case .unmanaged: present.intersection(managed)
      case .managed: present.intersection([BackgroundAssetsKey.usesAppleHosting])
      case .apple: present.subtracting(managed)
      }
    return forbidden.sorted().map { key in
      Finding("\(key) must not be set if hosting is \(hosting.rawValue)", file: plist.path, hint: "remove \(key) from \(plist.path)")
    }
  }

  static let host = ReleaseRule(
    "PK4004", "a host is not in the domain allow list", phone: .hostNotPermitted
  ) { (listing: Listing, plist: PlistSighting) -> [Finding] in
    // With Apple hosting, packs come from Apple's servers, which need no entry.
    guard let list = plist.keys.allowList, plist.keys.hosting != .apple else { return [] }
    var used = listing.hosts
    if let text = plist.keys.manifestURL, let url = try? ServedURL(text), !used.contains(where: { $0.host == url.host }) {
      used.append((url.host, []))
    }
    // An entry with a variable may be for the host, which PK4005 says.
    guard !list.entries.contains(where: AppTargets.isVariable) else { return [] }
    return used.filter { !list.allows(host: $0.host) }.map { host, packs in
      Finding(
        "\(host) serves \(packs.isEmpty ? "the manifest" : packs.summary), but is not in the domain allow list", file: plist.path,
        details: list.entries, hint: plist.mergeHint)
    }
  }

  static let allowListEntry = ReleaseRule(
    "PK4005", "an entry of the domain allow list can never match", phone: .hostNotPermitted
  ) { (plist: PlistSighting) -> [Finding] in
    guard let list = plist.keys.allowList else { return [] }
    return list.entries.compactMap { entry in
      if AppTargets.isVariable(entry) {
        return Finding(
          "the entry \(entry) has a variable that Xcode replaces, so it is not checked", level: .warning, file: plist.path,
          hint: "give the Info.plist of the built app")
      }
      if let problem = AllowList.problem(of: entry) {
        return Finding(problem, file: plist.path, hint: plist.mergeHint)
      }
      return AllowList.warning(about: entry).map { Finding($0, level: .warning, file: plist.path) }
    }
  }

  static let unusedHost = ReleaseRule(
    "PK4006", "an entry of the domain allow list is not used", .note
  ) { (listing: Listing, plist: PlistSighting, configuration: PackerConfiguration?) -> [Finding] in
    guard let list = plist.keys.allowList else { return [] }
    var used = listing.hosts.map(\.host)
    if let text = plist.keys.manifestURL, let url = try? ServedURL(text) { used.append(url.host) }
    let wished = Set(configuration?.serve.hosts ?? [])
    return list.entries.compactMap { entry in
      let single = AllowList([entry])
      guard AllowList.problem(of: entry) == nil, !wished.contains(entry), !used.contains(where: { single.allows(host: $0) }) else {
        return nil
      }
      return Finding("no file of this release is served from '\(entry)' in the domain allow list", file: plist.path)
    }
  }

  static let packURL = ReleaseRule(
    "PK4007", "the system cannot download the URL of a pack"
  ) { (listing: Listing, setting: Setting) -> [Finding] in
    listing.entries.flatMap { entry -> [Finding] in
      do throws(PackError) {
        return try ServedURL(entry.url).warnings.map { Finding($0, level: .warning, pack: entry.id) }
      } catch {
        return [
          Finding(error.message, pack: entry.id, hint: setting.wording(error) ?? "set serve.baseURL in packer.yml, then: packer build")
        ]
      }
    }
  }

  static let manifestURL = ReleaseRule(
    "PK4008", "the app fetches the manifest from another URL"
  ) { (plist: PlistSighting, configuration: PackerConfiguration?, setting: Setting) -> [Finding] in
    guard let text = plist.keys.manifestURL else { return [] }
    guard !AppTargets.isVariable(text) else {
      return [
        Finding(
          "BAManifestURL is \(text), with a variable that Xcode replaces, so it is not checked", level: .warning, file: plist.path,
          hint: "give the Info.plist of the built app")
      ]
    }
    do throws(PackError) {
      let url = try ServedURL(text)
      if let wanted = configuration?.serve.manifestURL, wanted != text {
        return [
          Finding(
            "BAManifestURL is \(text), but the manifest is served at \(wanted)", file: plist.path, phone: .notFound, hint: plist.mergeHint)
        ]
      }
      return url.warnings.map { Finding($0, level: .warning, file: plist.path, phone: .notFound) }
    } catch {
      return [
        Finding("BAManifestURL: \(error.message)", file: plist.path, phone: .notFound, hint: setting.wording(error) ?? plist.mergeHint)
      ]
    }
  }

  static let appGroup = ReleaseRule(
    "PK4009", "the app group is not shared by app and extension"
  ) { (plist: PlistSighting, configuration: PackerConfiguration?) -> [Finding] in
    let groups = [
      (BackgroundAssetsKey.appGroupIdentifier, plist.keys.appGroupIdentifier), (BackgroundAssetsKey.appGroupID, plist.keys.appGroupID),
    ]
    return groups.compactMap { key, group in
      guard let group else { return nil }
      if let wanted = configuration?.app.group, wanted != group {
        return Finding("\(key) is '\(group)', but packer.yml says '\(wanted)'", file: plist.path, hint: plist.mergeHint)
      }
      guard !AppTargets.isVariable(group), !AppTargets.isGroup(group) else { return nil }
      return Finding("\(key) is '\(group)', but the name of a group starts with 'group.'", file: plist.path, hint: "write group.\(group)")
    }
  }

  static let encryptionDeclaration = ReleaseRule(
    "PK4010", "the Info.plist says that no export-relevant encryption is used", .note
  ) { (plist: PlistSighting) -> Finding? in
    guard plist.usesNonExemptEncryption == false else { return nil }
    return Finding(
      "ITSAppUsesNonExemptEncryption is false, but the app decrypts packs: check that this declaration is right", file: plist.path,
      hint: "packer explain PK4010")
  }

  static let bundleIdentifier = ReleaseRule(
    "PK4011", "the Info.plist belongs to another app"
  ) { (plist: PlistSighting, configuration: PackerConfiguration, listing: Listing?) -> [Finding] in
    let option = plist.place == nil ? "--plist the Info.plist of" : "--app the app"
    var findings: [Finding] = []
    if let found = plist.bundleID, let wanted = configuration.app.bundleID, found != wanted {
      findings.append(
        Finding(
          "CFBundleIdentifier is '\(found)', but app.bundleID in packer.yml is '\(wanted)'", file: plist.path,
          hint: "give \(option) \(wanted), or correct app.bundleID in packer.yml"))
    }
    if let platform = plist.platform, let entries = listing?.entries, !entries.isEmpty,
      !entries.contains(where: { $0.platforms.isEmpty || $0.platforms.contains(platform.rawValue) })
    {
      findings.append(
        Finding(
          "it is that of an app for \(platform.rawValue), but no pack of the release is", level: .warning, file: plist.path,
          hint: "correct 'platforms' in packer.yml, or give another Info.plist"))
    }
    return findings
  }

  static let targets = ReleaseRule(
    "PK4016", "the extension or the entitlements do not match the app's Info.plist"
  ) { (files: AppTargets, plist: PlistSighting?, configuration: PackerConfiguration?) -> [Finding] in
    files.faults(hosting: .init(configuration, plist)).map {
      Finding(
        "\($0.file): \($0.message)", level: $0.isWarning ? .warning : .error, file: $0.file,
        hint: $0.hint ?? "compare with: packer plist print --part \($0.file == files.downloader?.path ? "extension" : "entitlements")")
    }
  }

  private static let managed: Set<String> = [
    BackgroundAssetsKey.hasManagedAssetPacks, BackgroundAssetsKey.usesAppleHosting, BackgroundAssetsKey.appGroupID,
  ]
}
