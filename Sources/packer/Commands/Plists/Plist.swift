import ArgumentParser

/// The commands about an app's Info.plist.
struct Plist: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plist",
    abstract: "Prints and writes the Info.plist keys that a release needs.",
    discussion: """
      The system and the App Store read the sizes of a release from the app's Info.plist, and stop a download that is larger. \
      'packer build' computes the numbers; these commands write them into the plist, and 'packer verify --plist' checks it.

      Examples:
        packer plist print
        packer plist merge App/Info.plist
      """,
    shouldDisplay: HelpText.isWhole,
    subcommands: [PlistPrint.self, PlistMergeVerb.self])
}

/// The options that name the release whose keys are meant.
struct ReleaseKeysOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The directory that 'packer build' made. (default: dist beside the configuration)", valueName: "dir"),
    completion: .directory)
  var dist: String?

  @Option(
    name: [.customShort("c"), .customLong("config")],
    help: ArgumentHelp("Take everything except the sizes from this configuration.", valueName: "file"), completion: .file())
  var configurationPath: String?

  @Option(
    help: ArgumentHelp(
      "The platform of the app: iOS, macOS, tvOS or visionOS. (default: that of the Info.plist, or enough for all)", valueName: "platform"),
    completion: .list(DeviceProfile.Platform.allCases.map(\.rawValue)))
  var platform: String?

  func configuration() throws(PackError) -> PackerConfiguration? {
    guard let configurationPath else { return nil }
    return try PackerConfiguration.read(configurationPath, sources: .optional)
  }

  /// - Parameter plist: the app's Info.plist, which may say for which platform it is.
  func wanted(_ configuration: PackerConfiguration?, for plist: InfoPlist? = nil) throws(PackError) -> BackgroundAssetsKeys {
    let named = try platform.map(DeviceProfile.Platform.init(option:))
    let beside = configuration.map { $0.directory == "." ? "dist" : "\($0.directory)/dist" }
    return try InfoPlist.wanted(dist: dist ?? beside ?? "dist", configuration: configuration, platform: named ?? plist?.platform)
  }
}
