import PackFormat
import PackReading
import PackWork

/// For each new content of a delta, the frame of the old pack that has most of what both share. Contents of the same frame are put into the same windows,
/// so that reading a file through the delta needs few frames.
struct FrameHomes: Sendable {
  /// By place in the stream. Nil for a content that has nothing from the old pack.
  private(set) var frames: [Int?]

  /// The most different frames of the contents in one window. Some contents need bytes of other frames, too.
  static let mostInWindow = 2
  /// What is looked at of each content, in bytes from its beginning. A larger one fills windows of its own.
  private static let lookSize: UInt64 = 128 << 10
  /// The distance of the places that are looked at. An odd number of bytes, because samples have an even one.
  private static let stride = 5

  /// Finds the frames, and orders the new contents by them.
  init(_ places: inout DeltaPlaces, of tree: DeltaTree, in base: DeltaBaseReading, pool: WorkerPool) throws(PackError) {
    var frames: [Int?] = []
    for record in places.new {
      try pool.checkpoint()
      frames.append(try Self.frame(of: tree.entries[Int(record)], tree, base))
    }
    let order = frames.indices.sorted { (frames[$0] ?? .max, $0) < (frames[$1] ?? .max, $1) }
    self.frames = order.map { frames[$0] }
    places.arrange(order)
    tree.pack.dropBuffers()
  }

  private static func frame(of entry: Entry, _ tree: DeltaTree, _ base: DeltaBaseReading) throws(PackError) -> Int? {
    var votes: [Int: Float] = [:]
    try tree.pack.read(entry, range: 0..<min(entry.size, lookSize)) { piece in
      for place in Swift.stride(from: 0, through: piece.count - FingerprintIndex.width, by: stride) {
        let fingerprint = FingerprintIndex.fingerprint(piece, at: place)
        var candidates: Float = 0
        base.index.forEachCandidate(fingerprint) { _ in candidates += 1 }
        base.index.forEachCandidate(fingerprint) { address in
          votes[base.part(holding: address, of: base.contents.index(holding: address)).frame, default: 0] += 1 / candidates
        }
      }
    }
    return votes.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
  }
}
