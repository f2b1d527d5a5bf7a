/// The rules that the system reads from the Info.plist of the installed app. They apply until the first start of the app.
package struct SystemRules: Sendable {
  /// The source of the rules, for a person.
  package let source: String
  /// The number of bytes that may be downloaded.
  package let allowance: Allowance
  /// The hosts from which packs and manifest may be downloaded.
  package let hosts: AllowList
  /// The URL from which the system fetches the manifest.
  package let manifestURL: ServedURL

  /// Reads the rules from an Info.plist. As on a device, a missing number is 0, and a missing list allows no host.
  ///
  /// - Throws: ``PackFormat/PackError/Code/malformedPlist`` if the system would never start a downloader extension, or would start its own one.
  package init(_ plist: InfoPlist) throws(PackError) {
    let keys = plist.keys
    guard keys.hosting == .unmanaged else {
      throw PackError(
        .malformedPlist, of: plist.path, "has BAHasManagedAssetPacks, but managed asset packs are downloaded by the system's own extension",
        hint: "give the Info.plist of an app with its own downloader extension")
    }
    try self.init(
      source: plist.path,
      allowance: Allowance(essential: keys.essentialDownloadAllowance ?? 0, other: keys.downloadAllowance ?? 0),
      hosts: keys.allowList ?? AllowList([]), manifestURL: keys.manifestURL, hint: "packer plist merge \(plist.path)")
  }

  /// Reads the rules from an app version of the lock file.
  ///
  /// - Parameter lock: the path of the lock file, for messages.
  package init(_ app: ReleaseLock.App, of lock: String) throws(PackError) {
    guard let budget = app.budget else {
      throw PackError(
        .invalidRecord, "app \(app.title) has no budget, because Apple serves its packs",
        hint: "choose an app version with its own downloader extension"
      ).about(lock)
    }
    try self.init(
      source: "app \(app.title) of \(lock)",
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
