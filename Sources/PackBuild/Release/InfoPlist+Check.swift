import PackFormat
import PackProject

/// Something in a plist that is not as a release wants it.
package struct PlistFinding: Hashable, Sendable {
  /// What kind of fault it is, with a stable name.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A key that must be there is not.
    case missing
    /// A value is of the wrong type, so that the system ignores it.
    case wrongType = "wrong-type"
    /// A number of bytes is smaller than what the release needs.
    case tooSmall = "too-small"
    /// A number of bytes is larger than what the release needs.
    case tooLarge = "too-large"
    /// A text or boolean has another value.
    case different
    /// A key must not be there with the hosting that is chosen.
    case superfluous
    /// A host that is downloaded from is not allowed.
    case hostNotAllowed = "host-not-allowed"
    /// A host is allowed from which nothing is downloaded.
    case hostNotUsed = "host-not-used"
    /// The URL of the manifest cannot be downloaded from, or is likely to fail some day.
    case manifestURL = "manifest-url"
    /// An entry of the allow list cannot work.
    case allowListEntry = "allow-list-entry"
    /// The extension or the entitlements do not fit the app.
    case target
  }

  /// How grave it is.
  package enum Level: String, Hashable, Sendable {
    case error
    case warning
  }

  /// What kind of fault it is.
  package var kind: Kind
  /// How grave it is.
  package var level: Level
  /// The file, as the caller named it.
  package var file: String
  /// The key, with those above it and dots between.
  package var key: String
  /// The value that is there, for a person.
  package var actual: String?
  /// The value that should be there, for a person.
  package var wanted: String?
  /// The fault: a sentence that names the key.
  package var message: String
  /// What to do about it.
  package var hint: String?
}

/// A key whose value is not the one that a release wants.
struct PlistDifference {
  var path: [String]
  var actual: PropertyList?
  /// nil where the key must not be there.
  var wanted: PropertyList?

  var key: String { path.joined(separator: ".") }

  /// The same for a person: of a dictionary that is missing, each of its keys.
  var single: [PlistDifference] {
    guard actual == nil, let members = wanted?.members else { return [self] }
    return members.map { PlistDifference(path: path + [$0.key], wanted: $0.value) }
  }
}

extension BackgroundAssetsKeys {
  private typealias Key = BackgroundAssetsKey

  /// The keys that must not be there with this hosting; a boolean that is false counts as absent.
  var superfluousKeys: [String] {
    switch hosting {
    case .unmanaged: [Key.appGroupID, Key.hasManagedAssetPacks, Key.usesAppleHosting]
    case .managed: [Key.usesAppleHosting]
    case .apple: [Key.essentialMaxInstallSize, Key.restrictions, Key.manifestURL, Key.maxInstallSize]
    }
  }

  /// A key that nobody reads with this hosting, so that any value will do.
  var unreadKey: String? {
    hosting == .unmanaged ? nil : Key.appGroupIdentifier
  }

  /// What counts as the same allow list.
  enum ListComparison {
    /// One that allows the same hosts.
    case byHosts
    /// One with the same entries, in any order.
    case byEntries
  }

  /// Where `plist` differs from these keys, in the order of their names. Keys that these leave open may have any value.
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
  /// Whether the system takes both values for the same.
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
  /// Compares the plist with what a release wants, both ways.
  ///
  /// A number that is too small and a host that is missing are errors: something fails on a phone. A number that is too large and a host
  /// without use are warnings.
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
      let reason = "and it must not be there with \(wanted.hosting.inWords)"
      return [finding(.superfluous, .error, "\(key) is \(difference.actual?.description ?? ""), \(reason)")]
    }
    guard let actual = difference.actual else {
      return [finding(.missing, .error, "\(key) is missing, and it must be \(value)")]
    }
    switch (actual, value) {
    case (.integer(let old), .integer(let new)) where old < new:
      return [finding(.tooSmall, .error, "\(key) is \(old), but this release needs \(new) bytes")]
    case (.integer(let old), .integer(let new)):
      let message = "\(key) is \(old), and this release needs \(new) bytes: \(old - new) more than it should promise"
      return [finding(.tooLarge, .warning, message)]
    case (.array, .array):
      let (old, new) = (keys.allowList ?? AllowList([]), wanted.allowList ?? AllowList([]))
      return old.lacks(of: new).map {
        finding(.hostNotAllowed, .error, "\(key) does not allow \($0), and this release downloads from there")
      }
        + old.exceeds(new).map { finding(.hostNotUsed, .warning, "\(key) allows \($0), and this release does not download from there") }
    default:
      return [finding(.different, .error, "\(key) is \(actual), and it must be \(value)")]
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

  /// Groups start with `group.`, or with the team's ten letters and digits on a Mac.
  private var groupFindings: [PlistFinding] {
    let groups = [
      (BackgroundAssetsKey.appGroupID, keys.appGroupID), (BackgroundAssetsKey.appGroupIdentifier, keys.appGroupIdentifier),
    ]
    return groups.compactMap { key, group in
      guard let group, !AppTargets.isVariable(group), !AppTargets.isGroup(group) else { return nil }
      return PlistFinding(
        kind: .target, level: .error, file: path, key: key, actual: group,
        message: "\(key) is '\(group)', and an app group starts with 'group.'")
    }
  }
}

extension PackerConfiguration.Hosting {
  /// Goes on behind "with".
  fileprivate var inWords: String {
    switch self {
    case .unmanaged: "packs that the app's own extension downloads"
    case .managed: "managed asset packs from your own server"
    case .apple: "managed asset packs that Apple hosts"
    }
  }
}
