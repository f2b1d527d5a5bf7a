/// The frames of a payload (FORMAT.md §4.5): where each lies, and which part of the tar it holds.
///
/// Holds 8 bytes per frame, and 16 more for every 64 frames so that any frame is found without adding up the sizes of all earlier frames.
package struct SeekTable: Sendable {
  /// One frame.
  package struct Frame: Hashable, Sendable {
    /// Its number, from 0.
    package let index: Int
    /// Where it starts in the payload, in bytes.
    package let offset: UInt64
    /// Its length in the payload, in bytes.
    package let compressedSize: UInt32
    /// Where its content starts in the tar, in bytes.
    package let tarOffset: UInt64
    /// The length of its content, in bytes.
    package let size: UInt32

    /// The bytes of the tar that the frame holds.
    package var tarRange: Range<UInt64> { tarOffset..<tarOffset + UInt64(size) }
  }

  /// The number of frames that hold the tar. Skippable frames follow them.
  package let dataFrameCount: Int
  /// The length of the tar in bytes.
  package let tarSize: UInt64
  /// The largest decompressed data frame in bytes.
  package let largestFrame: UInt32
  /// The frame that holds the blocks of the index.
  package let indexBlocks: Frame
  /// The frame that holds the head of the index.
  package let indexHead: Frame

  private let sizes: [(compressed: UInt32, content: UInt32)]
  private let marks: [(offset: UInt64, tarOffset: UInt64)]

  package static let frameMagic: UInt32 = 0x184D_2A5E
  package static let footerMagic: UInt32 = 0x8F92_EAB1
  package static let footerSize = 9
  package static let entrySize = 8
  /// The header of a skippable frame: magic and length.
  package static let skippableHeaderSize = 8
  private static let stride = 64

  /// The number of frames, including skippable ones.
  package var frameCount: Int { sizes.count }

  /// Returns the length of the table in the payload, in bytes, from the last nine bytes of the payload.
  package static func size(footer: Span<UInt8>) throws(PackError) -> Int {
    var cursor = FieldCursor(failure: .damagedPayload)
    let count = try cursor.uint32("seek table", in: footer)
    let descriptor = try cursor.uint8("seek table", in: footer)
    guard try cursor.uint32("seek table", in: footer) == footerMagic else {
      throw PackError(.damagedPayload, "payload does not end in a seek table")
    }
    guard descriptor == 0 else {
      throw PackError(.damagedPayload, "seek table has descriptor \(descriptor), not 0")
    }
    guard count <= Limits.frames else {
      throw PackError(.limitExceeded, "seek table lists \(count) frames, more than \(Limits.frames)")
    }
    return skippableHeaderSize + Int(count) * entrySize + footerSize
  }

  /// Reads the table from the last bytes of the payload. Their number is the result of ``size(footer:)``.
  package init(parsing bytes: Span<UInt8>, payloadSize: UInt64) throws(PackError) {
    let count = (bytes.count - Self.skippableHeaderSize - Self.footerSize) / Self.entrySize
    var cursor = FieldCursor(failure: .damagedPayload)
    guard try cursor.uint32("seek table", in: bytes) == Self.frameMagic,
      try cursor.uint32("seek table", in: bytes) == UInt32(bytes.count - Self.skippableHeaderSize)
    else {
      throw PackError(.damagedPayload, "seek table does not start where its length says")
    }
    guard count >= 3 else {
      throw PackError(.damagedPayload, "seek table lists \(count) frames, fewer than 3")
    }
    var sizes: [(compressed: UInt32, content: UInt32)] = []
    sizes.reserveCapacity(count)
    var marks: [(offset: UInt64, tarOffset: UInt64)] = []
    var offset: UInt64 = 0
    var tarOffset: UInt64 = 0
    var dataFrames = 0
    var largest: UInt32 = 0
    // Thrown only if order, number and sums are right (FORMAT.md §4.9).
    var tooLarge: (frame: Int, content: UInt32)?
    for index in 0..<count {
      if index % Self.stride == 0 { marks.append((offset, tarOffset)) }
      let compressed = try cursor.uint32("seek table", in: bytes)
      let content = try cursor.uint32("seek table", in: bytes)
      if content > 0 {
        guard dataFrames == index else {
          throw PackError(.damagedPayload, "frame \(index) holds data, but follows a skippable frame")
        }
        if content > Limits.frameSize { tooLarge = tooLarge ?? (index, content) }
        guard tooLarge != nil || compressed > 0 && compressed <= Limits.compressBound(Int(content)) else {
          throw PackError(
            .damagedPayload, "frame \(index) is \(compressed) bytes, which cannot hold \(content)")
        }
        dataFrames += 1
        largest = max(largest, content)
      } else {
        guard compressed >= Self.skippableHeaderSize else {
          throw PackError(.damagedPayload, "frame \(index) is \(compressed) bytes, too short for a frame")
        }
      }
      sizes.append((compressed, content))
      // 131 072 frames of less than 2^32 bytes cannot overflow 64 bits.
      offset += UInt64(compressed)
      tarOffset += UInt64(content)
    }
    guard offset == payloadSize - UInt64(bytes.count) else {
      throw PackError(
        .damagedPayload,
        "frames add up to \(offset) bytes, but the seek table starts at byte \(payloadSize - UInt64(bytes.count))")
    }
    guard dataFrames >= 1, dataFrames <= count - 2 else {
      throw PackError(.damagedPayload, "payload does not end in data frames, index and seek table")
    }
    guard tarOffset >= 1024, tarOffset % 512 == 0 else {
      throw PackError(.damagedPayload, "frames hold \(tarOffset) bytes, which is not the size of a tar")
    }
    if let (frame, content) = tooLarge {
      throw PackError(.limitExceeded, "frame \(frame) expands to \(content) bytes, more than \(Limits.frameSize)")
    }
    let head = sizes[count - 1].compressed
    let blocks = sizes[count - 2].compressed
    indexHead = Frame(
      index: count - 1, offset: offset - UInt64(head), compressedSize: head, tarOffset: tarOffset, size: 0)
    indexBlocks = Frame(
      index: count - 2, offset: offset - UInt64(head) - UInt64(blocks), compressedSize: blocks,
      tarOffset: tarOffset, size: 0)
    dataFrameCount = dataFrames
    tarSize = tarOffset
    largestFrame = largest
    self.sizes = sizes
    self.marks = marks
  }

  /// The frame with a number below ``frameCount``.
  package subscript(index: Int) -> Frame {
    let mark = index / Self.stride
    var (offset, tarOffset) = marks[mark]
    for earlier in mark * Self.stride..<index {
      offset += UInt64(sizes[earlier].compressed)
      tarOffset += UInt64(sizes[earlier].content)
    }
    return Frame(
      index: index, offset: offset, compressedSize: sizes[index].compressed, tarOffset: tarOffset,
      size: sizes[index].content)
  }

  /// Returns the number of the data frame that holds the tar's byte at `tarOffset`, which must be less than the tar's size.
  package func frame(holding tarOffset: UInt64) -> Int {
    precondition(tarOffset < tarSize)
    let mark = marks.partitioningIndex { $0.tarOffset > tarOffset } - 1
    var index = mark * Self.stride
    var end = marks[mark].tarOffset + UInt64(sizes[index].content)
    while end <= tarOffset {
      index += 1
      end += UInt64(sizes[index].content)
    }
    return index
  }

  /// Returns the table as it is written in the payload, for frames of these sizes.
  package static func bytes(for frames: [(compressed: UInt32, content: UInt32)]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(skippableHeaderSize + frames.count * entrySize + footerSize)
    bytes.append(littleEndian: frameMagic)
    bytes.append(littleEndian: UInt32(frames.count * entrySize + footerSize))
    for frame in frames {
      bytes.append(littleEndian: frame.compressed)
      bytes.append(littleEndian: frame.content)
    }
    bytes.append(littleEndian: UInt32(frames.count))
    bytes.append(0)
    bytes.append(littleEndian: footerMagic)
    return bytes
  }
}
