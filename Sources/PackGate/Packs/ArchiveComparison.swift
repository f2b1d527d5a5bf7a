/// Compares the tar, as libarchive reads it, with the index (FORMAT.md §4.8): a standard tool must get the same tree as a client.
///
/// Every frame is decompressed once. The workers that check digests pass the bytes between contents, in order, to a thread that reads the tar. A
/// file is written after that thread has compared the headers of its frame. Files and directories without content are written last, after the whole
/// tar was compared, because a small index may name very many that the tar does not have.
enum ArchiveComparison {
  /// - Parameters:
  ///   - output: the directory to which the tree is written, if any.
  ///   - makeObserver: makes another observer of the frames of one worker.
  ///   - onStop: called if the work stops early, so that no such observer waits.
  static func run(
    _ pack: Pack, into output: OutputDirectory? = nil, jobs: Int, phase: PackProgress.Phase, progress: ProgressHandler?,
    makeObserver: (@Sendable () -> any FrameObserver)? = nil, onStop: (@Sendable () -> Void)? = nil
  ) async throws(PackError) {
    let channel = GapChannel()
    let blocks = IndexCache.shared(pack)
    async let reading: PackError? = failure { () throws(PackError) in
      do throws(PackError) {
        try await WorkerPool.run(1) { (pool, _) throws(PackError) in
          pool.onStop { channel.close() }
          defer { channel.close() }
          try compare(pack, channel, blocks)
          channel.succeed()
        }
      } catch {
        throw error.about(pack.source.path)
      }
    }
    let walking = await failure { () throws(PackError) in
      try await TreeWalk.run(
        pack, into: output, blocks: blocks, jobs: jobs, phase: phase, strictness: .release, progress: progress,
        makeObserver: { GapSender(channel, waitsForReader: output != nil, makeObserver?()) },
        onStop: {
          channel.close()
          onStop?()
        },
        beforeEmpty: { () throws(PackError) in
          channel.finish()
          try channel.waitForSuccess()
        })
    }
    if walking == nil { channel.finish() } else { channel.close() }
    let comparing = await reading
    // A closed channel only reports that the other side failed, so the error of the other side comes first.
    let failures = [walking, comparing].compactMap(\.self)
    if let first = failures.first(where: { $0.code != GapChannel.closed.code }) ?? failures.first { throw first }
  }

  private static func failure(_ body: () async throws(PackError) -> Void) async -> PackError? {
    do throws(PackError) {
      try await body()
      return nil
    } catch {
      return error
    }
  }

  private static func compare(_ pack: Pack, _ channel: GapChannel, _ blocks: IndexCache) throws(PackError) {
    let tarSize = pack.table.tarSize
    let reader = try PackReader(pack, blocks: blocks)
    let headers = HeaderBytes()
    var gaps: ArraySlice<TarPiece> = []
    var contents: ArraySlice<FrameGaps.Content> = []
    let tar = try TarReader.ofHeaders { () throws(PackError) in
      while gaps.isEmpty {
        guard let frame = try channel.pull() else { return nil }
        gaps = frame.pieces[...]
        contents += frame.contents
      }
      let piece = gaps.removeFirst()
      headers.append(piece)
      return piece
    }
    var seen = [Sighting](repeating: .none, count: pack.entryCount)
    var end: UInt64 = 0
    var count = 0
    while let entry = try tar.next() {
      guard entry.start == end else {
        throw PackError(.damagedArchive, "the tar has an entry at byte \(entry.start), but the previous entry ends at \(end)")
      }
      contents = contents.drop { $0.record.offset < entry.dataOffset }
      let (record, number) = try check(entry, contents: contents, reader: reader, seen: seen)
      let header = TarHeader(
        path: String(decoding: record.path, as: UTF8.self), kind: record.kind, size: entry.size, linkTarget: entry.linkTarget)
      guard headers.areWritten(entry.start..<entry.dataOffset, for: header) else {
        throw PackError(
          .damagedArchive, "the tar header of '\(printable(record.path))' does not match its entry in the index")
      }
      guard seen[number] == .none else {
        throw PackError(.damagedArchive, "the tar holds '\(printable((entry.path ?? "").utf8))' twice")
      }
      seen[number] = entry.linkTarget == nil ? .content : .link
      count += 1
      end = entry.dataOffset + (entry.size + 511) / 512 * 512
      headers.drop(before: end)
    }
    guard count == pack.entryCount else {
      throw PackError(.damagedArchive, "the tar holds \(count) entries, but the index lists \(pack.entryCount)")
    }
    guard end + UInt64(TarHeader.endSize) == tarSize else {
      throw PackError(
        .damagedArchive, "the last entry ends at byte \(end), and the tar at byte \(tarSize), which is not \(TarHeader.endSize) bytes later"
      )
    }
    // libarchive stops at the end marker, but the workers may still push frames.
    try channel.drain()
  }

