/// Verifies a release before it is published: manifest, packs, budgets, Info.plist, and all app versions that are not retired.
///
/// It does not stop at the first fault, but reports all of them.
package struct ReleaseVerification: Sendable {
  /// The directory of the release, or its manifest.
  package var target: String
  /// The configuration that the release was built from; nil if it is not known.
  package var configuration: PackerConfiguration?
  /// The app's Info.plist.
  package var plist: String?
  /// The Info.plist of the downloader extension, to compare with the app's.
  package var downloader: InfoPlist?
  /// The entitlements of app and extension, to compare with the app's Info.plist.
  package var entitlements: [InfoPlist] = []
  /// The built app, whose Info.plist counts instead of ``plist``; nil if it is not known.
  package var app: BuiltApp?
  /// What browsers loaded of its packs; nil if that is not known.
  package var run: LoadRun?
  /// The web portals that get the games as plain files.
  package var portals: [Portal] = []
  /// The platform of the Info.plist; nil if it says so itself.
  package var platform: DeviceProfile.Platform?
  /// The lock file.
  package var lock: String?
  /// The manifest that devices have now; nil if it is not known.
  package var published: PublishedManifest?
  /// Whether the server is asked for the release.
  package var isLive = false
  /// The folder that is asked in place of the one that the manifest names; nil for that one.
  package var livePlace: LiveAddress?
  /// Where files that were read from the server are noted, so that a run that was stopped goes on; nil if they are not.
  package var liveState: String?
  /// Determines which parts of files are asked for.
  package var liveSeed: UInt64 = 0
  /// How long caches may still have an earlier manifest, in seconds.
  package var livePatience = 0
  /// The keys that the app trusts. If there are none, the keys of the app versions in the lock file are used.
  package var trusted = TrustedKeys([])
  /// Whether payloads are not read: only manifest, sizes, digests, headers, budgets, Info.plist and lock file are checked.
  package var isQuick = false
  /// Ids of the rules to check, or prefixes of ids. If empty, all rules are checked.
  package var only: [String] = []
  /// Ids of the rules that must be checked, or prefixes of ids. ``everyRule`` stands for all requested rules.
  package var required: [String] = []
  /// Ids of rules whose findings are accepted, in addition to those in the configuration.
  package var ignored: [String] = []
  /// The number of threads. If nil, the number of processors that are online.
  package var jobs: Int?
  /// The current time for the checks.
  package var now: ManifestTime

  package var files: any FileSystem = SystemFiles()
  /// Returns the advice that a finding gives about an error of the client; nil if there is none.
  package var wording: @Sendable (PackError) -> String? = { $0.advice?.description }

  /// The word that requires every rule.
  package static let everyRule = "all"

  /// Creates a verification of the release at `target`.
  package init(_ target: String, now: ManifestTime) {
    self.target = target
    self.now = now
  }
}
