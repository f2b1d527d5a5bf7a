/// The base of a delta while that is made: finds ranges in its contents, and reads them.
final class DeltaBaseReading: Sendable {
  let tree: DeltaTree
  let contents: BaseContents
  let index: FingerprintIndex

  /// Contents that one thread reads at once, in bytes. A larger content is read at once, too.
  private static let batchSize: UInt64 = 4 << 20

  private init(_ tree: DeltaTree, _ contents: BaseContents, _ index: FingerprintIndex) {
    self.tree = tree
    self.contents = contents
    self.index = index
  }

  /// Reads all contents of a tree once, checks their digests, and makes the table of their fingerprints.
  ///
  /// - Parameter isSearched: whether there are new contents. Otherwise nothing is read, and only the list is at hand.
  static func open(
    _ tree: DeltaTree, isSearched: Bool, jobs: Int, progress: ProgressHandler?
  ) async throws(PackError) -> DeltaBaseReading {
    let contents = BaseContents(isSearched ? distinct(tree.entries) : [])
    let counter = ProgressCounter(.hashing, total: contents.items.reduce(0) { $0 + $1.size }, handler: progress)
    let fingerprints = Monitor([UInt32](repeating: 0, count: Int(contents.end / contents.spacing)))
    let batches = batches(contents, tree.entries)
    if !batches.isEmpty {
      try await WorkerPool.run(min(jobs, batches.count)) { pool in
        OrderedParallelMap<[(item: Int, fingerprints: [UInt32])]>(count: batches.count, window: 2 * jobs, pool: pool)
      } work: { (pool, map) throws(PackError) in
        try map.work { (number) throws(PackError) in
          try sample(batches[number], contents, tree, pool)
        } take: { (_, samples) throws(PackError) in
          fingerprints.withLock { all in
            for sample in samples {
              let start = Int(contents.items[sample.item].start / contents.spacing)
              all.replaceSubrange(start..<start + sample.fingerprints.count, with: sample.fingerprints)
            }
          }
          counter.add(samples.reduce(0) { $0 + contents.items[$1.item].size })
        }
      }
    }
    tree.pack.dropBuffers()
    return DeltaBaseReading(tree, contents, FingerprintIndex(fingerprints.withLock { $0 }, spacing: contents.spacing))
  }

  /// Returns the number and the size of the first record with each content.
  private static func distinct(_ entries: [Entry]) -> [(number: Int, size: UInt64)] {
    var known: Set<[UInt8]> = []
    var distinct: [(number: Int, size: UInt64)] = []
    for (number, entry) in entries.enumerated() where entry.size > 0 && known.insert(entry.sha256).inserted {
      distinct.append((number, entry.size))
    }
    return distinct
  }

  /// Returns the numbers of the items in the order of the pack, so that each frame is decompressed about once.
  private static func batches(_ contents: BaseContents, _ entries: [Entry]) -> [[Int]] {
    let order = contents.items.indices.sorted {
      (entries[contents.items[$0].number].offset, $0) < (entries[contents.items[$1].number].offset, $1)
    }
    var batches: [[Int]] = []
    var size: UInt64 = batchSize
    for item in order {
      if size + contents.items[item].size > batchSize {
        batches.append([])
        size = 0
      }
      batches[batches.count - 1].append(item)
      size += contents.items[item].size
    }
    return batches
  }

  private static func sample(
    _ batch: [Int], _ contents: BaseContents, _ tree: DeltaTree, _ pool: WorkerPool
  ) throws(PackError) -> [(item: Int, fingerprints: [UInt32])] {
    var samples: [(item: Int, fingerprints: [UInt32])] = []
    for item in batch {
      try pool.checkpoint()
      var sampler = FingerprintSampler(spacing: contents.spacing)
      // Reading a whole file checks its digest, on which every reader of the delta relies.
      try tree.pack.read(tree.entries[contents.items[item].number]) { (piece) throws(PackError) in
        try pool.checkpoint()
        sampler.add(piece)
      }
      samples.append((item, sampler.fingerprints))
    }
    return samples
  }

  /// Returns the part of a content that holds an address and is in one frame of the pack.
  func part(holding address: UInt64, of item: Int) -> RangeSearch.FramePart {
    let item = contents.items[item]
    let start = tree.entries[item.number].offset
    let frame = tree.pack.table.frame(holding: start + (address - item.start))
    let range = tree.pack.table[frame].tarRange
    return RangeSearch.FramePart(
      frame: frame,
      range: item.start + (max(range.lowerBound, start) - start)..<min(item.end, item.start + (range.upperBound - start)))
  }

  /// Reads pieces end to end to the beginning of `target`, which must have room for them, and returns their length.
  func read(_ pieces: [DeltaHead.Piece], into target: inout [UInt8]) throws(PackError) -> Int {
    var places: [(piece: DeltaHead.Piece, start: Int)] = []
    var size = 0
    for piece in pieces {
      places.append((piece, size))
      size += Int(piece.length)
    }
    // In the order of the pack, so that each frame is decompressed about once.
    places.sort { (offset(of: $0.piece), $0.start) < (offset(of: $1.piece), $1.start) }
    for place in places { try read(place.piece, into: &target, at: place.start) }
    return size
  }

  private func offset(of piece: DeltaHead.Piece) -> UInt64 {
    Int(piece.content) < tree.entries.count ? tree.entries[Int(piece.content)].offset : 0
  }

  private func read(_ piece: DeltaHead.Piece, into target: inout [UInt8], at start: Int) throws(PackError) {
    let range = piece.offset..<piece.offset + UInt64(piece.length)
    guard Int(piece.content) < tree.entries.count else {
      let list = tree.list
      var bytes = target.mutableByteSpan
      copy(list.byteSpan.extracting(Int(range.lowerBound)..<Int(range.upperBound)), to: &bytes, at: start)
      return
    }
    var place = start
    try tree.pack.read(tree.entries[Int(piece.content)], range: range) { piece in
      var bytes = target.mutableByteSpan
      copy(piece, to: &bytes, at: place)
      place += piece.count
    }
  }

  /// Returns the piece of the base's list against which a window of the new list is compressed: the part at about the same place, as large as a
  /// prefix may be.
  func listPieces(for window: Range<UInt64>, of listSize: UInt64) -> [DeltaHead.Piece] {
    let size = UInt64(tree.list.count)
    guard size > 0 else { return [] }
    let length = min(size, UInt64(Limits.deltaPrefixSize))
    let middle = (window.lowerBound + window.upperBound) / 2 * size / listSize
    let offset = min(middle - min(middle, length / 2), size - length)
    return [DeltaHead.Piece(content: UInt32(tree.entries.count), offset: offset, length: UInt32(length))]
  }
}
