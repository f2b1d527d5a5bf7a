/// A project for Xcode with an app and its downloader extension, made for one release.
///
/// It consists of XcodeGen's `project.yml`, property lists, entitlements and Swift code. The same values give the same bytes.
package struct AppProject: Sendable {
  /// Where the project finds the package with `PackApp`.
  package enum Package: Hashable, Sendable {
    /// A directory with a Package.swift, relative to the project.
    case directory(String)
    /// A repository, and the lowest version to use.
    case repository(url: String, version: String)
  }

  /// A file of the project.
  package struct File: Hashable, Sendable {
    /// The path in the project.
    package let path: String
    package let bytes: [UInt8]

    init(_ path: String, _ bytes: [UInt8]) {
      self.path = path
      self.bytes = bytes
    }

    init(_ path: String, _ text: String) {
      self.init(path, Array(text.utf8))
    }
  }

  /// The directory of the project, as the caller named it.
  package let directory: String
  /// The files, in the order of their paths.
  package let files: [File]
  /// The command that makes the Xcode project, in the directory of the project.
  package let command: String
  /// Whether ``command`` gives the key of the packs to the project: whether the configuration names a file that has it.
  package let hasKeyFile: Bool
  /// The packs with an `index.html` that the app cannot show, because a web view gets only packs that stay encrypted.
  package let unplayable: [String]

  /// Makes the files.
  ///
  /// - Parameters:
  ///   - directory: the directory of the project. Its parent must exist.
  ///   - dist: the release. Its sizes are written into the app's Info.plist, and debug builds contain it.
  ///   - package: a directory with the package, or the `https` address of its repository.
  ///   - version: the lowest version of the package, if it is a repository.
  ///   - trusted: the public keys that may sign the manifest, as texts. Not needed for managed asset packs.
  /// - Throws: ``PackError/Code/invalidConfiguration`` if the configuration lacks a value, or the release was made with other values;
  ///   ``PackError/Code/missingInput`` if there is no release or no package; ``PackError/Code/malformedURL``; ``PackError/Code/usage`` if a path has
  ///   characters that XcodeGen or Xcode would replace.
  package init(
    _ directory: String, for configuration: PackerConfiguration, dist: String, package: String, version: String, trusting trusted: [String],
    files system: any FileSystem = SystemFiles()
  ) throws(PackError) {
    self.directory = directory
    let app = try Self.app(configuration)
    let base = try Self.canonicalPlace(of: directory, files: system)
    try ReleasePlaces.checkPresence(of: dist, configuration: configuration)
    let keys = try Self.keys(of: dist, configuration)
    func relative(_ path: String) throws(PackError) -> String {
      RelativePath.text(to: try reading(path, system.canonicalPath(of: path)), from: base)
    }
    let place: Package
    if package.hasPrefix("https://") {
      try Self.checkRepository(package)
      place = .repository(url: package, version: version)
    } else {
      guard (try? system.status(of: "\(package)/Package.swift", in: nil, following: .followed))?.kind == .file else {
        throw PackError(
          .missingInput, of: package, "has no Package.swift",
          hint: "name the folder of the packer package with --package, or the https address of its repository")
      }
      place = .directory(try Self.checked(try relative(package)))
    }
    let release = try configuration.hosting == .unmanaged ? Self.checkedRelease(relative(dist)) : Self.checked(relative(dist))
    // A file that does not exist yet has no path from here.
    let keyFile = configuration.key.flatMap { (try? KeyReference(parsing: $0))?.file }.flatMap { try? relative($0) }
    let values = AppValues(
      name: AppValues.name(ofBundle: app.bundleID), bundleID: app.bundleID, hosting: configuration.hosting, package: place,
      release: release, trusted: trusted,
      keyFile: keyFile.map { ShellWord.path($0) }, hasRootKey: configuration.perPackKeys)
    command = values.command
    hasKeyFile = keyFile != nil
    // The system delivers all asset packs encrypted.
    unplayable = configuration.packs.filter { pack in
      configuration.hosting == .unmanaged && pack.install == .unpacked
        && (try? system.status(of: "\(pack.root)/index.html", in: nil, following: .followed))?.kind == .file
    }.map(\.id.text)
    let empty = try PropertyList.dictionary([]).bytes(as: .xml)
    let plist = try InfoPlist(parsing: empty, path: "Info.plist").merging(keys, conflicts: .refuse)
    let entitlements = try AppPart.entitlements.bytes(for: keys)
    var all = [
      File("project.yml", values.spec),
      File(".gitignore", "# Made by 'xcodegen', and may contain the key for debug builds.\n*.xcodeproj/\n"),
      File("App/Info.plist", plist.bytes),
      File("App/App.entitlements", entitlements),
      File("Downloader/Info.plist", try AppPart.extension.bytes(for: keys)),
      File("Downloader/Downloader.entitlements", entitlements),
    ]
    all += values.code.map { File($0.path, $0.text) }
    files = all.sorted { $0.path < $1.path }
  }

  /// Writes the files. The directory must be new or empty; it appears whole or not at all.
  package func write(files system: any FileSystem = SystemFiles()) throws(PackError) {
    let output = try OutputDirectory(directory, files: system)
    for folder in Set(files.compactMap { PathParts($0.path)?.directory }).subtracting(["."]).sorted() {
      try output.makeDirectory(folder)
    }
    for file in files { try output.write(file.bytes, to: file.path) }
    try output.commit()
  }

  /// Returns the keys for the Info.plist. The release must have been made with the same values.
  private static func keys(of dist: String, _ configuration: PackerConfiguration) throws(PackError) -> BackgroundAssetsKeys {
    let built = try InfoPlist.wanted(dist: dist, configuration: nil)
    let current = built.hosting == configuration.hosting ? try InfoPlist.wanted(dist: dist, configuration: configuration) : nil
    guard let current, current == built else {
      let what =
        current == nil
        ? "'hosting: \(built.hosting.rawValue)', but \(configuration.path) says '\(configuration.hosting.rawValue)'"
        : "another app group or other addresses than \(configuration.path) has now"
      throw PackError(.invalidConfiguration, of: dist, "was built with \(what)", hint: "packer build")
    }
    return current
  }

  /// Refuses what cannot be the address of a repository, and credentials, which would be in the project.
  private static func checkRepository(_ address: String) throws(PackError) {
    guard !address.dropFirst("https://".count).prefix(while: { !"/?#".contains($0) }).contains("@") else {
      throw PackError(
        .malformedURL, "the address of --package contains a user name or a password, which would be in project.yml",
        hint: "remove the part before the @; Xcode and Git ask for credentials, or have them in the keychain")
    }
    let url = try ServedURL(address)
    let path = address.dropFirst("https://".count).drop { $0 != "/" }
    guard !url.hasQuery, !path.contains("$"), path.contains(where: { $0 != "/" }) else {
      throw PackError(
        .malformedURL, of: "the URL '\(address)'", "is not the address of a repository", hint: "as in --package https://example.com/packer")
    }
  }

  /// Returns a path for project.yml. XcodeGen replaces `${NAME}` in it, and Xcode `$(NAME)`.
  private static func checked(_ path: String) throws(PackError) -> String {
    guard !path.contains("$") else {
      throw PackError(
        .usage, "'\(printable(path.utf8))' contains '$', which XcodeGen and Xcode take for a variable", hint: "move it to another path")
    }
    return path
  }

  /// Returns the path of the release for project.yml. The name of its folder is a pattern in a build setting, too, which Xcode splits at spaces.
  private static func checkedRelease(_ path: String) throws(PackError) -> String {
    let name = PathParts(path)?.name ?? ""
    guard !name.isEmpty, name != "..", name.utf8.allSatisfy({ isPlain($0) }) else {
      throw PackError(
        .usage, "the folder of the release is '\(printable(name.utf8))', which a build setting of Xcode cannot name",
        hint: "rename it, with only A-Z a-z 0-9 - _ . in its name, and give it with --dist")
    }
    return try checked(path)
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: "-_.".utf8.contains(byte)
    }
  }

  private static func app(_ configuration: PackerConfiguration) throws(PackError) -> (bundleID: String, group: String) {
    func missing(_ key: String, _ purpose: String, _ example: String) -> PackError {
      PackError(
        .invalidConfiguration, "\(configuration.path): app has no \(key), and \(purpose)",
        hint: "set it in \(configuration.path), as in 'app: {\(key): \(example)}', and build again")
    }
    guard let bundleID = configuration.app.bundleID else {
      throw missing("bundleID", "the app and its extension are named after it", "com.example.arcade")
    }
    guard let group = configuration.app.group else {
      throw missing("group", "app and extension need one to share the packs", "group.\(bundleID)")
    }
    return (bundleID, group)
  }

  /// Returns the absolute path that the directory will have.
  private static func canonicalPlace(of directory: String, files: any FileSystem) throws(PackError) -> String {
    guard let parts = PathParts(directory) else {
      throw PackError(.usage, "'\(directory)' is not the name of a new directory", hint: "name a directory to make, such as 'ios'")
    }
    guard let place = try writing(directory, ifPresent(files.canonicalPath(of: parts.directory))) else {
      throw PackError(.cannotWrite, of: directory, "cannot be written: the directory \(parts.directory) does not exist")
    }
    return "\(place)/\(parts.name)"
  }
}
