package import PackCrypto
package import PackFiles
package import PackFormat
package import PackManifest
package import PackProject

/// Looks at a release before it goes out: manifest, packs, budgets, Info.plist, and every app version that is still in players' hands.
///
/// It never stops at the first fault: everything that can be seen is told.
package struct ReleaseVerification: Sendable {
  /// The directory of the release, or its manifest.
  package var target: String
  /// What the release was built from, where it is known.
  package var configuration: PackerConfiguration?
  /// The app's Info.plist.
  package var plist: String?
  /// The lock file.
  package var lock: String?
  /// The public keys that the app trusts. Where there are none, those of the app versions in the lock file count.
  package var trusted: [SigningPublicKey] = []
  /// Whether payloads are left alone: manifest, sizes, digests, headers, budgets, plist and lock only.
  package var isQuick = false
  /// Ids of the rules to check, or the first characters of several; all where it is empty.
  package var only: [String] = []
  /// Ids of rules whose findings are accepted, besides those that the configuration names.
  package var ignored: [String] = []
  /// The number of threads; the processors that are online where it is nil.
  package var jobs: Int?
  /// The time that counts as now.
  package var now: ManifestTime

  package var files: any FileSystem = SystemFiles()
  /// What a finding says that can be done about an error of the client; nil if nothing can.
  package var wording: @Sendable (PackError) -> String? = { $0.advice?.description }

  /// Makes a verification of all that is at `target`.
  package init(_ target: String, now: ManifestTime) {
    self.target = target
    self.now = now
  }
}
