import Foundation
import PackagePlugin

/// `swift package pack-assets`: runs `packer` in the directory of the package. Without arguments, that is `packer build`. Options that SwiftPM has, too, come
/// after `--`, as in `swift package pack-assets -- build -c game/packer.yml`.
@main
struct PackAssets: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) throws {
    let process = Process()
    process.executableURL = try context.tool(named: "packer").url
    let words = Array(arguments.first == "--" ? arguments.dropFirst() : arguments[...])
    process.arguments = words.isEmpty ? ["build"] : words
    process.currentDirectoryURL = context.package.directoryURL
    try process.run()
    process.waitUntilExit()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      // The statuses of packer have meanings, but SwiftPM ends with 1 after any other than 0.
      Diagnostics.error("packer ended with status \(process.terminationStatus)")
      return
    }
  }
}
