/// A problem in a plist: a value that does not suit the release or the system.
package struct PlistFinding: Hashable, Sendable {
  /// The kind of a problem, with a stable name.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A required key is missing.
    case missing
    /// A value has the wrong type, so the system ignores it.
    case wrongType = "wrong-type"
    /// A number of bytes is smaller than the release needs.
    case tooSmall = "too-small"
    /// A number of bytes is larger than the release needs.
    case tooLarge = "too-large"
    /// A text or boolean has another value.
    case different
    /// A key is set that must be absent with the chosen hosting.
    case superfluous
    /// The release downloads from a host that is not on the allow list.
    case hostNotAllowed = "host-not-allowed"
    /// The allow list has a host that the release does not download from.
    case hostNotUsed = "host-not-used"
    /// The URL of the manifest cannot be downloaded, or may fail later.
    case manifestURL = "manifest-url"
    /// An entry of the allow list cannot work.
    case allowListEntry = "allow-list-entry"
    /// The extension or the entitlements do not fit the app.
    case target
  }

  /// The severity of a problem.
  package enum Level: String, Hashable, Sendable {
    case error
    case warning
  }

  /// The kind of the problem.
  package var kind: Kind
  /// The severity.
  package var level: Level
  /// The path of the file, as the caller gave it.
  package var file: String
  /// The path of the key, with dots between its parts.
  package var key: String
  /// The value in the file, for people.
  package var actual: String?
  /// The expected value, for people.
  package var wanted: String?
  /// The problem, as a sentence that names the key.
  package var message: String
  /// How to fix it.
  package var hint: String?
}

/// A key whose value is not the one that a release needs.
struct PlistDifference {
  var path: [String]
  var actual: PropertyList?
  /// The expected value. Nil if the key must be absent.
  var wanted: PropertyList?

  var key: String { path.joined(separator: ".") }

  /// The difference as people see it: a missing dictionary is split into its keys.
  var single: [PlistDifference] {
    guard actual == nil, let members = wanted?.members else { return [self] }
    return members.map { PlistDifference(path: path + [$0.key], wanted: $0.value) }
  }
}

extension BackgroundAssetsKeys {
  private typealias Key = BackgroundAssetsKey

  /// The keys that must be absent with this hosting. A boolean that is false counts as absent.
  var superfluousKeys: [String] {
    switch hosting {
    case .unmanaged: [Key.appGroupID, Key.hasManagedAssetPacks, Key.usesAppleHosting]
    case .managed: [Key.usesAppleHosting]
    case .apple: [Key.essentialMaxInstallSize, Key.restrictions, Key.manifestURL, Key.maxInstallSize]
    }
  }

  /// A key that is not read with this hosting, so that it may have any value.
  var unreadKey: String? {
    hosting == .unmanaged ? nil : Key.appGroupIdentifier
  }

  /// The rule by which two allow lists are equal.
  enum ListComparison {
    /// They allow the same hosts.
    case byHosts
    /// They have the same entries, in any order.
    case byEntries
  }

  /// Returns the differences between `plist` and these keys, in the order of the key names. Keys that are not set here may have any value.
  func differences(in plist: PropertyList, comparing lists: ListComparison = .byHosts) -> [PlistDifference] {
    var differences = superfluousKeys.compactMap { key -> PlistDifference? in
      guard let value = plist[key: key], value != .boolean(false) else { return nil }
      return PlistDifference(path: [key], actual: value)
    }
    for member in propertyList.members ?? [] {
      let actual = plist[key: member.key]
      guard member.key == Key.restrictions, actual?.members != nil else {
        differences.append(PlistDifference(path: [member.key], actual: actual, wanted: member.value))
        continue
      }
      for inner in member.value.members ?? [] {
        differences.append(PlistDifference(path: [member.key, inner.key], actual: actual?[key: inner.key], wanted: inner.value))
      }
    }
    return differences.filter { !$0.isNone(comparing: lists) }.sorted { $0.key < $1.key }
  }
}

extension PlistDifference {
  /// Whether both values mean the same to the system.
  fileprivate func isNone(comparing lists: BackgroundAssetsKeys.ListComparison) -> Bool {
    guard let actual, let wanted else { return (actual == nil) == (wanted == nil) }
    if path.last == BackgroundAssetsKey.allowList, let old = actual.texts, let new = wanted.texts {
      let (old, new) = (AllowList(old), AllowList(new))
      return lists == .byEntries ? Set(old.entries) == Set(new.entries) : old.lacks(of: new).isEmpty && old.exceeds(new).isEmpty
    }
    return actual.says(wanted)
  }
}

