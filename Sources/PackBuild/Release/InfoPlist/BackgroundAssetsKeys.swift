/// The Info.plist keys for Background Assets, as typed values.
///
/// If a value has the wrong type, its property is nil and ``problems`` has an entry for it.
package struct BackgroundAssetsKeys: Hashable, Sendable {
  /// `BAManifestURL`.
  package var manifestURL: String?
  /// `BAInitialDownloadRestrictions.BADownloadAllowance`, in bytes.
  package var downloadAllowance: UInt64?
  /// `BAInitialDownloadRestrictions.BAEssentialDownloadAllowance`, in bytes.
  package var essentialDownloadAllowance: UInt64?
  /// `BAInitialDownloadRestrictions.BADownloadDomainAllowList`.
  package var allowList: AllowList?
  /// `BAMaxInstallSize`, in bytes.
  package var maxInstallSize: UInt64?
  /// `BAEssentialMaxInstallSize`, in bytes.
  package var essentialMaxInstallSize: UInt64?
  /// `BAHasManagedAssetPacks`.
  package var hasManagedAssetPacks: Bool?
  /// `BAUsesAppleHosting`.
  package var usesAppleHosting: Bool?
  /// `BAAppGroupID`: the app group of managed asset packs.
  package var appGroupID: String?
  /// `AppGroupIdentifier`: packer's own key, from which app and extension read their app group if asset packs are not managed.
  package var appGroupIdentifier: String?
  /// The values that the system cannot use, in the order of the keys.
  package var problems: [Problem]

  /// A value that the system cannot use.
  package struct Problem: Hashable, Sendable {
    /// The path of the key, such as `BAInitialDownloadRestrictions.BADownloadAllowance`.
    package var key: String
    /// The value, for people.
    package var value: String
    /// The problem, as a sentence that names the key.
    package var message: String
    /// How to fix it.
    package var hint: String?
  }

  /// Makes a value without any keys.
  package init() {
    problems = []
  }

  /// The four sizes. Nil if one of them is missing or has the wrong type.
  package var budget: InstallBudget? {
    get {
      guard let essentialDownloadAllowance, let downloadAllowance, let essentialMaxInstallSize, let maxInstallSize else { return nil }
      return InstallBudget(
        essentialDownloadAllowance: essentialDownloadAllowance, downloadAllowance: downloadAllowance,
        essentialMaxInstallSize: essentialMaxInstallSize, maxInstallSize: maxInstallSize)
    }
    set {
      essentialDownloadAllowance = newValue?.essentialDownloadAllowance
      downloadAllowance = newValue?.downloadAllowance
      essentialMaxInstallSize = newValue?.essentialMaxInstallSize
      maxInstallSize = newValue?.maxInstallSize
    }
  }

  /// The kind of hosting that these keys select.
  package var hosting: PackerConfiguration.Hosting {
    guard hasManagedAssetPacks == true else { return .unmanaged }
    return usesAppleHosting == true ? .apple : .managed
  }
}

extension BackgroundAssetsKeys {
  package var json: JSON {
    [
      "type": "plist", "hosting": .text(hosting.rawValue), "manifestURL": .text(manifestURL),
      "essentialDownloadAllowance": .number(essentialDownloadAllowance), "downloadAllowance": .number(downloadAllowance),
      "essentialMaxInstallSize": .number(essentialMaxInstallSize), "maxInstallSize": .number(maxInstallSize),
      "hosts": (allowList?.entries).map(JSON.texts), "group": .text(appGroupID ?? appGroupIdentifier),
    ]
  }
}
