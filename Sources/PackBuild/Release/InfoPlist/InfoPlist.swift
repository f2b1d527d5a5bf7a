/// An Info.plist, in XML or binary form.
package struct InfoPlist: Sendable {
  /// The path it was read from, as the caller gave it.
  package let path: String
  /// Its keys for Background Assets.
  package let keys: BackgroundAssetsKeys

  /// The whole property list, which is a dictionary.
  package let content: PropertyList
  let bytes: [UInt8]

  /// Reads a file.
  ///
  /// Values that Background Assets cannot use are not an error here. They are in the problems of ``keys``.
  ///
  /// - Throws: ``PackError/Code/malformedPlist`` if the file is not a property list with a dictionary at the top level.
  package static func read(_ path: String, files: any FileSystem = SystemFiles()) throws(PackError) -> InfoPlist {
    let file = try files.open(path, .read)
    let status = try reading(path, files.status(of: file))
    guard status.kind == .file else { throw PackError(.cannotRead, of: path, "is not a file") }
    guard status.size <= PropertyList.largestSize else {
      throw PackError(
        .malformedPlist, of: path, "is \(status.size) bytes, more than the \(PropertyList.largestSize) allowed for a property list")
    }
    var bytes = [UInt8](repeating: 0, count: Int(status.size))
    var buffer = bytes.mutableByteSpan
    let count = try files.read(file, at: 0, filling: &buffer, name: path)
    bytes.removeLast(bytes.count - count)
    return try InfoPlist(parsing: bytes, path: path)
  }

  /// Parses the bytes of a file.
  package init(parsing bytes: [UInt8], path: String) throws(PackError) {
    self.path = path
    self.bytes = bytes
    content = try PropertyList(parsing: bytes, path: path)
    guard content.members != nil else {
      throw PackError(.malformedPlist, of: path, "has \(content) at the top level, but an Info.plist must have a dictionary there")
    }
    keys = BackgroundAssetsKeys(content)
  }

  /// Returns the keys that an app's Info.plist must have for a release, as ``fragment(for:budget:)`` writes them.
  ///
  /// - Throws: ``PackError/Code/malformedURL`` if the configuration was not checked, ``PackError/Code/invalidConfiguration`` if managed asset packs
  ///   have no app group or no manifest URL of their own.
  package static func wanted(
    for configuration: PackerConfiguration, budget: InstallBudget
  ) throws(PackError) -> BackgroundAssetsKeys {
    var keys = BackgroundAssetsKeys()
    if configuration.hosting == .unmanaged {
      keys.appGroupIdentifier = configuration.app.group
    } else {
      guard let group = configuration.app.group else {
        throw PackError(
          .invalidConfiguration, "\(configuration.path): app names no group, but an app with managed asset packs crashes without one",
          hint: "add the app group, as in app: {group: group.com.example.arcade}")
      }
      keys.appGroupID = group
      keys.hasManagedAssetPacks = true
    }
    guard configuration.hosting != .apple else {
      keys.usesAppleHosting = true
      return keys
    }
    // If it is not set, it is the URL of packer's manifest, which the app reads but the system does not.
    guard configuration.hosting != .managed || configuration.serve.manifestURL != configuration.serve.baseURL + ReleaseFile.manifest else {
      throw PackError(
        .invalidConfiguration,
        "\(configuration.path): serve needs a 'manifestURL' of its own: for managed asset packs, the system does not read packer's manifest",
        hint: """
          set it to the URL of the download manifest that Apple's ba-package makes, as in serve: {manifestURL: "\(configuration.serve.baseURL)assets.json"}
          """)
    }
    keys.budget = budget
    keys.manifestURL = configuration.serve.manifestURL
    let urls = [try ServedURL(configuration.serve.baseURL), try ServedURL(configuration.serve.manifestURL)]
    keys.allowList = AllowList(covering: urls, wished: configuration.serve.hosts)
    return keys
  }

  /// Returns the keys that an app's Info.plist must have for a release that was built.
  ///
  /// - Parameters:
  ///   - dist: the directory that `packer build` made. Its fragment is read.
  ///   - configuration: the current configuration. If given, everything except the sizes comes from it.
  ///   - platform: the platform of the app. If nil, or if all platforms have the same packs, the sizes are enough for any.
  package static func wanted(
    dist: String, configuration: PackerConfiguration?, platform: DeviceProfile.Platform? = nil
  ) throws(PackError) -> BackgroundAssetsKeys {
    if let configuration, configuration.hosting == .apple {
      let none = InstallBudget(essentialDownloadAllowance: 0, downloadAllowance: 0, essentialMaxInstallSize: 0, maxInstallSize: 0)
      return try wanted(for: configuration, budget: none)
    }
    let path = fragment(in: dist, for: platform)
    let build = "packer build, or name the directory it wrote with --dist"
    let fragment: InfoPlist
    do throws(PackError) {
      fragment = try read(path)
    } catch {
      throw error.code == .missingInput ? error.advising(.developer(build)) : error
    }
    if let problem = fragment.keys.problems.first {
      throw PackError(.malformedPlist, problem.message, hint: build).about(path)
    }
    guard let configuration else { return fragment.keys }
    guard let budget = fragment.keys.budget else {
      throw PackError(.malformedPlist, of: path, "has no sizes, but \(configuration.path) needs them", hint: build)
    }
    return try wanted(for: configuration, budget: budget)
  }

  /// Returns the path of the fragment in a release: that of a platform if there is one, otherwise that of all.
  package static func fragment(in dist: String, for platform: DeviceProfile.Platform?) -> String {
    let folder = dist.hasSuffix("/") ? dist : "\(dist)/"
    if let own = platform.map({ folder + ReleaseFile.infoFragment(for: $0) }), ReleasePlaces.exists(own) { return own }
    return folder + ReleaseFile.infoFragment
  }

  /// Returns an XML property list with only the keys of a release. The same values give the same bytes.
  package static func fragment(for configuration: PackerConfiguration, budget: InstallBudget) throws(PackError) -> [UInt8] {
    try fragment(of: try wanted(for: configuration, budget: budget))
  }

  /// Returns an XML property list with only these keys.
  package static func fragment(of keys: BackgroundAssetsKeys) throws(PackError) -> [UInt8] {
    try keys.propertyList.bytes(as: .xml)
  }
}
