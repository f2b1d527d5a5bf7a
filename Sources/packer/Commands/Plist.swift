import ArgumentParser
import PackBuild
import PackFormat
import PackProject

/// The commands about an app's Info.plist.
struct Plist: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plist",
    abstract: "Shows, checks and writes what an app's Info.plist must say about a release.",
    discussion: """
      The system and the store take the sizes of a release from the app's Info.plist, and stop a download that is larger. \
      'packer build' works the numbers out; these commands bring them into the plist.

      Examples:
        packer plist print
        packer plist check App/Info.plist
        packer plist merge App/Info.plist
      """,
    subcommands: [PlistPrint.self, PlistCheck.self, PlistMergeVerb.self])
}

/// Which release the keys are of.
struct ReleaseKeysOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The directory that 'packer build' made. (default: dist, beside the configuration)", valueName: "dir"),
    completion: .directory)
  var dist: String?

  @Option(
    name: [.customShort("c"), .customLong("config")],
    help: ArgumentHelp("Take all but the sizes from this configuration, as it is now.", valueName: "file"), completion: .file())
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

/// The keys of a release.
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
