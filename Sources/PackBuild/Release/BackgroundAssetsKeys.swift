package import PackManifest
package import PackProject

/// What an Info.plist tells the system about background assets: its keys, typed.
///
/// A key whose value has the wrong type is nil here, and among ``problems``.
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
  /// `AppGroupIdentifier`: a key of our own, from which app and extension take their app group where assets are not managed.
  package var appGroupIdentifier: String?
  /// What is wrong with values, in the order of the keys.
  package var problems: [Problem]

  /// A value that the system does not take for what it is meant to be.
  package struct Problem: Hashable, Sendable {
    /// The key, with those above it: `BAInitialDownloadRestrictions.BADownloadAllowance`.
    package var key: String
    /// The value, for a person.
    package var value: String
    /// What is wrong with it: a sentence that names the key.
    package var message: String
    /// What to do about it.
    package var hint: String?
  }

  /// Makes the keys of a plist that has none.
  package init() {
    problems = []
  }

  /// The four numbers; nil where one of them is missing or of the wrong type.
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

  /// How the packs come to the device, as these keys say it.
  package var hosting: PackerConfiguration.Hosting {
    guard hasManagedAssetPacks == true else { return .unmanaged }
    return usesAppleHosting == true ? .apple : .managed
  }
}
