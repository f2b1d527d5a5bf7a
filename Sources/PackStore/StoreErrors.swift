public import PackFormat

extension PackError.Code {
  /// Another process or task kept changing the store for longer than is waited.
  public static let storeBusy = Self(rawValue: "store-busy")
  /// The directory holds something, and is not a store.
  public static let notAStore = Self(rawValue: "not-a-store")
  /// A record of the store cannot be read.
  public static let damagedStore = Self(rawValue: "damaged-store")
  /// The token is of a trial that is not under way any more.
  public static let staleConfirmation = Self(rawValue: "stale-confirmation")
  /// The version on trial was not confirmed in time, or fell otherwise.
  public static let notConfirmed = Self(rawValue: "not-confirmed")
  /// The very bytes have failed on this device.
  public static let versionFailed = Self(rawValue: "version-failed")
  /// The pack or version is not installed.
  public static let notInstalled = Self(rawValue: "not-installed")
  /// The pack was installed, and was removed to free space.
  public static let purged = Self(rawValue: "purged")
  /// The store would take more than it may; the message says how many bytes more.
  public static let quotaExceeded = Self(rawValue: "quota-exceeded")
  /// Somebody has the pack open.
  public static let inUse = Self(rawValue: "in-use")
  /// The manifest names no such pack.
  public static let unknownPack = Self(rawValue: "unknown-pack")
  /// No manifest was accepted yet, or none that can be read is left.
  public static let noManifest = Self(rawValue: "no-manifest")
  /// The manifest has no pack with the tag.
  public static let unknownTag = Self(rawValue: "unknown-tag")
}
