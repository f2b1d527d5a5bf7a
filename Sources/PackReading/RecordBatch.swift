/// The paths, kinds and digests that the index holds for the contents of some frames, collected in one pass over the index.
///
/// Contents that are adjacent in the tar may have their records anywhere in the index. Looking up each record separately would read most of the index
/// for every frame. A batch reads the index once for all of its frames.
package final class RecordBatch: Sendable {
  /// The frames that the batch covers.
  let frames: Range<Int>
  /// The items of the table that the batch holds: all items of its frames, unless a single frame has more than fit.
  private let items: Range<Int>
  private let kinds: [IndexRecord.Kind]
  /// The offset of each item's digest in ``bytes``. The item's path follows its digest.
  private let starts: [UInt32]
  private let bytes: [UInt8]

  /// The maximum size of one batch's records in bytes: those of about 20 000 files. Two batches exist while one replaces the other.
  static let capacity = 1536 << 10

  /// Collects the records of as many frames from `first` on as fit, but at least of one.
  init(of table: ContentTable, from first: Int, in seekTable: SeekTable, capacity: Int = capacity, reader: PackReader) throws(PackError) {
    var end = first
    var items = 0..<0
    var size = 0
    while end < seekTable.dataFrameCount {
      let place = seekTable[end].tarRange
      // If a content starts directly after a frame, its header is in the frame.
      let more = table.items(in: place.lowerBound..<place.upperBound + 1).indices
      items = items.isEmpty ? more.lowerBound..<more.lowerBound : items
      var index = items.upperBound
      while index < more.upperBound, size <= capacity {
        size += Self.size(of: table.items[index])
        index += 1
      }
      guard size <= capacity || end == first else { break }
      items = items.lowerBound..<index
      end += 1
      guard size <= capacity else { break }
    }
    frames = first..<end
    self.items = items

    // In the order of the index, so that each block is read once.
    var order = items.map { UInt64(table.items[$0].number) << 32 | UInt64($0 - items.lowerBound) }
    order.sort()
    var kinds = [IndexRecord.Kind](repeating: .file, count: items.count)
    var starts = [UInt32](repeating: 0, count: items.count)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(size)
    for key in order {
      let number = Int(key & 0xFFFF_FFFF)
      let item = table.items[items.lowerBound + number]
      let block = try reader.block(item.block, isKept: false)
      kinds[number] = block.kind(of: item.row)
      starts[number] = UInt32(bytes.count)
      block.withDigest(of: item.row) { bytes.append(copying: $0) }
      block.withPath(of: item.row) { bytes.append(copying: $0) }
    }
    self.kinds = kinds
    self.starts = starts
    self.bytes = bytes
  }

  /// Calls `body` with the path, kind and digest of item `index` of `table`.
  package func withRecord<Result>(
    of index: Int, in table: ContentTable, reader: PackReader,
    _ body: (_ path: Span<UInt8>, _ kind: IndexRecord.Kind, _ digest: Span<UInt8>) throws(PackError) -> Result
  ) throws(PackError) -> Result {
    let item = table.items[index]
    guard items.contains(index) else {
      let block = try reader.block(item.block)
      return try block.withDigest(of: item.row) { (digest) throws(PackError) in
        try block.withPath(of: item.row) { (path) throws(PackError) in try body(path, block.kind(of: item.row), digest) }
      }
    }
    // A span of a class's own array cannot be lent.
    let bytes = bytes
    let start = Int(starts[index - items.lowerBound])
    let path = start + 32..<start + 32 + item.pathLength
    return try body(bytes.byteSpan.extracting(path), kinds[index - items.lowerBound], bytes.byteSpan.extracting(start..<start + 32))
  }

  private static func size(of item: ContentTable.Item) -> Int {
    // Digest, kind, start and path, and the sort key that is needed while they are collected.
    32 + 1 + 4 + 8 + item.pathLength
  }
}

/// Hands out the frames of a pack to workers in ascending order, each with the records of its contents.
final class FrameQueue: Sendable {
  private struct State {
    var next = 0
    var batch: RecordBatch?
    var isGathering = false
  }

  private let table: ContentTable
  private let seekTable: SeekTable
  private let pool: WorkerPool
  private let state: Monitor<State>

  init(_ table: ContentTable, _ seekTable: SeekTable, pool: WorkerPool) {
    self.table = table
    self.seekTable = seekTable
    self.pool = pool
    let state = Monitor(State())
    self.state = state
    pool.onStop { state.wake() }
  }

  private enum Claim {
    case frame(Int, RecordBatch)
    /// The records from this frame on have to be collected first.
    case gather(Int)
    case end
  }

  /// Returns the next frame. Returns nil after the last one. Waits while another worker collects the records of the following frames.
  func claim(reader: PackReader) throws(PackError) -> (number: Int, records: RecordBatch)? {
    while true {
      let claim = state.wait { state -> Claim? in
        if pool.isStopped || state.next == seekTable.dataFrameCount { return .end }
        if let batch = state.batch, batch.frames.contains(state.next) {
          defer { state.next += 1 }
          return .frame(state.next, batch)
        }
        guard !state.isGathering else { return nil }
        state.isGathering = true
        state.batch = nil
        return .gather(state.next)
      }
      switch claim {
      case .end: return nil
      case .frame(let number, let batch): return (number, batch)
      case .gather(let first):
        let batch = try RecordBatch(of: table, from: first, in: seekTable, reader: reader)
        state.update { state in
          state.batch = batch
          state.isGathering = false
        }
      }
    }
  }
}
