import ArgumentParser

/// The options that name what a release is checked against, and how it is found.
struct GateInputs: ParsableArguments {
  @OptionGroup var configuration: ConfigurationOption

  @Option(help: ArgumentHelp("The app's Info.plist.", valueName: "file"), completion: .file())
  var plist: String?

  @Option(
    name: .customLong("extension"),
    help: ArgumentHelp("The extension's Info.plist, which must match the app's.", valueName: "file", visibility: .hidden),
    completion: .file(extensions: ["plist"]))
  var downloader: String?

  @Option(
    help: ArgumentHelp("The entitlements of app or extension, which must match too. Repeatable.", valueName: "file", visibility: .hidden),
    completion: .file(extensions: ["entitlements"]))
  var entitlements: [String] = []

  @Option(
    help: ArgumentHelp("The built app, with its Info.plist, extension and entitlements: .ipa, .xcarchive or .app.", valueName: "file"),
    completion: .file(extensions: ["ipa", "xcarchive", "app"]))
  var app: String?

  @Option(
    help: ArgumentHelp(
      "The platform of that app. (default: that of the Info.plist, or enough for all)", valueName: "platform", visibility: .hidden))
  var platform: String?

  @Option(
    name: .customLong("run"),
    help: ArgumentHelp("Also check what 'packer serve --record' recorded.", valueName: "file", visibility: .hidden),
    completion: .file())
  var runPath: String?

  @OptionGroup(visibility: .hidden) var lockFile: LockOption

  @OptionGroup(visibility: .hidden) var published: PublishedOption

  @OptionGroup(visibility: .hidden) var keyTexts: TrustedKeysOption

  /// Returns the verification of a release with these inputs.
  ///
  /// - Parameters:
  ///   - target: The release, or nil for the default output of `packer build`.
  ///   - verb: The verb, for hints.
  ///   - hasKey: Whether an option gives the key.
  /// - Throws: the error of an input, or ``PackError/Code/missingInput`` if there is no release.
  func verification(
    of target: String?, for verb: String, hasKey: Bool, in session: Session
  ) throws(PackError) -> ReleaseVerification {
    guard plist == nil || app == nil else {
      throw PackError(.usage, "--plist and --app exclude each other", hint: "give only --app, which has the Info.plist of the built app")
    }
    guard plist != nil || downloader == nil && entitlements.isEmpty else {
      throw PackError(.usage, "--extension and --entitlements are compared with an Info.plist", hint: "give it with --plist FILE")
    }
    if let path = plist, BuiltApp.isPath(path) {
      throw PackError(.usage, "\(path) is a built app, not an Info.plist", hint: "packer \(verb) --app \(ShellWord.path(path))")
    }
    let configuration = try configuration.read()
    // Before a key is read, but after the configuration, which names the release.
    try hinting(at: target, configuration, verb, hasKey: hasKey) { () throws(PackError) in
      try ReleasePlaces.checkPresence(of: target, configuration: configuration)
    }
    var verification = ReleaseVerification(
      target ?? ReleasePlaces.place(ReleaseFile.folder, beside: configuration), now: try ManifestTime.now())
    verification.configuration = configuration
    verification.lock = ReleasePlaces.lockFile(lockFile.lock, beside: configuration, of: verification.target)
    verification.plist = plist
    verification.downloader = try downloader.map { (path) throws(PackError) in try InfoPlist.read(path) }
    verification.entitlements = try entitlements.map { (path) throws(PackError) in try InfoPlist.read(path) }
    verification.app = try app.map { (path) throws(PackError) in try BuiltApp.read(path, isCancelled: { Task.isCancelled }) }
    verification.run = try runPath.map { (path) throws(PackError) in try LoadRun.read(path) }
    verification.platform = try platform.map(DeviceProfile.Platform.init(option:))
    verification.wording = { $0.hint }
    verification.trusted = try session.trustedKeys(keyTexts.trust, configuration)
    verification.published = try published(verification)
    return verification
  }

  /// Returns the manifest that is published now, which must be signed like the release.
  private func published(_ verification: ReleaseVerification) throws(PackError) -> PublishedManifest? {
    guard published.published != nil else { return nil }
    guard !verification.trusted.signingKeys.isEmpty else {
      throw PackError(
        .noKey, "no public key is known that may sign the published manifest", hint: "give --trust KEY as 'packer key public' prints it")
    }
    return try published.manifest(trusting: verification.trusted)
  }

  /// Returns which manifests at a place are those of the release's product.
  ///
  /// - Parameter directory: that of the release.
  func ownManifests(
    _ configuration: PackerConfiguration?, of directory: String, in session: Session
  ) throws(PackError) -> OwnManifests {
    let path = ReleasePlaces.lockFile(lockFile.lock, beside: configuration, of: directory)
    return OwnManifests(
      trusted: try session.trustedKeys(keyTexts.trust, configuration),
      lock: try path.map { (path) throws(PackError) in try ReleaseLock.read(path) } ?? ReleaseLock(),
      records: ReleasedPacks(of: configuration))
  }

  /// Returns the content key from the option, the environment or the configuration. Returns nil if there is none and none is needed.
  func contentKey(
    _ key: KeyOptions, isNeeded: Bool, for target: String?, _ configuration: PackerConfiguration?, _ verb: String, in session: Session
  ) throws(PackError) -> Shared<PackKey>? {
    try hinting(at: target, configuration, verb, hasKey: !key.references.isEmpty) { () throws(PackError) in
      do throws(PackError) {
        let resolved = Shared(try session.key(key, configured: configuration))
        // Packs of a release are opened as apps open them, and none is wrapped for others.
        try resolved.key.checkMakesPacks()
        return resolved
      } catch {
        guard !isNeeded, key.references.isEmpty, error.code == .noKey || error.code == .missingInput else { throw error }
        return nil
      }
    }
  }

  /// Runs `body`. If it needs a configuration that was not named, and there is one above the release, the error has a hint at that.
  private func hinting<Result: ~Copyable>(
    at target: String?, _ configuration: PackerConfiguration?, _ verb: String, hasKey: Bool, _ body: () throws(PackError) -> Result
  ) throws(PackError) -> Result {
    do throws(PackError) {
      return try body()
    } catch {
      guard configuration == nil, error.code == .noKey || error.code == .missingInput && target == nil, !hasKey,
        let path = ReleasePlaces.configuration(above: target ?? ".")
      else { throw error }
      throw error.advising(.developer("\(path) has the configuration: packer \(verb) -c \(ShellWord.path(path))"))
    }
  }

  /// The files that options name, apart from the configuration and the lock file.
  var named: [String] { [plist, downloader, app, runPath].compactMap(\.self) + entitlements }

  /// The files that are read, besides the release.
  func files(_ verification: ReleaseVerification) -> [String] {
    [verification.configuration?.path, verification.lock].compactMap(\.self) + named
  }
}
