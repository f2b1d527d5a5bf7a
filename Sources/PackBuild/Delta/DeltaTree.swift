/// The records of an open pack, as making a delta needs them. Takes about 250 bytes for each record, and its path three times.
struct DeltaTree: Sendable {
  let pack: Pack
  /// The records in the order of the index.
  let entries: [Entry]
  /// The list of the tree (FORMAT.md §13.4).
  let list: [UInt8]
  /// The content root, computed from the records.
  let contentRoot: [UInt8]

  /// Reads the whole index of a pack.
  ///
  /// - Throws: ``PackError/Code/unsuitableSource`` if the list is longer than a delta allows, ``PackError/Code/damagedPayload`` if the records do not
  ///   have the content root that the pack states.
  init(_ pack: Pack) throws(PackError) {
    self.pack = pack
    var entries: [Entry] = []
    var list: [UInt8] = []
    let root = try ContentRoot(backend: pack.source.backend)
    try pack.forEachEntry { (entry) throws(PackError) in
      let path = Array(entry.path.utf8)
      TreeListCursor.append(path: path.byteSpan, kind: entry.recordKind, size: entry.size, to: &list)
      guard list.count <= Limits.deltaListSize else { throw Self.tooLong.about(pack.source) }
      try root.add(path: path.byteSpan, kind: entry.recordKind, size: entry.size, digest: entry.sha256.byteSpan)
      entries.append(entry)
    }
    self.entries = entries
    self.list = list
    contentRoot = try root.finish()
    guard contentRoot == pack.contentRoot else {
      throw PackError(.damagedPayload, "the entries do not match the content root").about(pack.source)
    }
  }

  private static var tooLong: PackError {
    PackError(
      .unsuitableSource, "the paths take more than \(Limits.deltaListSize) bytes, the most that a delta allows",
      hint: "publish the full pack, or split the tree into several packs")
  }
}
