import PackArchive
import PackFiles
import PackFormat
import PackPayload
import PackRuntime

/// Holds the tar, as libarchive reads it, against the index (FORMAT.md §4.8): a stock tool must not see another tree than a client does.
///
/// Every frame is decompressed once: the workers that check digests hand the frames on, in order, to a thread that reads the tar.
enum ArchiveComparison {
  /// - Parameter output: where the tree is written, if it is wanted.
  static func run(
    _ pack: Pack, into output: OutputDirectory? = nil, jobs: Int, phase: PackProgress.Phase, progress: ProgressHandler?
  ) async throws(PackError) {
    let channel = FrameChannel()
    async let reading: PackError? = failure { () throws(PackError) in
      do throws(PackError) {
        try await Crew.run(1) { (crew, _) throws(PackError) in
          crew.onStop { channel.close() }
          defer { channel.close() }
          try compare(pack, channel)
        }
      } catch {
        throw error.about(pack.source.path)
      }
    }
    let walking = await failure { () throws(PackError) in
      try await TreeWalk.run(
        pack, into: output, jobs: jobs, phase: phase, strictness: .release, progress: progress,
        onFrame: { (frame, content) throws(PackError) in try channel.push(frame.index, content) },
        onStop: { channel.close() })
    }
    if walking == nil { channel.finish() } else { channel.close() }
    let comparing = await reading
    // A closed channel is how the other side hears of a failure, not a failure of its own.
    let failures = [walking, comparing].compactMap(\.self)
    if let first = failures.first(where: { $0.code != FrameChannel.closed.code }) ?? failures.first { throw first }
  }

  private static func failure(_ body: () async throws(PackError) -> Void) async -> PackError? {
    do throws(PackError) {
      try await body()
      return nil
    } catch {
      return error
    }
  }

  private static func compare(_ pack: Pack, _ channel: FrameChannel) throws(PackError) {
    let tarSize = pack.table.tarSize
    let reader = try PackReader(pack)
    let headers = HeaderBytes()
    let tar = try TarReader { () throws(PackError) in
      let frame = try channel.pull()
      headers.append(frame)
      return frame
    }
    var seen = [Sighting](repeating: .none, count: pack.entryCount)
    var end: UInt64 = 0
    var count = 0
    while let entry = try tar.next() {
      guard entry.start == end else {
        throw PackError(.damagedArchive, "the tar has an entry at byte \(entry.start), but the one before ends at \(end)")
      }
      let (record, number) = try check(entry, reader: reader, seen: seen)
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
  private enum Sighting: UInt8 {
    case none, content, link
  }

  /// Finds the record of an entry of the tar, and demands that they agree. Returns the record and its number.
  private static func check(
    _ entry: TarEntry, reader: PackReader, seen: [Sighting]
  ) throws(PackError) -> (IndexRecord, Int) {
    guard var path = entry.path, entry.isFile || entry.isDirectory else {
      throw PackError(.damagedArchive, "the tar holds '\(printable((entry.path ?? "").utf8))', which is no file or directory")
    }
    let shown = printable(path.utf8)
    if entry.isDirectory {
      guard path.hasSuffix("/") else {
        throw PackError(.damagedArchive, "the tar holds the directory '\(shown)' without a final slash")
      }
      path.removeLast()
    }
    guard let (record, number) = try reader.record(at: path) else {
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

/// Hands frames from many workers to one reader, in order. Holds at most one frame.
final class FrameChannel: Sendable {
  private struct State {
    var nextFrame = 0
    var frame: [UInt8]?
    var isFinished = false
    var isClosed = false
  }

  private let state = Monitor(State())

  static let closed = PackError(.init(rawValue: "channel-closed"), "the other side stopped")

  /// Hands over frame `number`, once all before it were pulled.
  func push(_ number: Int, _ content: Span<UInt8>) throws(PackError) {
    let isOpen = state.wait { state -> Bool? in
      if state.isClosed { return false }
      return state.nextFrame == number && state.frame == nil ? true : nil
    }
    guard isOpen else { throw Self.closed }
    // Only the worker with the frame that is due gets here.
    let copy = [UInt8](copying: content)
    state.update { state in
      state.frame = copy
      state.nextFrame += 1
    }
  }

  /// The next frame, empty after the last one.
  func pull() throws(PackError) -> [UInt8] {
    let frame = state.wait { state -> [UInt8]?? in
      if let frame = state.frame {
        state.frame = nil
        return .some(frame)
      }
      if state.isClosed { return .some(nil) }
      return state.isFinished ? .some([]) : nil
    }
    state.wake()
    guard let frame else { throw Self.closed }
    return frame
  }

  /// Pulls what is left.
  func drain() throws(PackError) {
    while try !pull().isEmpty {}
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
