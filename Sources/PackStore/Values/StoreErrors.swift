extension PackError.Code {
  /// Another process or task held the store's lock for longer than ``StorePolicy/lockTimeout``.
  public static let storeBusy = Self(rawValue: "store-busy")
  /// The directory is not empty and is not a store.
  public static let notAStore = Self(rawValue: "not-a-store")
  /// The token belongs to a trial that has ended.
  public static let staleConfirmation = Self(rawValue: "stale-confirmation")
  /// The version on trial was not confirmed in time, or failed for another reason.
  public static let notConfirmed = Self(rawValue: "not-confirmed")
  /// A pack with exactly these bytes has failed on this device.
  public static let versionFailed = Self(rawValue: "version-failed")
  /// The pack or version is not installed.
  public static let notInstalled = Self(rawValue: "not-installed")
  /// The pack was installed, but was removed from the device, for example to free space.
  public static let purged = Self(rawValue: "purged")
  /// The store would exceed its quota. The message contains the number of missing bytes.
  public static let quotaExceeded = Self(rawValue: "quota-exceeded")
  /// The pack is open, or another process has it on trial.
  public static let inUse = Self(rawValue: "in-use")
  /// The manifest has no pack with this name.
  public static let unknownPack = Self(rawValue: "unknown-pack")
  /// The shard of the catalogue that may list the pack, or one that may list a pack with the tag, is not on the device.
  public static let catalogueNotAvailable = Self(rawValue: "catalogue-not-available")
  /// No manifest was accepted yet, or the accepted one cannot be used any more.
  public static let noManifest = Self(rawValue: "no-manifest")
  /// No pack in the manifest has the tag.
  public static let unknownTag = Self(rawValue: "unknown-tag")
}

extension PackError {
  /// The error for a pack or tag that may be in shards that are not at hand.
  package static func missing(_ shards: [Int], of manifest: Manifest, for subject: String) -> PackError {
    let names = shards.map { manifest.catalogue[$0].fileName }
    let named = names.prefix(3).joined(separator: ", ") + (names.count > 3 ? " and \(names.count - 3) more" : "")
    return PackError(
      .catalogueNotAvailable, of: subject, "may be in a part of the catalogue that is not here: \(named)", advice: .fetchShards(names))
  }
}
