import TestSupport

extension FuzzTarget {
  /// The seek table. The payload has the size of its frames plus the value of the first byte.
  static let seekTable = FuzzTarget(
    "seek-table", files: ["Sources/PackFormat/SeekTable.swift"],
    seeds: {
      func seed(_ name: String, _ frames: [(compressed: UInt32, content: UInt32)]) -> FuzzSeed {
        FuzzSeed(name, [0] + SeekTable.bytes(for: frames))
      }
      let many = Array(repeating: (compressed: UInt32(100), content: UInt32(512)), count: 200)
      return [
        seed("one", [(700, 1024), (48, 0), (80, 0)]), seed("three", [(70_000, 65_536), (9, 65_536), (500, 1536), (48, 0), (80, 0)]),
        seed("extra", [(700, 1024), (8, 0), (9, 0), (48, 0), (80, 0)]), seed("many", many + [(8, 0), (72, 0)]),
        seed("largest", [(700, 8 << 20), (8, 0), (72, 0)]), seed("too-large", [(700, 8 << 20 + 512), (8, 0), (72, 0)]),
        seed("too-few", [(700, 1024), (48, 0)]),
      ]
    },
    run: { (input) throws(BrokenPromise) in
      let bytes = Array(input.dropFirst())
      guard bytes.count >= SeekTable.footerSize,
        let size = try accepted({ () throws(PackError) in
          try SeekTable.size(footer: bytes.byteSpan.extracting(last: SeekTable.footerSize))
        })
      else { return }
      try hold(size <= 1_100_000, "a footer asks for a table of \(size) bytes")
      guard size <= bytes.count else { return }
      let table = bytes.byteSpan.extracting(last: size)
      var claimed: UInt64 = 0
      for place in stride(from: 8, to: size - 9, by: 8) {
        claimed += UInt64((0..<4).reduce(UInt32(0)) { $0 | UInt32(table[place + $1]) << (8 * $1) })
      }
      let payloadSize = claimed + UInt64(size) + UInt64(input.first ?? 0)
      guard let parsed = try accepted({ () throws(PackError) in try SeekTable(parsing: table, payloadSize: payloadSize) }) else { return }

      let frames = (0..<parsed.frameCount).map { parsed[$0] }
      try hold(
        SeekTable.bytes(for: frames.map { ($0.compressedSize, $0.size) }) == Array(bytes.suffix(size)),
        "a table is written differently than it was read")
      var (offset, tarOffset): (UInt64, UInt64) = (0, 0)
      for frame in frames {
        try hold(frame.offset == offset && frame.tarOffset == tarOffset, "frame \(frame.index) does not follow the one before")
        try hold((frame.size > 0) == (frame.index < parsed.dataFrameCount), "frame \(frame.index) is of the wrong kind")
        try hold(
          frame.size <= parsed.largestFrame && frame.size <= UInt32(Limits.frameSize),
          "frame \(frame.index) is larger than the largest frame")
        if frame.size > 0 {
          try hold(parsed.frame(holding: tarOffset) == frame.index, "the first byte of frame \(frame.index) is not found there")
          try hold(
            parsed.frame(holding: tarOffset + UInt64(frame.size) - 1) == frame.index,
            "the last byte of frame \(frame.index) is not found there")
        }
        offset += UInt64(frame.compressedSize)
        tarOffset += UInt64(frame.size)
      }
      try hold(tarOffset == parsed.tarSize && offset + UInt64(size) == payloadSize, "sums differ")
      try hold(
        parsed.indexHead == frames[frames.count - 1] && parsed.indexBlocks == frames[frames.count - 2], "the index is not at the end")
    })

