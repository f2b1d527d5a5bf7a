import PackFormat
import PackReading
import PackWork

/// For each new content of a delta, the frame of the old pack that has most of what both share. Contents of the same frame are put into the same windows,
/// so that reading a file through the delta needs few frames.
struct FrameHomes: Sendable {
  /// By place in the stream. Nil for a content that has nothing from the old pack.
  private(set) var frames: [Int?]
  /// The largest window in bytes. What it needs lies in one frame less than a window may need, wherever that begins in a frame.
  let windowSize: UInt64

  /// The most different frames of the contents in one window. Some contents need bytes of other frames, too.
  static let mostInWindow = 2
  /// The parts of a content that are looked at, and their size in bytes. Of a small content, everything is.
  private static let lookCount: UInt64 = 8
  private static let lookSize: UInt64 = 16 << 10
  /// The distance of the places that are compared, in bytes.
  private static let stride = 37

  /// Finds the frames, and orders the new contents by them.
  init(_ places: inout DeltaPlaces, of tree: DeltaTree, in base: DeltaBaseReading, pool: WorkerPool) throws(PackError) {
    var frames: [Int?] = []
    for record in places.new {
      try pool.checkpoint()
      frames.append(try Self.frame(of: tree.entries[Int(record)], tree, base))
    }
    let order = frames.indices.sorted { (frames[$0] ?? .max, $0) < (frames[$1] ?? .max, $1) }
    self.frames = order.map { frames[$0] }
    windowSize = min(
      UInt64(Limits.deltaWindowSize),
      max(UInt64(Limits.smallestFrameSize), UInt64(base.tree.pack.largestFrame) * UInt64(DeltaJob.mostFrames - 1)))
    places.arrange(order)
    tree.pack.dropBuffers()
  }

  private static func frame(of entry: Entry, _ tree: DeltaTree, _ base: DeltaBaseReading) throws(PackError) -> Int? {
    var votes: [Int: Float] = [:]
    var bytes: [UInt8] = []
    for look in 0..<(entry.size <= lookCount * lookSize ? 1 : lookCount) {
      let start = entry.size / lookCount * look
      bytes.removeAll(keepingCapacity: true)
      // Whole, because the frames of the new pack must make no difference.
      let range = entry.size <= lookCount * lookSize ? 0..<entry.size : start..<start + lookSize
      try tree.pack.read(entry, range: range) { bytes.append(copying: $0) }
      base.index.forEachShare(in: bytes.byteSpan, stride: stride) { address, share in
        votes[base.part(holding: address, of: base.contents.index(holding: address)).frame, default: 0] += share
      }
    }
    return votes.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
  }
}
