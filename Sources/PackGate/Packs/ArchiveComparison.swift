import PackArchive
import PackFiles
import PackFormat
import PackPayload
import PackReading
import PackWork

/// Holds the tar, as libarchive reads it, against the index (FORMAT.md §4.8): a stock tool must not see another tree than a client does.
///
/// Every frame is decompressed once: the workers that check digests hand on what lies between contents, in order, to a thread that reads the tar.
enum ArchiveComparison {
  /// - Parameter output: where the tree is written, if it is wanted.
  static func run(
    _ pack: Pack, into output: OutputDirectory? = nil, jobs: Int, phase: PackProgress.Phase, progress: ProgressHandler?
  ) async throws(PackError) {
    let channel = GapChannel()
    let blocks = IndexCache.shared(pack)
    async let reading: PackError? = failure { () throws(PackError) in
      do throws(PackError) {
        try await WorkerPool.run(1) { (pool, _) throws(PackError) in
          pool.onStop { channel.close() }
          defer { channel.close() }
          try compare(pack, channel, blocks)
        }
      } catch {
        throw error.about(pack.source.path)
      }
    }
    let walking = await failure { () throws(PackError) in
      try await TreeWalk.run(
        pack, into: output, blocks: blocks, jobs: jobs, phase: phase, strictness: .release, progress: progress,
        makeObserver: { GapSender(channel) }, onStop: { channel.close() })
    }
    if walking == nil { channel.finish() } else { channel.close() }
    let comparing = await reading
    // A closed channel is how the other side hears of a failure, not a failure of its own.
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
        throw PackError(.damagedArchive, "the tar has an entry at byte \(entry.start), but the one before ends at \(end)")
      }
      contents = contents.drop { $0.record.offset < entry.dataOffset }
      let (record, number) = try check(entry, contents: contents, reader: reader, seen: seen)
      let header = TarHeader(
        path: String(decoding: record.path, as: UTF8.self), kind: record.kind, size: entry.size, linkTarget: entry.linkTarget)
      guard try headers.areWritten(entry.start..<entry.dataOffset, for: header) else {
        throw PackError(
          .damagedArchive, "the tar header of '\(printable(record.path))' is not the one of the entry in the index")
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
    guard end + UInt64(TarWriter.endSize) == tarSize else {
      throw PackError(
        .damagedArchive, "the tar's last entry ends at byte \(end), which is not \(TarWriter.endSize) before its end at \(tarSize)")
    }
    // libarchive stops at the end it sees; the workers still have frames to hand on.
    try channel.drain()
  }

  /// What of a record has been met in the tar so far.
  enum Sighting: UInt8 {
    case none, content, link
  }

  /// Finds the record of an entry of the tar, and demands that they agree. Returns the record and its number.
  ///
  /// - Parameter contents: the records of contents from that of the entry on, as far as they have come: most entries are one of them.
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
      path.withBytes { equal($0, content.record.path.span) }
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

/// Hands the gaps of one worker's frames to a channel.
private final class GapSender: FrameObserver {
  private let channel: GapChannel

  init(_ channel: GapChannel) {
    self.channel = channel
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
  }
}

/// What of one frame is handed on: what lies between the contents, and what the index says of these.
struct FrameGaps: Hashable, Sendable {
  /// The record of a content, and its number in the index.
  struct Content: Hashable, Sendable {
    let record: IndexRecord
    let number: Int
  }

  var pieces: [TarPiece] = []
  /// In the order of the tar. Of the records that share one content, some: any of them may be the one in the tar, and those that are
  /// not here are looked up.
  var contents: [Content] = []

  static let mostContents = 4

  /// What is taken in memory, in bytes.
  var memorySize: Int {
    pieces.reduce(64) { $0 + $1.bytes.count + MemoryLayout<TarPiece>.stride }
      + contents.reduce(0) { $0 + $1.record.path.count + 32 + MemoryLayout<Content>.stride }
  }
}

/// Hands what lies between contents from many workers to one reader, frame by frame and in order.
///
/// A worker may be ahead of the reader while what waits is less than 256 KiB, so the channel holds at most that and one frame.
final class GapChannel: Sendable {
  private struct State {
    var nextFrame = 0
    var waiting: [Int: FrameGaps] = [:]
    /// The bytes that wait.
    var size = 0
    var isFinished = false
    var isClosed = false
  }

  private let state = Monitor(State())

  private static let capacity = 256 << 10

  static let closed = PackError(.init(rawValue: "channel-closed"), "the other task stopped")

  /// Hands over the gaps of frame `number`. Waits where too much waits already, unless the frame is the one that is due.
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

  /// The gaps of the next frame, nil after the last one.
  func pull() throws(PackError) -> FrameGaps? {
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

  /// Pulls what is left.
  func drain() throws(PackError) {
    while try pull() != nil {}
  }

  /// Says that no frame will follow.
  func finish() {
    state.update { $0.isFinished = true }
  }

  /// Gives up: whoever waits or comes hears of it.
  func close() {
    state.update { $0.isClosed = true }
  }
}
