package import PackBuild
package import PackDelivery
package import PackFormat
import PackManifest
package import PackProject

/// What the system takes from the Info.plist of the app that is installed. It holds until the app was started for the first time.
package struct SystemRules: Sendable {
  /// Where it was read, for a person.
  package let source: String
  /// What may be downloaded.
  package let allowance: Allowance
  /// From where it may be downloaded.
  package let hosts: AllowList
  /// Where the system fetches the manifest.
  package let manifestURL: ServedURL

  /// Takes the rules from a plist. As on a device, a number that is missing is 0, and a list that is missing allows no host.
  ///
  /// - Throws: ``PackFormat/PackError/Code/malformedPlist`` where the system would never start a downloader extension, or another one than ours.
  package init(_ plist: InfoPlist) throws(PackError) {
    let keys = plist.keys
    guard keys.hosting == .unmanaged else {
      throw PackError(
        .malformedPlist, of: plist.path, "has BAHasManagedAssetPacks, and managed asset packs are downloaded by the system's own extension",
        hint: "give the Info.plist of an app with its own downloader extension")
    }
    try self.init(
      source: plist.path,
      allowance: Allowance(essential: keys.essentialDownloadAllowance ?? 0, other: keys.downloadAllowance ?? 0),
      hosts: keys.allowList ?? AllowList([]), manifestURL: keys.manifestURL, hint: "packer plist merge \(plist.path)")
  }

  /// Takes the rules from an app version of the lock file.
  ///
  /// - Parameter lock: the file, for messages.
  package init(_ app: ReleaseLock.App, of lock: String) throws(PackError) {
    guard let budget = app.budget else {
      throw PackError(
        .invalidRecord, "app \(app.version) has no budget, because Apple serves its packs",
        hint: "choose an app version with its own downloader extension"
      ).about(lock)
    }
    try self.init(
      source: "app \(app.version) of \(lock)",
      allowance: Allowance(essential: budget.essentialDownloadAllowance, other: budget.downloadAllowance),
      hosts: AllowList(app.hosts ?? []), manifestURL: app.manifestURL, hint: nil)
  }

  private init(source: String, allowance: Allowance, hosts: AllowList, manifestURL: String?, hint: String?) throws(PackError) {
    guard let manifestURL else {
      throw PackError(.malformedPlist, of: source, "has no BAManifestURL, so no downloader extension is ever started", hint: hint)
    }
    self.source = source
    self.allowance = allowance
    self.hosts = hosts
    self.manifestURL = try ServedURL(manifestURL)
  }
}
