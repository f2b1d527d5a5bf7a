/// The names of the keys, as Apple documents them. Only `AppGroupIdentifier` is packer's own.
package enum BackgroundAssetsKey {
  package static let appGroupIdentifier = "AppGroupIdentifier"
  package static let appGroupID = "BAAppGroupID"
  package static let essentialMaxInstallSize = "BAEssentialMaxInstallSize"
  package static let hasManagedAssetPacks = "BAHasManagedAssetPacks"
  package static let restrictions = "BAInitialDownloadRestrictions"
  package static let downloadAllowance = "BADownloadAllowance"
  package static let allowList = "BADownloadDomainAllowList"
  package static let essentialDownloadAllowance = "BAEssentialDownloadAllowance"
  package static let manifestURL = "BAManifestURL"
  package static let maxInstallSize = "BAMaxInstallSize"
  package static let usesAppleHosting = "BAUsesAppleHosting"

  package static let all = [
    appGroupIdentifier, appGroupID, essentialMaxInstallSize, hasManagedAssetPacks, restrictions, downloadAllowance, allowList,
    essentialDownloadAllowance, manifestURL, maxInstallSize, usesAppleHosting,
  ]
}

extension BackgroundAssetsKeys {
  private typealias Key = BackgroundAssetsKey

  /// A dictionary of the keys that have a value, in ascending order.
  var propertyList: PropertyList {
    let restrictions = Self.dictionary([
      (Key.downloadAllowance, downloadAllowance.map(PropertyList.number)),
      (Key.allowList, allowList.map { .array($0.entries.map(PropertyList.string)) }),
      (Key.essentialDownloadAllowance, essentialDownloadAllowance.map(PropertyList.number)),
    ])
    return Self.dictionary([
      (Key.appGroupIdentifier, appGroupIdentifier.map(PropertyList.string)),
      (Key.appGroupID, appGroupID.map(PropertyList.string)),
      (Key.essentialMaxInstallSize, essentialMaxInstallSize.map(PropertyList.number)),
      (Key.hasManagedAssetPacks, hasManagedAssetPacks.map(PropertyList.boolean)),
      (Key.restrictions, restrictions == .dictionary([]) ? nil : restrictions),
      (Key.manifestURL, manifestURL.map(PropertyList.string)),
      (Key.maxInstallSize, maxInstallSize.map(PropertyList.number)),
      (Key.usesAppleHosting, usesAppleHosting.map(PropertyList.boolean)),
    ])
  }

  private static func dictionary(_ members: [(String, PropertyList?)]) -> PropertyList {
    .dictionary(members.compactMap { key, value in value.map { PropertyList.Member(key, $0) } })
  }

  /// Reads the keys of a plist.
  init(_ plist: PropertyList) {
    self.init()
    var reader = KeyReader(plist: plist)
    appGroupIdentifier = reader.text(Key.appGroupIdentifier)
    appGroupID = reader.text(Key.appGroupID)
    essentialMaxInstallSize = reader.size(Key.essentialMaxInstallSize)
    hasManagedAssetPacks = reader.boolean(Key.hasManagedAssetPacks)
    if let value = plist[key: Key.restrictions] {
      if value.members != nil {
        var inner = KeyReader(plist: value, prefix: Key.restrictions + ".")
        downloadAllowance = inner.size(Key.downloadAllowance)
        allowList = inner.texts(Key.allowList).map { AllowList($0) }
        essentialDownloadAllowance = inner.size(Key.essentialDownloadAllowance)
        reader.problems += inner.problems
      } else {
        reader.add(Key.restrictions, value, "is \(value), but it must be a dictionary", hint: nil)
      }
    }
    manifestURL = reader.text(Key.manifestURL)
    maxInstallSize = reader.size(Key.maxInstallSize)
    usesAppleHosting = reader.boolean(Key.usesAppleHosting)
    problems = reader.problems
  }
}

/// Reads values of the right type from a dictionary, and collects the problems of the others.
private struct KeyReader {
  let plist: PropertyList
  var prefix = ""
  var problems: [BackgroundAssetsKeys.Problem] = []

  mutating func add(_ key: String, _ value: PropertyList, _ fault: String, hint: String?) {
    problems.append(.init(key: prefix + key, value: "\(value)", message: "\(prefix)\(key) \(fault)", hint: hint))
  }

  mutating func text(_ key: String) -> String? {
    guard let value = plist[key: key] else { return nil }
    guard case .string(let text) = value else {
      add(key, value, "is \(value), but it must be a string", hint: nil)
      return nil
    }
    return text
  }

  mutating func boolean(_ key: String) -> Bool? {
    guard let value = plist[key: key] else { return nil }
    guard case .boolean(let isTrue) = value else {
      add(key, value, "is \(value), but it must be a boolean", hint: "write <true/> or <false/>")
      return nil
    }
    return isTrue
  }

  mutating func texts(_ key: String) -> [String]? {
    guard let value = plist[key: key] else { return nil }
    guard case .array(let items) = value else {
      add(key, value, "is \(value), but it must be an array of strings", hint: "write <array> with one <string> for each host")
      return nil
    }
    var texts: [String] = []
    for item in items {
      guard case .string(let text) = item else {
        add(key, item, "holds \(item), but it must hold only strings", hint: nil)
        return nil
      }
      texts.append(text)
    }
    return texts
  }

  /// Reads a number of bytes: a signed 64-bit integer, as the system reads it.
  mutating func size(_ key: String) -> UInt64? {
    guard let value = plist[key: key] else { return nil }
    switch value {
    case .integer(let number) where number >= 0:
      return UInt64(number)
    case .integer:
      add(key, value, "is \(value), but a size cannot be negative", hint: nil)
    case .unsigned:
      add(key, value, "is \(value), more than the system can hold (\(Int64.max))", hint: nil)
    case .string(let text) where UInt64(text) != nil:
      add(key, value, "is \(value), but it must be an integer", hint: "write <integer>\(text)</integer>")
    case .string, .real:
      add(key, value, "is \(value), but it must be an integer: the number of bytes", hint: nil)
    default:
      add(key, value, "is \(value), but it must be an integer", hint: nil)
    }
    return nil
  }
}
