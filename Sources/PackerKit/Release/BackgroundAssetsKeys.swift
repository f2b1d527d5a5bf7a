public import PackManifest

/// What an Info.plist tells the system about background assets: its keys, typed.
///
/// A key whose value has the wrong type is nil here, and among ``problems``.
public struct BackgroundAssetsKeys: Hashable, Sendable {
  /// `BAManifestURL`.
  public var manifestURL: String?
  /// `BAInitialDownloadRestrictions.BADownloadAllowance`, in bytes.
  public var downloadAllowance: UInt64?
  /// `BAInitialDownloadRestrictions.BAEssentialDownloadAllowance`, in bytes.
  public var essentialDownloadAllowance: UInt64?
  /// `BAInitialDownloadRestrictions.BADownloadDomainAllowList`.
  public var allowList: AllowList?
  /// `BAMaxInstallSize`, in bytes.
  public var maxInstallSize: UInt64?
  /// `BAEssentialMaxInstallSize`, in bytes.
  public var essentialMaxInstallSize: UInt64?
  /// `BAHasManagedAssetPacks`.
  public var hasManagedAssetPacks: Bool?
  /// `BAUsesAppleHosting`.
  public var usesAppleHosting: Bool?
  /// `BAAppGroupID`: the app group of managed asset packs.
  public var appGroupID: String?
  /// `AppGroupIdentifier`: a key of our own, from which app and extension take their app group where assets are not managed.
  public var appGroupIdentifier: String?
  /// What is wrong with values, in the order of the keys.
  public var problems: [Problem]

  /// A value that the system does not take for what it is meant to be.
  public struct Problem: Hashable, Sendable {
    /// The key, with those above it: `BAInitialDownloadRestrictions.BADownloadAllowance`.
    public var key: String
    /// The value, for a person.
    public var value: String
    /// What is wrong with it: a sentence that names the key.
    public var message: String
    /// What to do about it.
    public var hint: String?
  }

  /// Makes the keys of a plist that has none.
  public init() {
    problems = []
  }

  /// The four numbers; nil where one of them is missing or of the wrong type.
  public var budget: InstallBudget? {
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
  public var hosting: PackerConfiguration.Hosting {
    guard hasManagedAssetPacks == true else { return .unmanaged }
    return usesAppleHosting == true ? .apple : .managed
  }
}
