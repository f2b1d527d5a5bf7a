package import PackFiles
package import PackFormat
package import PackManifest
package import PackProject

/// An Info.plist, in XML or binary form.
package struct InfoPlist: Sendable {
  /// The path it came from, as the caller gave it.
  package let path: String
  /// What it says of background assets.
  package let keys: BackgroundAssetsKeys

  /// All of it: a dictionary.
  package let content: PropertyList
  let bytes: [UInt8]

  /// Reads a file.
  ///
  /// - Throws: ``PackError/Code/malformedPlist`` where it is no property list with a dictionary outside; values that background assets
  ///   cannot use are no error, but among the problems of ``keys``.
  package static func read(_ path: String) throws(PackError) -> InfoPlist {
    try read(path, files: SystemFiles())
  }

  package static func read(_ path: String, files: any FileSystem) throws(PackError) -> InfoPlist {
    let file: OpenFile
    let status: FileStatus
    do throws(FileFailure) {
      file = try files.open(path, .read, in: nil)
      status = try files.status(of: file)
    } catch {
      throw error.reading(path)
    }
    guard status.kind == .file else { throw PackError(.cannotRead, of: path, "is not a file") }
    guard status.size <= PropertyList.largestSize else {
      throw PackError(
        .malformedPlist, of: path, "has \(status.size) bytes, and \(PropertyList.largestSize) are the most of a property list")
    }
    var bytes = [UInt8](repeating: 0, count: Int(status.size))
    var buffer = bytes.mutableSpan
    let count = try files.read(file, at: 0, filling: &buffer, name: path)
    bytes.removeLast(bytes.count - count)
    return try InfoPlist(parsing: bytes, path: path)
  }

  /// Takes the bytes of a file.
  package init(parsing bytes: [UInt8], path: String) throws(PackError) {
    self.path = path
    self.bytes = bytes
    content = try PropertyList(parsing: bytes, path: path)
    guard content.members != nil else {
      throw PackError(.malformedPlist, of: path, "holds \(content) outside, and an Info.plist holds a dictionary")
    }
    keys = BackgroundAssetsKeys(content)
  }

  /// The keys that an app's Info.plist must have for a release: what ``fragment(for:budget:)`` writes.
  ///
  /// - Throws: ``PackError/Code/malformedURL`` where the configuration was not checked, ``PackError/Code/invalidConfiguration`` where managed
  ///   asset packs have no app group.
  package static func wanted(
    for configuration: PackerConfiguration, budget: InstallBudget
  ) throws(PackError) -> BackgroundAssetsKeys {
    var keys = BackgroundAssetsKeys()
    if configuration.hosting == .unmanaged {
      keys.appGroupIdentifier = configuration.app.group
    } else {
      guard let group = configuration.app.group else {
        throw PackError(
          .invalidConfiguration, "\(configuration.path): app names no group, and an app with managed asset packs ends at once without one",
          hint: "add the app group, as in app: {group: group.com.example.arcade}")
      }
      keys.appGroupID = group
      keys.hasManagedAssetPacks = true
    }
    guard configuration.hosting != .apple else {
      keys.usesAppleHosting = true
      return keys
    }
    // Where it is not set it is packer's own, which the app reads and the system does not know.
    guard configuration.hosting != .managed || configuration.serve.manifestURL != configuration.serve.baseURL + ReleaseFile.manifest else {
      throw PackError(
        .invalidConfiguration,
        "\(configuration.path): serve has no 'manifestURL' of its own, and the system does not read packer's manifest for managed asset packs",
        hint: """
          name where the download manifest will be that Apple's ba-package makes, as in serve: {manifestURL: "\(configuration.serve.baseURL)assets.json"}
          """)
    }
    keys.budget = budget
    keys.manifestURL = configuration.serve.manifestURL
    let urls = [try ServedURL(configuration.serve.baseURL), try ServedURL(configuration.serve.manifestURL)]
    keys.allowList = AllowList(covering: urls, wished: configuration.serve.hosts)
    return keys
  }

  /// The keys that an app's Info.plist must have for a release that was built.
  ///
  /// - Parameters:
  ///   - dist: the directory that `packer build` made; its fragment is read.
  ///   - configuration: where it is given, everything but the sizes comes from it, as it is now.
  package static func wanted(dist: String, configuration: PackerConfiguration?) throws(PackError) -> BackgroundAssetsKeys {
    if let configuration, configuration.hosting == .apple {
      let none = InstallBudget(essentialDownloadAllowance: 0, downloadAllowance: 0, essentialMaxInstallSize: 0, maxInstallSize: 0)
      return try wanted(for: configuration, budget: none)
    }
    let path = dist.hasSuffix("/") ? dist + ReleaseFile.infoFragment : "\(dist)/\(ReleaseFile.infoFragment)"
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
      throw PackError(.malformedPlist, of: path, "has no sizes, and \(configuration.path) asks for them", hint: build)
    }
    return try wanted(for: configuration, budget: budget)
  }

  /// An XML property list with the keys of a release and nothing else, the same bytes for the same values.
  package static func fragment(for configuration: PackerConfiguration, budget: InstallBudget) throws(PackError) -> [UInt8] {
    try fragment(of: try wanted(for: configuration, budget: budget))
  }

  /// An XML property list with these keys and nothing else.
  package static func fragment(of keys: BackgroundAssetsKeys) throws(PackError) -> [UInt8] {
    try keys.propertyList.bytes(as: .xml)
  }
}
