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
