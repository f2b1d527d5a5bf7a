/// An observer that sees each frame that one worker has opened, before anything from the frame is written. Used by one worker only.
package protocol FrameObserver: AnyObject {
  /// - Parameters:
  ///   - content: the decompressed frame.
  ///   - table: the places of all contents.
  ///   - records: the records of the contents in the frame.
  ///   - reader: the worker's reader; the observer must not load another frame with it.
  func observe(
    _ frame: SeekTable.Frame, _ content: Span<UInt8>, _ table: ContentTable, _ records: RecordBatch, reader: PackReader
  ) throws(PackError)
}

/// Reads every file of a pack with several workers, checks its digest, and writes the file if an output is given.
///
/// Each worker opens, decompresses and delivers the frames it claims. Only the digest of a file that spans frames is computed in order: the worker
/// waits for the worker of the frame before.
package final class TreeWalk: Sendable {
  /// How strictly parts that no client needs are checked.
  package enum Strictness: Sendable {
    /// Refuse only what a client must refuse.
    case client
    /// Also refuse what a check before release must refuse: nonzero padding, and skippable frames that are not valid.
    case release
  }

  private let pack: Pack
  private let table: ContentTable
  private let blocks: IndexCache
  private let output: OutputDirectory?
  private let pool: WorkerPool
  private let counter: ProgressCounter
  private let strictness: Strictness
  private let makeObserver: (@Sendable () -> any FrameObserver)?
  private let skipped: RecordSet
  private let queue: FrameQueue
  private let spanning: SpanningDigests
  /// The contents that span several frames and whose files have been created.
  private let begun = Monitor<Set<UInt64>>([])

  private init(
    _ pack: Pack, table: ContentTable, blocks: IndexCache, output: OutputDirectory?, strictness: Strictness, pool: WorkerPool,
    counter: ProgressCounter, skipped: RecordSet, makeObserver: (@Sendable () -> any FrameObserver)?
  ) {
    self.pack = pack
    self.skipped = skipped
    self.table = table
    self.blocks = blocks
    self.output = output
    self.pool = pool
    self.counter = counter
    self.strictness = strictness
    self.makeObserver = makeObserver
    queue = FrameQueue(table, pack.table, pool: pool)
    spanning = SpanningDigests(backend: pack.source.backend, pool: pool)
  }

  /// Reads a pack: every tag, every frame and every digest that is not needed for skipped records only.
  ///
  /// The whole index is checked, and the tree counted, before anything is written.
  ///
  /// - Parameters:
  ///   - output: the directory to write the tree to; nothing is written if nil. Throws if its volume has no room for the tree.
  ///   - blocks: the index cache that all workers share; a new one if nil.
  ///   - skipped: records that are not written, such as files that the output has already. What is needed only for them is not read. If this is not nil,
  ///     the caller has checked the space.
  ///   - makeObserver: creates the observer of one worker.
  ///   - onStop: called if the work stops early, so that an observer that waits does not wait forever.
  ///   - beforeEmpty: called after the last frame, before files and directories without content are written. May wait.
  package static func run(
    _ pack: Pack, into output: OutputDirectory?, blocks: IndexCache? = nil, jobs: Int?, phase: PackProgress.Phase,
    strictness: Strictness = .client, skipped: RecordSet? = nil, progress: ProgressHandler?,
    makeObserver: (@Sendable () -> any FrameObserver)? = nil,
    onStop: (@Sendable () -> Void)? = nil, beforeEmpty: (@Sendable () throws(PackError) -> Void)? = nil
  ) async throws(PackError) {
    // A tar has at least one frame.
    let frames = max(1, pack.table.dataFrameCount)
    let workers = min(try WorkerPool.size(for: jobs), frames)
    let blocks = blocks ?? .shared(pack)
    pack.dropBuffers()
    do throws(PackError) {
      let table = try await WorkerPool.value { (pool) throws(PackError) in
        let reader = try PackReader(pack, blocks: blocks)
        let table = try ContentTable(pack, reader: reader, pool: pool)
        try Self.authenticateRest(of: pack, strictness, by: reader)
        // Otherwise the caller has checked it.
        if skipped == nil { try output?.checkSpace(table.count.diskSize, files: table.count.itemCount) }
        return table
      }
      let counter = ProgressCounter(phase, total: pack.contentSize, handler: progress)
      try await WorkerPool.run(workers) { pool in
        TreeWalk(
          pack, table: table, blocks: blocks, output: output, strictness: strictness, pool: pool, counter: counter,
          skipped: skipped ?? RecordSet(), makeObserver: makeObserver)
      } work: { (pool, walk) throws(PackError) in
        // Registered by each worker, because a worker that waits in an observer must not depend on one that never started.
        if let onStop { pool.onStop(onStop) }
        try walk.work()
      }
      guard let output else { return }
      try await WorkerPool.value { (pool) throws(PackError) in
        try beforeEmpty?()
        let writer = StagingWriter(output, files: pack.source.files)
        try table.forEachEmpty(reader: try PackReader(pack, blocks: blocks), pool: pool) { (path, kind, number) throws(PackError) in
          if skipped?.contains(number) != true { try writer.make(path, kind) }
        }
      }
    } catch {
      throw error.about(pack.source)
    }
  }

  /// Checks the tags of everything that is not a data frame. In a release check, also checks the headers of skippable frames that no reader uses. The
  /// tags of the index were checked when the pack was opened.
  private static func authenticateRest(of pack: Pack, _ strictness: Strictness, by reader: PackReader) throws(PackError) {
    let table = pack.table
    for index in table.dataFrameCount..<table.indexBlocks.index where strictness == .release {
      let frame = table[index]
      let head = try reader.payload(frame.offset..<frame.offset + UInt64(SeekTable.skippableHeaderSize))
      var cursor = FieldCursor(failure: .damagedPayload)
      let magic = try cursor.uint32("frame \(index)", in: head.byteSpan)
      let length = try cursor.uint32("frame \(index)", in: head.byteSpan)
      guard (0x184D_2A50...0x184D_2A5C).contains(magic),
        Int(length) == Int(frame.compressedSize) - SeekTable.skippableHeaderSize
      else {
        throw PackError(.damagedPayload, "frame \(index) is not a skippable frame of \(frame.compressedSize) bytes")
      }
    }
    try reader.authenticate(table[table.dataFrameCount].offset..<pack.layout.payloadSize)
  }

  private func work() throws(PackError) {
    let reader = try PackReader(pack, blocks: blocks)
    reader.reserve()
    let digest = try pack.source.backend.makeDigest()
    let writer = output.map { StagingWriter($0, files: pack.source.files) }
    let observer = makeObserver?()
    while let (number, records) = try queue.claim(reader: reader) {
      try pool.checkpoint()
      let items = table.items(in: pack.table[number].tarRange)
      guard !isSkipped(items) else {
        counter.add(items.reduce(0) { $0 + UInt64($1.range.clamped(to: pack.table[number].tarRange).count) })
        continue
      }
      let place = try reader.load(number)
      try reader.withFrame { (content) throws(PackError) in
        try observer?.observe(pack.table[number], content, table, records, reader: reader)
        if strictness == .release { try checkPadding(content, at: place) }
        var done: UInt64 = 0
        for group in table.groups(in: place) {
          let whole = group[group.startIndex].range
          let part = whole.clamped(to: place)
          let start = Int(part.lowerBound - place.lowerBound)
          let bytes = content.extracting(start..<start + part.count)
          if isSkipped(group) {
            // Other parts of it may be in frames that are not read.
          } else if part == whole {
            try deliver(group, bytes, records, reader: reader, digest: digest, writer: writer)
          } else {
            try deliver(part, of: group, bytes, records, reader: reader, writer: writer)
          }
          done += UInt64(bytes.count) * UInt64(group.count)
        }
        counter.add(done)
      }
    }
    try pool.checkpoint()
  }

  /// Whether none of these items is wanted.
  private func isSkipped(_ items: ArraySlice<ContentTable.Item>) -> Bool {
    !skipped.isEmpty && items.allSatisfy { skipped.contains($0.number) }
  }

  /// Throws if there are nonzero bytes after contents or in the last 1024 bytes of the tar.
  private func checkPadding(_ content: Span<UInt8>, at place: Range<UInt64>) throws(PackError) {
    func check(_ range: Range<UInt64>) throws(PackError) {
      let padding = range.clamped(to: place)
      guard !padding.isEmpty else { return }
      let start = Int(padding.lowerBound - place.lowerBound)
      if let index = firstNonzero(in: content.extracting(start..<start + padding.count)) {
        throw PackError(
          .damagedArchive, "the tar has a nonzero padding byte at offset \(padding.lowerBound + UInt64(index))")
      }
    }
    // The content may end in the frame before.
    let earliest = place.lowerBound > 511 ? place.lowerBound - 511 : 0
    for item in table.items(in: earliest..<place.upperBound) {
      try check(item.range.upperBound..<item.paddedEnd)
    }
    try check(pack.table.tarSize - min(1024, pack.table.tarSize)..<pack.table.tarSize)
  }

  /// Checks and writes files whose whole content is in the frame.
  private func deliver(
    _ group: ArraySlice<ContentTable.Item>, _ content: Span<UInt8>, _ records: RecordBatch, reader: PackReader,
    digest: any DigestContext, writer: StagingWriter?
  ) throws(PackError) {
    try digest.update(content)
    let actual = try digest.finish()
    for index in group.indices {
      try records.withRecord(of: index, in: table, reader: reader) { (path, kind, expected) throws(PackError) in
        try Self.check(actual, expected, path)
        if !skipped.contains(table.items[index].number) { try writer?.make(path, kind, content: content) }
      }
    }
  }

  /// Writes a part of files that span frames, and checks the files after their last part.
  private func deliver(
    _ part: Range<UInt64>, of group: ArraySlice<ContentTable.Item>, _ content: Span<UInt8>, _ records: RecordBatch, reader: PackReader,
    writer: StagingWriter?
  ) throws(PackError) {
    guard let whole = group.first?.range else { return }
    if let writer {
      // The first worker creates the files; the others write into them.
      try begun.withLock { (begun) throws(PackError) in
        guard begun.insert(whole.lowerBound).inserted else { return }
        for index in group.indices {
          try records.withRecord(of: index, in: table, reader: reader) { (path, kind, _) throws(PackError) in
            if !skipped.contains(table.items[index].number) { try writer.make(path, kind) }
          }
        }
      }
      for index in group.indices {
        try records.withRecord(of: index, in: table, reader: reader) { (path, _, _) throws(PackError) in
          guard !skipped.contains(table.items[index].number) else { return }
          try writer.write(path, at: part.lowerBound - whole.lowerBound, content: content)
        }
      }
    }
    guard let actual = try spanning.add(content, part, of: whole) else { return }
    for index in group.indices {
      try records.withRecord(of: index, in: table, reader: reader) { (path, _, expected) throws(PackError) in
        try Self.check(actual, expected, path)
      }
    }
  }

  private static func check(_ actual: [UInt8], _ expected: Span<UInt8>, _ path: Span<UInt8>) throws(PackError) {
    guard equal(expected, actual.byteSpan) else {
      throw PackReader.digestMismatch(String(decoding: [UInt8](copying: path), as: UTF8.self))
    }
  }
}
