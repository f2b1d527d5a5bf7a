/// The records of all bases of a delta, numbered as FORMAT.md §13.3 says, and the base string: 48 bytes for each record, and what the string takes.
///
/// Every place in a base is known by its offset in that base's row of contents.
struct BaseRecords {
  private(set) var offsets: [UInt64] = []
  private(set) var sizes: [UInt64] = []
  private(set) var string = BaseString()
  private var digests: [UInt8] = []
  /// The number of the first record of each base, and the number of all.
  private var starts: [Int] = []

  /// Reads the indexes of all bases, and computes their content roots.
  ///
  /// - Throws: ``PackError/Code/damagedPayload`` if the records of a base are not those that its content root names,
  ///   or overlap, ``PackError/Code/limitExceeded`` if its list is too long.
  init(_ bases: [any DeltaBase], backend: any CryptoBackend) throws(PackError) {
    var known: Set<ContentDigest> = []
    for base in bases {
      let first = sizes.count
      starts.append(first)
      var list: [UInt8] = []
      let root = try ContentRoot(backend: backend)
      try base.forEachContent { (path, kind, size, offset, digest) throws(PackError) in
        offsets.append(offset)
        sizes.append(size)
        digests.append(copying: digest)
        try root.add(path: path, kind: kind, size: size, digest: digest)
        if list.count <= Limits.deltaListSize { TreeListCursor.append(path: path, kind: kind, size: size, to: &list) }
      }
      guard try root.finish() == base.contentRoot else {
        throw PackError(.damagedPayload, "the entries do not match the content root").about(base.basePath)
      }
      guard list.count <= Limits.deltaListSize else {
        throw PackError(.limitExceeded, "pack has too many files for a delta: their list is longer than \(Limits.deltaListSize) bytes")
          .about(base.basePath)
      }
      try checkOverlap(of: first..<sizes.count, base)
      string.add(list: list)
      known.reserveCapacity(sizes.count)
      for record in first..<sizes.count where sizes[record] > 0 && known.insert(withDigest(of: record) { ContentDigest($0) }).inserted {
        string.add(contentAt: offsets[record], size: sizes[record])
      }
    }
    starts.append(sizes.count)
  }

  /// The number of all records.
  var count: Int { sizes.count }

  /// The base that has a record.
  func base(of record: Int) -> Int { (starts.firstIndex { $0 > record } ?? starts.count) - 1 }

  /// Calls `body` with the SHA-256 of a record's content.
  func withDigest<Result>(of record: Int, _ body: (Span<UInt8>) -> Result) -> Result {
    body(digests.byteSpan.extracting(record * 32..<record * 32 + 32))
  }

  /// Throws if contents of a base are neither the same nor apart: a few kilobytes of index could name any number of bytes.
  ///
  /// - Parameter records: Those of the base.
  private func checkOverlap(of records: Range<Int>, _ base: any DeltaBase) throws(PackError) {
    let contents = records.filter { sizes[$0] > 0 }.sorted { (offsets[$0], sizes[$0]) < (offsets[$1], sizes[$1]) }
    for (left, right) in zip(contents, contents.dropFirst()) {
      guard offsets[left] == offsets[right] ? sizes[left] == sizes[right] : offsets[left] + sizes[left] <= offsets[right] else {
        throw PackError(.damagedPayload, "the content of two entries overlaps at byte \(offsets[right]) of the tar").about(base.basePath)
      }
    }
  }
}
