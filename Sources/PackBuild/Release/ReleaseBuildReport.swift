package import PackManifest
package import PackProject

/// The result of a ``ReleaseBuild``.
package struct ReleaseBuildReport: Sendable {
  /// The result for one pack.
  package struct Item: Sendable {
    /// How the pack was made.
    package enum Action: String, Hashable, Sendable {
      /// It was packed, or in a trial run would be.
      case packed
      /// It is the file of the earlier build, because nothing changed since.
      case reused
      /// It is the file of the earlier build, because the caller left it out of the build. Its source was not read.
      case kept
    }

    /// The name it is published under.
    package let id: String
    /// The pack version.
    package let version: UInt64
    /// How the pack was made.
    package let action: Action
    /// Why it was packed, in a few words. Nil if it was not packed.
    package let reason: String?
    /// The sum of the sizes of its files in bytes.
    package let contentSize: UInt64
    /// The manifest's entry. Nil in a trial run.
    package let entry: ManifestPack?
    /// The paths in its source that are not in the pack. Empty if its source was not read.
    package let omitted: [OmittedPath]
  }

  /// A note or warning that does not stop the build.
  package struct Remark: Hashable, Sendable {
    /// Whether it is a warning, not only a note.
    package let isWarning: Bool
    /// The message, for people.
    package let message: String
    /// What to do about it, if anything.
    package let hint: String?

    static func note(_ message: String, hint: String? = nil) -> Remark { Remark(isWarning: false, message: message, hint: hint) }
    static func warning(_ message: String, hint: String? = nil) -> Remark { Remark(isWarning: true, message: message, hint: hint) }
  }

  /// The parts of a release besides its packs.
  package struct Release: Sendable {
    /// The manifest.
    package let manifest: Manifest
    /// The size of its document in bytes.
    package let manifestSize: UInt64
    /// The number of its pages, index pages included.
    package let pages: Int
    /// Whether it equals the manifest of the earlier build byte for byte.
    package let isManifestUnchanged: Bool
    /// The ids of the keys that it is signed with, ascending.
    package let signers: [String]
    /// The install budget for the app's Info.plist.
    package let budget: ReleaseBudget
    /// The size that the budget reserves for the manifest, in bytes.
    package let manifestCeiling: UInt64
  }

  /// The path of the release.
  package let output: String
  /// The packs, in ascending order of their ids.
  package let items: [Item]
  /// The release. Nil in a trial run.
  package let release: Release?
  /// Notes and warnings.
  package let remarks: [Remark]
}