  /// One zstd frame: its header, and its decompression into a separate buffer and in place.
  static let frames = FuzzTarget(
    "frames", largestInput: 16_384,
    files: [
      "Sources/PackReading/Payload/Zstd/FrameHeader.swift", "Sources/PackReading/Payload/Zstd/DecompressionContext.swift",
      "Sources/PackReading/Payload/FrameReader.swift",
    ],
    seeds: {
      var noise = SeededGenerator(seed: 1)
      let random = noise.bytes(3000)
      let text = Array(String(repeating: "{\"name\": \"frame\", \"size\": 12345}\n", count: 40).utf8)
      return [
        FuzzSeed("empty", try Sealing.frame([])), FuzzSeed("one", try Sealing.frame([7])), FuzzSeed("text", try Sealing.frame(text)),
        FuzzSeed("noise", try Sealing.frame(random)), FuzzSeed("mixed", try Sealing.frame(random + text + random.reversed())),
        FuzzSeed("zeros", try Sealing.frame([UInt8](repeating: 0, count: 200_000))),
        FuzzSeed("tar", try Sealing.frame([UInt8](repeating: 0, count: 1024))),
        FuzzSeed("skippable", Sealing.skippable([1, 2, 3])),
      ]
    },
    run: { (bytes) throws(BrokenPromise) in
      guard let header = try accepted({ () throws(PackError) in try FrameHeader.parse(bytes.byteSpan, name: "a frame") }) else { return }
      // Readers take sizes from tables with limits, not from this header. Here the limit is the time of the engine.
      guard header.contentSize <= 1 << 20 else { return }
      let size = Int(header.contentSize)
      let decoder = try required("a decoder") { () throws(PackError) in try DecompressionContext() }
      var content = [UInt8](repeating: 0xEE, count: size)
      let isSound =
        try isAccepted { () throws(PackError) in
          var target = content.mutableByteSpan
          try decoder.decompress(bytes.byteSpan, into: &target, name: "a frame")
        }
      if bytes.count <= Limits.compressBound(size) {
        var buffer = [UInt8](repeating: 0, count: DecompressionContext.room(for: size)) + bytes
        let isSoundInPlace =
          try isAccepted { () throws(PackError) in
            var target = buffer.mutableByteSpan
            try decoder.decompress(last: bytes.count, of: &target, toFirst: size, name: "a frame")
          }
        if isSoundInPlace {
          try hold(isSound, "a frame is accepted in place, but refused in a separate buffer")
          try hold(Array(buffer.prefix(size)) == content, "a frame decompresses differently in place")
        }
      }
      if isSound {
        try hold(DecompressionContext.size(ofFirstFrameIn: bytes.byteSpan) == bytes.count, "a valid frame has the wrong length")
      }
      // As a pack reader reads it, with the size from the seek table.
      let claim = size >= 1024 ? UInt32(size / 512 * 512) : 1024
      let table = SeekTable.bytes(for: [(UInt32(bytes.count), claim), (8, 0), (8, 0)])
      let payload = bytes + Sealing.skippable([]) + Sealing.skippable([]) + table
      guard bytes.count <= Limits.compressBound(Int(claim)), !bytes.isEmpty else { return }
      for isInParts in [false, true] {
        let reader = try required("a reader of frames") { () throws(PackError) in
          try FrameReader(source: MemorySource(payload), table: try SeekTable(parsing: table.byteSpan, payloadSize: UInt64(payload.count)))
        }
        let part = Int(claim) / 3..<Int(claim) / 2
        var start: [UInt8]?
        if isInParts {
          start = try accepted { () throws(PackError) in
            try reader.load(0, part)
            return try reader.withContent(part) { [UInt8](copying: $0) }
          }
        }
        let isRead = try isAccepted { () throws(PackError) in try reader.load(0, 0..<Int(claim)) }
        try hold(isRead == (isSound && size == Int(claim)), "a frame is \(isRead ? "accepted" : "refused") by the frame reader only")
        guard isRead else { continue }
        let all = try required("the content") { () throws(PackError) in try reader.withContent(0..<size) { [UInt8](copying: $0) } }
        try hold(all == content, "the frame reader returns other content")
        try hold(!isInParts || start == Array(content[part]), "a part of a valid frame is refused, or differs")
      }
    })
}
