import ArgumentParser
import PackBuild
import PackFormat
import PackProject

/// The commands about an app's Info.plist.
struct Plist: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plist",
    abstract: "Prints, checks and writes the Info.plist keys that a release needs.",
    discussion: """
      The system and the App Store read the sizes of a release from the app's Info.plist, and stop a download that is larger. \
      'packer build' computes the numbers; these commands write them into the plist.

      Examples:
        packer plist print
        packer plist check App/Info.plist
        packer plist merge App/Info.plist
      """,
    subcommands: [PlistPrint.self, PlistCheck.self, PlistMergeVerb.self])
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

  func configuration() throws(PackError) -> PackerConfiguration? {
    guard let configurationPath else { return nil }
    return try PackerConfiguration.read(configurationPath)
  }

  func wanted(_ configuration: PackerConfiguration?) throws(PackError) -> BackgroundAssetsKeys {
    let beside = configuration.map { $0.directory == "." ? "dist" : "\($0.directory)/dist" }
    return try InfoPlist.wanted(dist: dist ?? beside ?? "dist", configuration: configuration)
  }
}

/// A record of the Info.plist keys of a release.
struct KeysRecord: Encodable {
  let type = "plist"
  let hosting: String
  let manifestURL: String?
  let essentialDownloadAllowance: UInt64?
  let downloadAllowance: UInt64?
  let essentialMaxInstallSize: UInt64?
  let maxInstallSize: UInt64?
  let hosts: [String]?
  let group: String?

  init(_ keys: BackgroundAssetsKeys) {
    hosting = keys.hosting.rawValue
    manifestURL = keys.manifestURL
    essentialDownloadAllowance = keys.essentialDownloadAllowance
    downloadAllowance = keys.downloadAllowance
    essentialMaxInstallSize = keys.essentialMaxInstallSize
    maxInstallSize = keys.maxInstallSize
    hosts = keys.allowList?.entries
    group = keys.appGroupID ?? keys.appGroupIdentifier
  }
}
