/// What a device fetches first of a pack that is played while it arrives: its lead file (FORMAT.md §9.9).
///
/// The lead has the SHA-256 of each segment of the pack, its end with index and seek table, and its start with what is read at the launch. With it, a
/// client can open the pack, and check every other segment as it comes.
package struct ManifestStream: Hashable, Sendable {
  /// The first bytes of the pack, those that are in the lead: up to the end of a segment.
  package var launch: UInt64
  /// Where the last bytes of the pack begin that are in the lead: at the start of a segment.
  package var tail: UInt64
  /// The SHA-256 of the digests that the lead begins with, 32 bytes. So these count before the rest of the lead is there.
  package var leaves: [UInt8]
  /// The exact size of the lead in bytes, as served.
  package var size: UInt64
  /// The SHA-256 of the lead, 32 bytes.
  package var sha256: [UInt8]

  package init(launch: UInt64, tail: UInt64, leaves: [UInt8], size: UInt64, sha256: [UInt8]) {
    self.launch = launch
    self.tail = tail
    self.leaves = leaves
    self.size = size
    self.sha256 = sha256
  }

  /// The most segments of a pack with a lead: 4 GiB of segments of 64 KiB, and 2 MiB of digests.
  package static let mostSegments: UInt64 = 1 << 16

  /// The size of the digests in the lead of a pack, in bytes; nil if the sizes do not fit each other.
  package func leavesSize(packSize: UInt64) -> UInt64? {
    guard launch > 0, launch <= tail, tail < packSize else { return nil }
    let (size, isNegative) = size.subtractingReportingOverflow(launch.adding(packSize - tail))
    let isWhole = size > 0 && size % 32 == 0
    return !isNegative && isWhole && size / 32 <= Self.mostSegments ? size : nil
  }

  /// Returns the segments of a pack with this lead, which follow from the numbers.
  ///
  /// - Throws: ``PackError/Code/wrongPack`` if no pack can have such a lead.
  package func layout(packSize: UInt64) throws(PackError) -> SegmentLayout {
    let count = (leavesSize(packSize: packSize) ?? 0) / 32
    var segmentSize = Limits.smallestSegment
    while count > 0, segmentSize <= Limits.largestSegment {
      let step = UInt64(segmentSize)
      defer { segmentSize *= 2 }
      let after = (packSize - tail - 1) / step + 1 + (tail - launch) / step
      guard (tail - launch) % step == 0, count > after, launch > (count - after) * step,
        let header = Int(exactly: launch - (count - after) * step), header <= Limits.headerSize,
        let layout = try? SegmentLayout(packSize: packSize, headerSize: header, segmentSize: segmentSize), layout.segmentCount == count
      else { continue }
      return layout
    }
    throw PackError(
      .wrongPack, "the lead does not fit the segments of its pack", advice: .developer("publish the lead that was made of this pack"))
  }

  /// Returns the faults of what an entry says of its lead, as texts.
  func faults(packSize: UInt64) -> [String] {
    var faults: [String] = []
    for (name, digest) in [("sha256", sha256), ("leaves", leaves)] where digest.count != 32 {
      faults.append("\(name) of its stream is \(digest.count) bytes, not 32")
    }
    if max(launch, tail, size) > CanonicalCursor.largestInteger || leavesSize(packSize: packSize) == nil {
      faults.append("stream has \(launch), \(tail) and \(size) bytes, which do not fit a pack of \(packSize)")
    }
    return faults
  }
}

extension ManifestStream {
  func write(to writer: inout CanonicalWriter) {
    writer.object { writer in
      writer.integer("launch", launch)
      writer.string("leaves", leaves.hex)
      writer.string("sha256", sha256.hex)
      writer.integer("size", size)
      writer.integer("tail", tail)
    }
  }

  init(depth: Int, _ cursor: inout CanonicalCursor, _ bytes: Span<UInt8>) throws(PackError) {
    var object = try cursor.beginObject("a stream", depth: depth, in: bytes)
    var (launch, tail, size): (UInt64?, UInt64?, UInt64?)
    var (leaves, sha256): ([UInt8]?, [UInt8]?)
    while let key = try cursor.nextKey(of: &object, in: bytes) {
      switch key {
      case "launch": launch = try cursor.integer("a launch", in: bytes)
      case "leaves": leaves = try cursor.hex("a SHA-256 of leaves", count: 32, in: bytes)
      case "sha256": sha256 = try cursor.hex("a SHA-256", count: 32, in: bytes)
      case "size": size = try cursor.integer("a size", in: bytes)
      case "tail": tail = try cursor.integer("a tail", in: bytes)
      default: try cursor.skip(depth: depth + 1, in: bytes)
      }
    }
    let owner = "\(cursor.subject)'s stream"
    self.init(
      launch: try required(launch, "launch", of: owner), tail: try required(tail, "tail", of: owner),
      leaves: try required(leaves, "leaves", of: owner), size: try required(size, "size", of: owner),
      sha256: try required(sha256, "sha256", of: owner))
  }
}
