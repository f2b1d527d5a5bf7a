/// For each new content of a delta, the frame of the old pack that has most of what both share. Contents of the same frame are put into the same windows,
/// so that reading a file through the delta needs few frames.
struct FrameHomes: Sendable {
  /// The new contents in the order of their frames, by their places until now.
  let order: [Int]
  /// In that order. Nil for a content that has nothing from the old pack.
  let frames: [Int?]
  /// The largest window in bytes. As many bytes in a row of the old pack are in at most ``DeltaJob/mostFrames`` frames, wherever they begin.
  let windowSize: UInt64

  /// The most different frames of the contents in one window. Some contents need bytes of other frames, too.
  static let mostInWindow = 2
  /// The parts of a content that are looked at, and their size in bytes. Of a small content, everything is.
  private static let lookCount: UInt64 = 8
  private static let lookSize: UInt64 = 16 << 10
  /// The distance of the places that are compared, in bytes.
  private static let stride = 37

  /// Finds the frames of new contents.
  ///
  /// - Parameter new: The numbers of their records in the new tree.
  init(of new: [UInt32], in tree: DeltaTree, over base: DeltaBaseReading, pool: WorkerPool) throws(PackError) {
    var frames: [Int?] = []
    for record in new {
      try pool.checkpoint()
      frames.append(try Self.frame(of: tree.entries[Int(record)], tree, base))
    }
    tree.pack.dropBuffers()
    order = frames.indices.sorted { (frames[$0] ?? .max, $0) < (frames[$1] ?? .max, $1) }
    self.frames = order.map { frames[$0] }
    windowSize = min(
      UInt64(Limits.deltaWindowSize),
      max(UInt64(Limits.smallestFrameSize), UInt64(base.tree.pack.largestFrame) * UInt64(DeltaJob.mostFrames - 1)))
  }

  private static func frame(of entry: Entry, _ tree: DeltaTree, _ base: DeltaBaseReading) throws(PackError) -> Int? {
    let isSmall = entry.size <= lookCount * lookSize
    var votes: [Int: Float] = [:]
    var bytes: [UInt8] = []
    for look in 0..<(isSmall ? 1 : lookCount) {
      let start = entry.size / lookCount * look
      bytes.removeAll(keepingCapacity: true)
      // Whole, because the frames of the new pack must make no difference.
      try tree.pack.read(entry, range: start..<(isSmall ? entry.size : start + lookSize)) { bytes.append(copying: $0) }
      base.index.forEachShare(in: bytes.byteSpan, stride: stride) { address, share in
        votes[base.part(holding: address, of: base.contents.index(holding: address)).frame, default: 0] += share
      }
    }
    return votes.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
  }
}
