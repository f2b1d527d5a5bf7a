/// The base of a delta while that is made: its base string, and the records that its contents are read from.
struct DeltaBaseReading: Sendable {
  let tree: DeltaTree
  let string: BaseString
  /// For each content of the string, the first record that has it.
  private let records: [Int]

  /// Contents that one thread reads at once, in bytes. A larger content is read at once, too.
  private static let batchSize: UInt64 = 4 << 20

  init(_ tree: DeltaTree) {
    self.tree = tree
    var string = BaseString()
    string.add(list: tree.list)
    var known: Set<ContentDigest> = []
    known.reserveCapacity(tree.entries.count)
    var records: [Int] = []
    for (number, entry) in tree.entries.enumerated() where entry.size > 0 && known.insert(ContentDigest(entry.sha256.byteSpan)).inserted {
      records.append(number)
      string.add(contentAt: entry.offset, size: entry.size)
    }
    self.string = string
    self.records = records
  }

  /// Samples the list.
  func sampledList() -> SampledBase {
    let contents = BaseContents(string, parts: 0..<1)
    var sampler = FingerprintSampler(spacing: contents.spacing)
    sampler.add(tree.list.byteSpan)
    return SampledBase(contents, [(0, sampler.fingerprints)])
  }

  /// Reads all contents once, checks their digests, and samples them.
  func sampledContents(jobs: Int, progress: ProgressHandler?) async throws(PackError) -> SampledBase {
    let contents = BaseContents(string, parts: 1..<string.parts.count)
    let counter = ProgressCounter(.hashing, total: contents.items.reduce(0) { $0 + $1.size }, handler: progress)
    let all = Monitor<[SampledBase.Samples]>([])
    let batches = batches(contents)
    if !batches.isEmpty {
      try await WorkerPool.run(min(jobs, batches.count)) { pool in
        OrderedParallelMap<[SampledBase.Samples]>(count: batches.count, window: 2 * jobs, pool: pool)
      } work: { (pool, map) throws(PackError) in
        try map.work { (number) throws(PackError) in
          try sample(batches[number], contents, pool)
        } take: { (_, samples) throws(PackError) in
          all.withLock { $0 += samples }
          counter.add(samples.reduce(0) { $0 + contents.items[$1.item].size })
        }
      }
    }
    tree.pack.dropBuffers()
    return SampledBase(contents, all.withLock { $0 })
  }

  /// Returns the numbers of the items in the order of the pack, so that each frame is decompressed about once.
  private func batches(_ contents: BaseContents) -> [[Int]] {
    let order = contents.items.indices.sorted {
      (tree.entries[records[$0]].offset, $0) < (tree.entries[records[$1]].offset, $1)
    }
    var batches: [[Int]] = []
    var size = Self.batchSize
    for item in order {
      if size + contents.items[item].size > Self.batchSize {
        batches.append([])
        size = 0
      }
      batches[batches.count - 1].append(item)
      size += contents.items[item].size
    }
    return batches
  }

  private func sample(_ batch: [Int], _ contents: BaseContents, _ pool: WorkerPool) throws(PackError) -> [SampledBase.Samples] {
    var samples: [SampledBase.Samples] = []
    for item in batch {
      try pool.checkpoint()
      var sampler = FingerprintSampler(spacing: contents.spacing)
      // Reading a whole file checks its digest, on which every reader of the delta relies.
      try tree.pack.read(tree.entries[records[item]]) { (piece) throws(PackError) in
        try pool.checkpoint()
        sampler.add(piece)
      }
      samples.append((item, sampler.fingerprints))
    }
    return samples
  }
}

/// Where bytes occur in some parts of a base string.
struct SampledBase: Sendable {
  /// The number of an item, and its fingerprints.
  typealias Samples = (item: Int, fingerprints: [UInt32])

  let contents: BaseContents
  let index: FingerprintIndex

  init(_ contents: BaseContents, _ samples: [Samples]) {
    self.contents = contents
    var fingerprints = [UInt32](repeating: 0, count: Int(contents.end / contents.spacing))
    for sample in samples {
      let start = Int(contents.items[sample.item].start / contents.spacing)
      fingerprints.replaceSubrange(start..<start + sample.fingerprints.count, with: sample.fingerprints)
    }
    index = FingerprintIndex(fingerprints, spacing: contents.spacing)
  }
}
