/// The records of all bases of a delta, numbered as FORMAT.md §13.3 says: 48 bytes for each, and the list of the first base.
///
/// They are needed while a delta is opened. Then every place in a base is known by its offset in that base's tar.
struct BaseRecords {
  private(set) var offsets: [UInt64] = []
  private(set) var sizes: [UInt64] = []
  private(set) var list: [UInt8] = []
  private var digests: [UInt8] = []
  /// The number of the first record of each base, and the number of all.
  private var starts: [Int] = []

  /// Reads the indexes of all bases, and computes their content roots.
  ///
  /// - Throws: ``PackError/Code/damagedPayload`` if the records of a base are not those that its content root names,
  ///   ``PackError/Code/limitExceeded`` if the list of the first one is too long.
  init(_ bases: [any DeltaBase], backend: any CryptoBackend) throws(PackError) {
    for (number, base) in bases.enumerated() {
      starts.append(sizes.count)
      let root = try ContentRoot(backend: backend)
      try base.forEachContent { (path, kind, size, offset, digest) throws(PackError) in
        offsets.append(offset)
        sizes.append(size)
        digests.append(copying: digest)
        try root.add(path: path, kind: kind, size: size, digest: digest)
        guard number == 0, list.count <= Limits.deltaListSize else { return }
        TreeListCursor.append(path: path, kind: kind, size: size, to: &list)
      }
      guard try root.finish() == base.contentRoot else {
        throw PackError(.damagedPayload, "the entries do not match the content root").about(base.basePath)
      }
      guard list.count <= Limits.deltaListSize else {
        throw PackError(.limitExceeded, "pack has too many files for a delta: their list is longer than \(Limits.deltaListSize) bytes")
          .about(base.basePath)
      }
    }
    starts.append(sizes.count)
  }

  /// The number of all records, which is also the number of the first base's list as a content.
  var count: Int { sizes.count }

  /// The base that has a record.
  func base(of record: Int) -> Int { (starts.firstIndex { $0 > record } ?? starts.count) - 1 }

  /// Calls `body` with the SHA-256 of a record's content.
  func withDigest<Result>(of record: Int, _ body: (Span<UInt8>) -> Result) -> Result {
    body(digests.byteSpan.extracting(record * 32..<record * 32 + 32))
  }
}
