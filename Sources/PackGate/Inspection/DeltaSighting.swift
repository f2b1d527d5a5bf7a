/// One inspected delta that the manifest lists.
struct DeltaSighting: SideFile {
  /// The id of the pack.
  var id: String
  /// What the entry of the pack says about it.
  var delta: ManifestDelta
  /// Its expected path, starting with the path that the caller gave for the release.
  var path: String
  /// Its size in bytes; nil if there is no such file.
  var size: UInt64?
  /// The reason why there is no such file, which continues a sentence about its path.
  var absence = PublishedFile.missing
  /// The SHA-256 of the file; nil if it was not read.
  var sha256: [UInt8]?
  /// The readable start of the file; nil if it could not be read.
  var start: PackSighting.Start?
  /// Whether the file is a delta, and not a full pack; nil if its start could not be read.
  var isDelta: Bool?
  /// Whether it was made for the pack of its id; nil if its start could not be read.
  var isNamed: Bool?
  /// The content root that it makes; nil if it was not applied to its base.
  var contentRoot: [UInt8]?
  /// The reason why it could not be read, or applied to its base.
  var failure: PackError?
  /// Why it was not applied to its base, although that was asked for; nil if it was.
  var unproven: String?

  var title: String { "the delta \(path)" }
  var published: (size: UInt64, sha256: [UInt8]) { (delta.size, delta.sha256) }
}

/// Changes of a pack that make its update large for a reason that a person can mend.
struct UpdateBurden: Sendable, Hashable {
  /// Why the update is large.
  enum Reason: Sendable, Hashable, CaseIterable {
    /// An archive inside the pack changed: what is compressed already has nothing in common with its earlier version.
    case archive
    /// Pictures, sounds or films were encoded again: nearly the same size, and nearly all bytes differ.
    case encodedAgain
    /// Many files changed only in a few bytes.
    case stamps
  }

  /// The id of the pack.
  var id: String
  /// The version of the pack that players have.
  var version: UInt64
  /// The bytes that they download.
  var download: UInt64
  /// Why that is so much.
  var reason: Reason
  /// The paths of the files, the largest first.
  var paths: [String]
  /// The sizes of these files together, in bytes.
  var size: UInt64
}
