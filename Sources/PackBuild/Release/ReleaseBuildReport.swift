package import PackManifest
package import PackProject

/// What a ``ReleaseBuild`` did.
package struct ReleaseBuildReport: Sendable {
  /// What became of one pack.
  package struct Item: Sendable {
    /// What was done.
    package enum Action: String, Hashable, Sendable {
      /// It was packed; in a trial run, it would be.
      case packed
      /// Nothing changed since the earlier build, whose file it is.
      case reused
      /// Nobody looked at its source: it is the file of the earlier build because the caller wanted so.
      case kept
    }

    /// The name it is published under.
    package let id: String
    /// The pack version.
    package let version: UInt64
    /// What was done.
    package let action: Action
    /// Why it was packed, in a few words; nil where it was not.
    package let reason: String?
    /// The sum of the sizes of its files in bytes.
    package let contentSize: UInt64
    /// The manifest's entry; nil in a trial run.
    package let entry: ManifestPack?
    /// What is in its source and not in the pack; nothing if its source was not looked at.
    package let omitted: [OmittedPath]
  }

  /// Something that does not stop the work.
  package struct Remark: Hashable, Sendable {
    /// Whether it asks for attention.
    package let isWarning: Bool
    /// What is the matter, for a person.
    package let message: String
    /// What to do about it, where there is something.
    package let hint: String?

    static func note(_ message: String, hint: String? = nil) -> Remark { Remark(isWarning: false, message: message, hint: hint) }
    static func warning(_ message: String, hint: String? = nil) -> Remark { Remark(isWarning: true, message: message, hint: hint) }
  }

  /// What a build that is no trial run made besides packs.
  package struct Release: Sendable {
    /// The manifest.
    package let manifest: Manifest
    /// The size of its document in bytes.
    package let manifestSize: UInt64
    /// Whether it is, byte for byte, the one of the earlier build.
    package let isManifestUnchanged: Bool
    /// The ids of the keys that it is signed with, ascending.
    package let signers: [String]
    /// The numbers for the app's Info.plist.
    package let budget: ReleaseBudget
    /// The size that the budget reserves for the manifest, in bytes.
    package let manifestCeiling: UInt64
  }

  /// Where the release is.
  package let output: String
  /// The packs, in ascending order of their ids.
  package let items: [Item]
  /// What was made; nil in a trial run.
  package let release: Release?
  /// What there is to say besides.
  package let remarks: [Remark]
}