  /// How a record has occurred in the tar so far.
  enum Sighting: UInt8 {
    case none, content, link
  }

  /// Finds the record of a tar entry and throws an error if they differ. Returns the record and its number.
  ///
  /// - Parameter contents: the records of contents that have arrived, from the offset of the entry on. Most entries are among them.
  private static func check(
    _ entry: TarEntry, contents: ArraySlice<FrameGaps.Content>, reader: PackReader, seen: [Sighting]
  ) throws(PackError) -> (IndexRecord, Int) {
    guard var path = entry.path, entry.isFile || entry.isDirectory else {
      throw PackError(.damagedArchive, "the tar holds '\(printable((entry.path ?? "").utf8))', which is not a file or directory")
    }
    var shown: String { printable(path.utf8) }
    if entry.isDirectory {
      guard path.hasSuffix("/") else {
        throw PackError(.damagedArchive, "the tar holds the directory '\(shown)' without a final slash")
      }
      path.removeLast()
    }
    let known = contents.prefix { $0.record.offset == entry.dataOffset }.first { (content) in
      path.withBytes { equal($0, content.record.path.byteSpan) }
    }
    let found = if let known { (record: known.record, number: known.number) } else { try reader.record(at: path) }
    guard let (record, number) = found else {
      throw PackError(.damagedArchive, "the tar holds '\(shown)', but the index does not")
    }
    let isExecutable = record.kind == .executable
    let permissions: UInt32 = record.kind == .file ? 0o644 : 0o755
    guard entry.isDirectory == (record.kind == .directory), entry.permissions == permissions else {
      throw PackError(
        .damagedArchive,
        "the tar says '\(shown)' has the mode \(String(entry.permissions, radix: 8)), but the index says \(isExecutable ? "executable " : "")\(record.kind == .directory ? "directory" : "file")"
      )
    }
    if let target = entry.linkTarget {
      guard let (original, place) = try reader.record(at: target), seen[place] == .content, record.size > 0,
        original.offset == record.offset, original.size == record.size, original.kind == record.kind, entry.size == 0
      else {
        throw PackError(.damagedArchive, "the tar says '\(shown)' is a link to '\(printable(target.utf8))', but the index does not")
      }
      return (record, number)
    }
    guard entry.size == record.size, record.size == 0 || entry.dataOffset == record.offset else {
      throw PackError(
        .damagedArchive,
        "the tar says '\(shown)' is \(entry.size) bytes at \(entry.dataOffset), but the index says \(record.size) at \(record.offset)")
    }
    return (record, number)
  }
}

/// Pushes the gaps of one worker's frames to a channel, and lets another observer see the frames.
private final class GapSender: FrameObserver {
  private let channel: GapChannel
  /// Whether a frame is handed on only after the reader has read it.
  private let waitsForReader: Bool
  private let other: (any FrameObserver)?

  init(_ channel: GapChannel, waitsForReader: Bool, _ other: (any FrameObserver)?) {
    self.channel = channel
    self.waitsForReader = waitsForReader
    self.other = other
  }

  func observe(
    _ frame: SeekTable.Frame, _ content: Span<UInt8>, _ table: ContentTable, _ records: RecordBatch, reader: PackReader
  ) throws(PackError) {
    var gaps = FrameGaps()
    var places: [Range<UInt64>] = []
    var size = 0
    try table.forEachGap(in: frame.tarRange) { (gap, next) throws(PackError) in
      places.append(gap)
      size += gap.count
      for index in next.indices.prefix(FrameGaps.mostContents) {
        let item = next[index]
        let record = try records.withRecord(of: index, in: table, reader: reader) { path, kind, _ in
          IndexRecord(path: [UInt8](copying: path), kind: kind, size: item.size, offset: item.offset)
        }
        gaps.contents.append(FrameGaps.Content(record: record, number: item.number))
      }
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(size)
    for place in places {
      let start = Int(place.lowerBound - frame.tarRange.lowerBound)
      bytes.append(copying: content.extracting(start..<start + place.count))
    }
    var rest = bytes[...]
    gaps.pieces = places.map { place in
      defer { rest = rest.dropFirst(place.count) }
      return TarPiece(start: place.lowerBound, bytes: rest.prefix(place.count))
    }
    try channel.push(frame.index, gaps)
    try other?.observe(frame, content, table, records, reader: reader)
    if waitsForReader { try channel.waitForReader(of: frame.index) }
  }
}

/// The part of a frame that is passed to the reader: the bytes between the contents, and the records of the contents.
struct FrameGaps: Hashable, Sendable {
  /// The record of a content, and its number in the index.
  struct Content: Hashable, Sendable {
    let record: IndexRecord
    let number: Int
  }

