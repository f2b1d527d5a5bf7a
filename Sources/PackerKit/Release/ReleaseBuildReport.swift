public import PackManifest

/// What a ``ReleaseBuild`` did.
public struct ReleaseBuildReport: Sendable {
  /// What became of one pack.
  public struct Item: Sendable {
    /// What was done.
    public enum Action: String, Hashable, Sendable {
      /// It was packed; in a trial run, it would be.
      case packed
      /// Nothing changed since the earlier build, whose file it is.
      case reused
      /// Nobody looked at its source: it is the file of the earlier build because the caller wanted so.
      case kept
    }

    /// The name it is published under.
    public let id: String
    /// The pack version.
    public let version: UInt64
    /// What was done.
    public let action: Action
    /// Why it was packed, in a few words; nil where it was not.
    public let reason: String?
    /// The sum of the sizes of its files in bytes.
    public let contentSize: UInt64
    /// The manifest's entry; nil in a trial run.
    public let entry: ManifestPack?
    /// What is in its source and not in the pack; nothing if its source was not looked at.
    public let omitted: [OmittedPath]
  }

  /// Something that does not stop the work.
  public struct Remark: Hashable, Sendable {
    /// Whether it asks for attention.
    public let isWarning: Bool
    /// What is the matter, for a person.
    public let message: String
    /// What to do about it, where there is something.
    public let hint: String?

    static func note(_ message: String, hint: String? = nil) -> Remark { Remark(isWarning: false, message: message, hint: hint) }
    static func warning(_ message: String, hint: String? = nil) -> Remark { Remark(isWarning: true, message: message, hint: hint) }
  }

  /// What a build that is no trial run made besides packs.
  public struct Release: Sendable {
    /// The manifest.
    public let manifest: Manifest
    /// The size of its document in bytes.
    public let manifestSize: UInt64
    /// Whether it is, byte for byte, the one of the earlier build.
    public let isManifestUnchanged: Bool
    /// The ids of the keys that it is signed with, ascending.
    public let signers: [String]
    /// The numbers for the app's Info.plist.
    public let budget: ReleaseBudget
    /// The size that the budget reserves for the manifest, in bytes.
    public let manifestCeiling: UInt64
  }

  /// Where the release is.
  public let output: String
  /// The packs, in ascending order of their ids.
  public let items: [Item]
  /// What was made; nil in a trial run.
  public let release: Release?
  /// What there is to say besides.
  public let remarks: [Remark]
}