extension InfoPlist {
  /// Compares the plist with the keys that a release needs, in both directions.
  ///
  /// A number that is too small and a missing host are errors, because something fails on a phone. A number that is too large and an unused host
  /// are warnings.
  package func check(against wanted: BackgroundAssetsKeys) -> [PlistFinding] {
    let ignored = wanted.superfluousKeys + [wanted.unreadKey].compactMap { $0 }
    var findings = keys.problems.filter { !ignored.contains($0.key) }.map { problem in
      PlistFinding(
        kind: .wrongType, level: .error, file: path, key: problem.key, actual: problem.value, message: problem.message,
        hint: problem.hint)
    }
    let told = Set(findings.map(\.key))
    for difference in wanted.differences(in: content).flatMap(\.single) where !told.contains(difference.key) {
      findings += self.findings(for: difference, wanted: wanted)
    }
    if let allowList = keys.allowList, wanted.hosting != .apple { findings += self.findings(about: allowList) }
    if let url = keys.manifestURL, wanted.hosting != .apple { findings += self.findings(aboutManifestAt: url) }
    findings += groupFindings.filter { !ignored.contains($0.key) }
    return findings.sorted { ($0.key, $0.message) < ($1.key, $1.message) }
  }

  private func findings(for difference: PlistDifference, wanted: BackgroundAssetsKeys) -> [PlistFinding] {
    let key = difference.key
    let hint = "packer plist merge \(ShellWord.path(path))\(isMergedFreely ? "" : " --replace")"
    func finding(_ kind: PlistFinding.Kind, _ level: PlistFinding.Level, _ message: String) -> PlistFinding {
      PlistFinding(
        kind: kind, level: level, file: path, key: key, actual: difference.actual?.description,
        wanted: difference.wanted?.description, message: message, hint: hint)
    }
    guard let value = difference.wanted else {
      let reason = "but it must not be set with \(wanted.hosting.inWords)"
      return [finding(.superfluous, .error, "\(key) is \(difference.actual?.description ?? ""), \(reason)")]
    }
    guard let actual = difference.actual else {
      return [finding(.missing, .error, "\(key) is missing; it must be \(value)")]
    }
    switch (actual, value) {
    case (.integer(let old), .integer(let new)) where old < new:
      return [finding(.tooSmall, .error, "\(key) is \(old), but this release needs \(new) bytes")]
    case (.integer(let old), .integer(let new)):
      let message = "\(key) is \(old), but this release needs only \(new) bytes (\(old - new) too many)"
      return [finding(.tooLarge, .warning, message)]
    case (.array, .array):
      let (old, new) = (keys.allowList ?? AllowList([]), wanted.allowList ?? AllowList([]))
      return old.lacks(of: new).map {
        finding(.hostNotAllowed, .error, "\(key) does not allow \($0), but this release downloads from it")
      }
        + old.exceeds(new).map { finding(.hostNotUsed, .warning, "\(key) allows \($0), but this release does not download from it") }
    default:
      return [finding(.different, .error, "\(key) is \(actual), but it must be \(value)")]
    }
  }

  private func findings(about allowList: AllowList) -> [PlistFinding] {
    let key = "\(BackgroundAssetsKey.restrictions).\(BackgroundAssetsKey.allowList)"
    return allowList.entries.compactMap { entry in
      guard let message = AllowList.problem(of: entry) ?? AllowList.warning(about: entry) else { return nil }
      let level: PlistFinding.Level = AllowList.problem(of: entry) == nil ? .warning : .error
      return PlistFinding(kind: .allowListEntry, level: level, file: path, key: key, actual: entry, message: message)
    }
  }

  private func findings(aboutManifestAt text: String) -> [PlistFinding] {
    let key = BackgroundAssetsKey.manifestURL
    func finding(_ kind: PlistFinding.Kind, _ level: PlistFinding.Level, _ message: String, hint: String? = nil) -> PlistFinding {
      PlistFinding(kind: kind, level: level, file: path, key: key, actual: text, message: "\(key): \(message)", hint: hint)
    }
    guard !AppTargets.isVariable(text) else { return [] }
    do throws(PackError) {
      let url = try ServedURL(text)
      let refusal = keys.allowList?.refusal(of: url).map { finding(.hostNotAllowed, .error, $0) }
      return url.warnings.map { finding(.manifestURL, .warning, $0) } + [refusal].compactMap { $0 }
    } catch {
      return [finding(.manifestURL, .error, error.message, hint: error.advice?.description)]
    }
  }

  /// The problems of app group names. A name starts with `group.`, or on a Mac with the team's ten letters and digits.
  private var groupFindings: [PlistFinding] {
    let groups = [
      (BackgroundAssetsKey.appGroupID, keys.appGroupID), (BackgroundAssetsKey.appGroupIdentifier, keys.appGroupIdentifier),
    ]
    return groups.compactMap { key, group in
      guard let group, !AppTargets.isVariable(group), !AppTargets.isGroup(group) else { return nil }
      return PlistFinding(
        kind: .target, level: .error, file: path, key: key, actual: group,
        message: "\(key) is '\(group)', but an app group starts with 'group.'")
    }
  }
}

extension PackerConfiguration.Hosting {
  /// The hosting in words that can follow "with".
  fileprivate var inWords: String {
    switch self {
    case .unmanaged: "packs that the app's own extension downloads"
    case .managed: "managed asset packs from your own server"
    case .apple: "managed asset packs that Apple hosts"
    }
  }
}

extension PlistFinding {
  package var json: JSON {
    [
      "type": "finding", "file": .text(file), "kind": .text(kind.rawValue), "level": .text(level.rawValue), "key": .text(key),
      "actual": .text(actual), "wanted": .text(wanted), "message": .text(message), "hint": .text(hint),
    ]
  }
}