  var pieces: [TarPiece] = []
  /// The contents in the order of the tar. If more than ``mostContents`` records share one content, only some of them are here. The others are looked
  /// up in the index.
  var contents: [Content] = []

  static let mostContents = 4

  /// The size in memory, in bytes.
  var memorySize: Int {
    pieces.reduce(64) { $0 + $1.bytes.count + MemoryLayout<TarPiece>.stride }
      + contents.reduce(0) { $0 + $1.record.path.count + 32 + MemoryLayout<Content>.stride }
  }
}

/// A channel that passes the bytes between contents from many workers to one reader, frame by frame and in order.
///
/// A worker may push ahead of the reader while less than 256 KiB wait, so the channel holds at most 256 KiB and one frame.
final class GapChannel: Sendable {
  private struct State {
    var nextFrame = 0
    var waiting: [Int: FrameGaps] = [:]
    /// The size of the waiting gaps in bytes.
    var size = 0
    /// The number of frames that the reader is done with.
    var doneFrames = 0
    var isFinished = false
    var hasSucceeded = false
    var isClosed = false
  }

  private let state = Monitor(State())

  private static let capacity = 256 << 10

  static let closed = PackError(.init(rawValue: "channel-closed"), "the other task stopped")

  /// Pushes the gaps of frame `number`. Waits if the channel is full, unless the frame is the next one for the reader.
  func push(_ number: Int, _ gaps: FrameGaps) throws(PackError) {
    let size = gaps.memorySize
    let isOpen = state.wait { state -> Bool? in
      if state.isClosed { return false }
      guard state.nextFrame == number || state.size + size <= Self.capacity else { return nil }
      state.waiting[number] = gaps
      state.size += size
      return true
    }
    guard isOpen else { throw Self.closed }
    state.wake()
  }

  /// Returns the gaps of the next frame; nil after the last one.
  func pull() throws(PackError) -> FrameGaps? {
    // A reader that asks for a frame is done with those before.
    state.update { $0.doneFrames = $0.nextFrame }
    let gaps = state.wait { state -> FrameGaps??? in
      if let gaps = state.waiting.removeValue(forKey: state.nextFrame) {
        state.nextFrame += 1
        state.size -= gaps.memorySize
        return .some(.some(gaps))
      }
      if state.isClosed { return .some(nil) }
      return state.isFinished ? .some(.some(nil)) : nil
    }
    state.wake()
    guard let gaps else { throw Self.closed }
    return gaps
  }

  /// Pulls all remaining frames.
  func drain() throws(PackError) {
    while try pull() != nil {}
  }

  /// Waits until the reader is done with frame `number`.
  func waitForReader(of number: Int) throws(PackError) {
    let isDone = state.wait { state -> Bool? in
      if state.doneFrames > number { return true }
      return state.isClosed ? false : nil
    }
    guard isDone else { throw Self.closed }
  }

  /// Marks that the reader found nothing wrong.
  func succeed() {
    state.update { $0.hasSucceeded = true }
  }

  /// Waits until the reader has read everything and found nothing wrong.
  func waitForSuccess() throws(PackError) {
    let hasSucceeded = state.wait { state -> Bool? in
      if state.hasSucceeded { return true }
      return state.isClosed ? false : nil
    }
    guard hasSucceeded else { throw Self.closed }
  }

  /// Marks the end: no frame follows.
  func finish() {
    state.update { $0.isFinished = true }
  }

  /// Closes the channel: all waiting and later calls throw ``closed``.
  func close() {
    state.update { $0.isClosed = true }
  }
}
