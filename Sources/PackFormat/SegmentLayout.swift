/// Where segments lie in a pack, and which part of the payload each holds (FORMAT.md §3).
///
/// Pure arithmetic: each payload length has exactly one pack size, and vice versa.
package struct SegmentLayout: Hashable, Sendable {
  /// The offset of the body in the pack, in bytes: the length of the header with its MAC.
  package let bodyOffset: UInt64
  /// The length of the body in bytes: Tink's header, ciphertext and tags.
  package let bodySize: UInt64
  /// The size of one ciphertext segment in bytes, tag included.
  package let segmentSize: UInt32

  /// The length of Tink's header in bytes. It is at the start of segment 0.
  package static let tinkHeaderSize = 40
  /// The length of a segment's tag in bytes.
  package static let tagSize = 16

  /// Makes the layout of a pack whose size is known.
  ///
  /// - Parameters:
  ///   - packSize: the size of the file in bytes.
  ///   - headerSize: the length of the header with its MAC in bytes.
  ///   - segmentSize: a legal segment size.
  package init(packSize: UInt64, headerSize: Int, segmentSize: UInt32) throws(PackError) {
    guard packSize <= Limits.packSize else {
      throw PackError(.limitExceeded, "pack is \(packSize) bytes, more than \(Limits.packSize)")
    }
    let header = UInt64(headerSize)
    let smallest = header + UInt64(Self.tinkHeaderSize + Self.tagSize)
    guard packSize >= smallest else {
      throw PackError(.truncated, "pack is \(packSize) bytes, but the smallest with its header is \(smallest)")
    }
    bodyOffset = header
    bodySize = packSize - header
    self.segmentSize = segmentSize
  }

  /// Throws if the last segment is too short. Call it only after the header was checked (FORMAT.md §1.4, step 7).
  package func checkLastSegment() throws(PackError) {
    let last = bodySize - (segmentCount - 1) * UInt64(segmentSize)
    guard segmentCount == 1 || last > UInt64(Self.tagSize) else {
      throw PackError(.truncated, "pack ends inside the tag of segment \(segmentCount - 1), at byte \(packSize)")
    }
  }

  /// Makes the layout of a pack that will hold `payloadSize` bytes.
  package init(payloadSize: UInt64, headerSize: Int, segmentSize: UInt32) throws(PackError) {
    let capacity = UInt64(segmentSize) - UInt64(Self.tagSize)
    guard payloadSize <= Limits.packSize else {
      throw PackError(.limitExceeded, "payload is \(payloadSize) bytes, more than \(Limits.packSize)")
    }
    let segments = max(1, (payloadSize + UInt64(Self.tinkHeaderSize) + capacity - 1) / capacity)
    bodyOffset = UInt64(headerSize)
    bodySize = payloadSize + UInt64(Self.tinkHeaderSize) + UInt64(Self.tagSize) * segments
    self.segmentSize = segmentSize
    guard packSize <= Limits.packSize else {
      throw PackError(.limitExceeded, "pack would be \(packSize) bytes, more than \(Limits.packSize)")
    }
  }

  /// The size of the pack in bytes.
  package var packSize: UInt64 { bodyOffset + bodySize }

  /// The number of segments, at least 1.
  package var segmentCount: UInt64 {
    (bodySize + UInt64(segmentSize) - 1) / UInt64(segmentSize)
  }

  /// The length of the payload in bytes.
  package var payloadSize: UInt64 {
    bodySize - UInt64(Self.tinkHeaderSize) - UInt64(Self.tagSize) * segmentCount
  }

  /// The plaintext of a full segment, in bytes. Segment 0 holds less, because Tink's header takes part of it.
  package var capacity: UInt64 { UInt64(segmentSize) - UInt64(Self.tagSize) }

  /// Returns the segment that holds the payload byte at `offset`.
  package func segment(holding offset: UInt64) -> UInt64 {
    (offset + UInt64(Self.tinkHeaderSize)) / capacity
  }

  /// Returns the payload bytes that segment `index` holds.
  package func payloadRange(ofSegment index: UInt64) -> Range<UInt64> {
    precondition(index < segmentCount)
    let header = UInt64(Self.tinkHeaderSize)
    let start = index == 0 ? 0 : index * capacity - header
    let end = index == segmentCount - 1 ? payloadSize : (index + 1) * capacity - header
    return start..<end
  }

  /// Returns the bytes of the pack that segment `index` occupies, tag included.
  package func packRange(ofSegment index: UInt64) -> Range<UInt64> {
    precondition(index < segmentCount)
    let start = index == 0 ? UInt64(Self.tinkHeaderSize) : index * UInt64(segmentSize)
    let end = min((index + 1) * UInt64(segmentSize), bodySize)
    return bodyOffset + start..<bodyOffset + end
  }
}
