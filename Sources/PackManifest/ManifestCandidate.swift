/// The edition of a pack that only the devices of a rollout take (FORMAT.md §9.11). Everything else of the entry holds for both editions.
package struct ManifestCandidate: Hashable, Sendable {
  /// The id of the rollout that says which devices take it.
  package var rollout: String
  /// The pack version, above that of the stable edition.
  package var version: UInt64
  /// The exact size of the pack file in bytes, as served.
  package var size: UInt64
  /// The SHA-256 of the pack file, 32 bytes.
  package var sha256: [UInt8]
  /// The digest that identifies the tree, 32 bytes.
  package var contentRoot: [UInt8]
  /// The sum of the sizes of all files in bytes.
  package var contentSize: UInt64
  /// The space that the unpacked tree occupies on the device in bytes.
  package var installSize: UInt64
  /// The number of records: files and empty directories.
  package var files: UInt64
  /// The largest decompressed data frame in bytes.
  package var maxFrame: UInt64
  /// The deltas to this edition, in ascending order of their digests.
  package var deltas: [ManifestDelta]
  /// The lead, by which it is played while it arrives; nil if it has none.
  package var stream: ManifestStream?

  /// Makes the candidate that a later edition of a pack is.
  package init(_ edition: ManifestPack, in rollout: String) {
    self.rollout = rollout
    (version, size, sha256) = (edition.version, edition.size, edition.sha256)
    (contentRoot, contentSize, installSize) = (edition.contentRoot, edition.contentSize, edition.installSize)
    (files, maxFrame, deltas, stream) = (edition.files, edition.maxFrame, edition.deltas, edition.stream)
  }
}

extension ManifestPack {
  /// Whether the entry is that of a device that takes a candidate.
  package var isCandidate: Bool { stableVersion != nil }

  /// The version that counts for the protection against rollback: a candidate that is withdrawn is none.
  package var lastingVersion: UInt64 { stableVersion ?? version }

  /// The entry as a device sees it that takes the candidate; nil if there is none.
  package func takingCandidate(_ defaults: ManifestDefaults) -> ManifestPack? {
    guard let candidate else { return nil }
    var pack = self
    pack.candidate = nil
    pack.stableVersion = version
    (pack.version, pack.size, pack.sha256) = (candidate.version, candidate.size, candidate.sha256)
    (pack.contentRoot, pack.contentSize, pack.installSize) = (candidate.contentRoot, candidate.contentSize, candidate.installSize)
    (pack.files, pack.maxFrame, pack.deltas, pack.stream) = (candidate.files, candidate.maxFrame, candidate.deltas, candidate.stream)
    pack.url = defaults.url(id, candidate.sha256) ?? url
    return pack
  }

  /// The entry as all other devices see it.
  package var takingStable: ManifestPack {
    var pack = self
    pack.candidate = nil
    return pack
  }

  /// The editions that devices may have: the stable one, and the candidate if there is one.
  package func editions(_ defaults: ManifestDefaults) -> [ManifestPack] {
    [takingStable] + (takingCandidate(defaults).map { [$0] } ?? [])
  }

  /// Returns the faults of its candidate, as texts. Whether its rollout is there is not among them.
  var candidateFaults: [String] {
    guard let candidate else { return [] }
    var faults: [String] = []
    if candidate.version <= version { faults.append("its version \(candidate.version) is not above \(version)") }
    if candidate.sha256 == sha256 { faults.append("it is the file of the stable edition") }
    if opener != nil { faults.append("the stable edition has an opener") }
    // Everything else is that of an entry.
    faults += takingCandidate(ManifestDefaults()).map { ManifestRules.faults(of: $0) } ?? []
    return faults.map { "candidate: \($0)" }
  }
}

extension ManifestCandidate {
  func write(to writer: inout CanonicalWriter) {
    writer.object { writer in
      writer.string("contentRoot", contentRoot.hex)
      writer.integer("contentSize", contentSize)
      if !deltas.isEmpty { writer.array("deltas", deltas) { $1.write(to: &$0) } }
      writer.integer("files", files)
      writer.integer("installSize", installSize)
      writer.integer("maxFrame", maxFrame)
      writer.string("rollout", rollout)
      writer.string("sha256", sha256.hex)
      writer.integer("size", size)
      if let stream {
        writer.key("stream")
        stream.write(to: &writer)
      }
      writer.integer("version", version)
    }
  }

  init(depth: Int, _ cursor: inout CanonicalCursor, _ bytes: Span<UInt8>) throws(PackError) {
    var object = try cursor.beginObject("a candidate", depth: depth, in: bytes)
    var integers: [String: UInt64] = [:]
    var (contentRoot, sha256): ([UInt8]?, [UInt8]?)
    var rollout: String?
    var deltas: [ManifestDelta]?
    stream = nil
    while let key = try cursor.nextKey(of: &object, in: bytes) {
      switch key {
      case "contentRoot": contentRoot = try cursor.hex("a content root", count: 32, in: bytes)
      case "contentSize", "files", "installSize", "maxFrame", "size", "version": integers[key] = try cursor.integer("a \(key)", in: bytes)
      case "deltas": deltas = try ManifestDelta.list(depth: depth + 1, &cursor, bytes)
      case "rollout": rollout = try cursor.text("a rollout", in: bytes)
      case "sha256": sha256 = try cursor.hex("a SHA-256", count: 32, in: bytes)
      case "stream": stream = try ManifestStream(depth: depth + 1, &cursor, bytes)
      default: try cursor.skip(depth: depth + 1, in: bytes)
      }
    }
    let owner = "\(cursor.subject)'s candidate"
    func integer(_ key: String) throws(PackError) -> UInt64 { try required(integers[key], key, of: owner) }
    if deltas == [] { throw PackError(.damagedManifest, "\(owner) has 'deltas' that say nothing new") }
    self.deltas = deltas ?? []
    (version, size) = (try integer("version"), try integer("size"))
    (contentSize, installSize) = (try integer("contentSize"), try integer("installSize"))
    (files, maxFrame) = (try integer("files"), try integer("maxFrame"))
    self.rollout = try required(rollout, "rollout", of: owner)
    self.sha256 = try required(sha256, "sha256", of: owner)
    self.contentRoot = try required(contentRoot, "contentRoot", of: owner)
  }
}
