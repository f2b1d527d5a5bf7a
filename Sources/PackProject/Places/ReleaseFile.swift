/// The names of the files and directories of a release, other than packs.
package enum ReleaseFile {
  /// The directory of a release, next to `packer.yml`.
  package static let folder = "dist"
  /// The lock file, next to `packer.yml`.
  package static let lock = "packer.lock.json"
  /// The directory of the recorded app versions, next to the lock file. Each version has a file of its own, so that branches that record different
  /// versions merge.
  package static let apps = "packer.apps"
  /// The directory with the packs of recorded releases, next to `packer.yml`, unless the configuration names another.
  package static let released = "released"
  /// The signed manifest.
  package static let manifest = "manifest.json"
  /// The list of packs for apps with their own parser.
  package static let packages = "packages.json"
  /// The keys for the app's Info.plist.
  package static let infoFragment = "Info.fragment.plist"
  /// The keys for the Info.plist of an app for one platform, if the packs of the platforms differ.
  package static func infoFragment(for platform: DeviceProfile.Platform) -> String { "Info.fragment.\(platform.rawValue).plist" }
  /// The install budget for a terminal.
  package static let budgetText = "budget.txt"
  /// The install budget for a pull request.
  package static let budgetMarkdown = "budget.md"
  /// The install budget for programs.
  package static let budgetJSON = "budget.json"
  /// The directory in which Apple's `ba-package` is run.
  package static let baPackages = "ba-package"
}
