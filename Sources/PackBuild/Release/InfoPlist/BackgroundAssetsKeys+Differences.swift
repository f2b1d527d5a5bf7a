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
