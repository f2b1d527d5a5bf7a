/// An inspected file that a release has besides its packs: a delta, or a lead.
protocol SideFile: Sendable {
  /// The id of the pack.
  var id: String { get }
  /// Its expected path, starting with the path that the caller gave for the release.
  var path: String { get }
  /// What it is called in messages.
  var title: String { get }
  /// Its size in bytes; nil if there is no such file.
  var size: UInt64? { get }
  /// The reason why there is no such file, which continues a sentence about its path.
  var absence: String { get }
  /// The SHA-256 of the file; nil if it was not read.
  var sha256: [UInt8]? { get }
  /// The size and the digest that the entry names.
  var published: (size: UInt64, sha256: [UInt8]) { get }
}

extension SideFile {
  /// Whether its bytes are not those that the entry names. False for a file of another size, which is a finding of its own.
  var isChanged: Bool { size == published.size && sha256.map { $0 != published.sha256 } ?? false }

  /// Whether its size and digest are those that the entry names.
  var isPublished: Bool { size == published.size && sha256 == published.sha256 }
}

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

/// One inspected lead that the manifest lists.
struct LeadSighting: SideFile {
  let id: String
  /// What the entry of the pack says about it.
  let stream: ManifestStream
  let path: String
  let size: UInt64?
  let absence: String
  private(set) var sha256: [UInt8]?
  /// Whether it is what follows from the pack; nil if that was not read.
  private(set) var isOfPack: Bool?

  var title: String { "the lead \(path)" }
  var published: (size: UInt64, sha256: [UInt8]) { (stream.size, stream.sha256) }

  /// Inspects a lead, and unless `isQuick` is set, the pack that it should be made of.
  init(
    _ stream: ManifestStream, of entry: ManifestPack, in place: ReleaseInspection.Place, isQuick: Bool, files: any FileSystem
  ) throws(PackError) {
    (id, self.stream, path) = (entry.id, stream, place.path(ManifestPack.leadName(entry.id, stream.sha256)))
    let file = PublishedFile(path, files: files)
    (size, absence) = (file.size, file.absence)
    guard size != nil else { return }
    let backend = CryptoBackends.standard
    do throws(PackError) {
      sha256 = try FileDigest.run(path, in: nil, title: path, files: files, backend: backend).sha256
      guard isPublished, !isQuick else { return }
      let start = try PackStart(place.path(entry.fileName), files: files)
      let lead = PackLead.of(start, at: place.path(entry.fileName), as: stream, files: files, backend: backend)
      isOfPack = try lead?.stream() == stream
    } catch {
      // What cannot be read is a finding about the pack.
      guard error.code != .cancelled, error.code != .internalError else { throw error }
    }
  }
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
