import CZstd
import TestSupport
import Testing

@Suite("Compressed frames")
struct CompressionTests {
  static let sizes =
    [
      1, 2, 255, 256, 257, 511, 65_535, 65_536, 65_791, 65_792, 131_071, 131_072, 131_073, (1 << 20) + 1,
    ] + Effort.number(quick: [], full: [1 << 20, 3_000_000, 8 << 20])

  @Test("the bound on compressed sizes is zstd's own")
  func bound() {
    var random = SeededGenerator()
    let some = (0..<20_000).map { _ in Int.random(in: 0...(16 << 20), using: &random) }
    for size in Array(0...300_000) + some {
      guard Limits.compressBound(size) != ZSTD_compressBound(size) else { continue }
      Issue.record("\(size) bytes: \(Limits.compressBound(size)), not \(ZSTD_compressBound(size))")
      return
    }
  }

  @Test("a frame has its content size in the header, no checksum, no dictionary and a window no larger than the content", arguments: sizes)
  func shape(_ size: Int) throws {
    var random = SeededGenerator(seed: UInt64(size))
    let contents = [
      [UInt8](repeating: 0, count: size), random.bytes(size), (0..<size).map { UInt8(truncatingIfNeeded: $0 / 7 * 31) },
    ]
    for level in size > 1 << 20 ? [1, 3] : [1, 3, 9, 19] {
      let encoder = try CompressionContext(level: level)
      for content in contents {
        let frame = try compress(content, encoder)
        let facts = try #require(FrameFacts(frame))
        #expect(frame.count <= Limits.compressBound(size))
        #expect(facts.contentSize == UInt64(size))
        #expect(facts.descriptor & 0b1_1111 == 0)
        #expect(facts.windowSize <= UInt64(size))
        #expect(facts.length == frame.count)
        #expect(try decompress(frame, size) == content)
      }
    }
  }

  @Test("a content that fits into the window is a single segment", arguments: [1, 256, 65_536, 1 << 18])
  func singleSegment(_ size: Int) throws {
    for level in [1, 3, 19] {
      let frame = try compress([UInt8](repeating: 3, count: size), CompressionContext(level: level))
      #expect(frame[4] & 0b10_0000 != 0, "level \(level)")
    }
  }

  @Test("an encoder gives the same bytes regardless of what it compressed before")
  func independence() throws {
    var random = SeededGenerator(seed: 4)
    let first = random.bytes(100_000) + [UInt8](repeating: 1, count: 100_000)
    let used = try CompressionContext(level: 3)
    _ = try compress(random.bytes(300_000), used)
    #expect(try compress(first, used) == compress(first, CompressionContext(level: 3)))
  }

  private func compress(_ content: [UInt8], _ encoder: borrowing CompressionContext) throws -> [UInt8] {
    var frame = [UInt8](repeating: 0, count: Limits.compressBound(content.count))
    var span = frame.mutableByteSpan
    let count = try encoder.compress(content.byteSpan, into: &span)
    return Array(frame[..<count])
  }

  private func decompress(_ frame: [UInt8], _ size: Int) throws -> [UInt8] {
    var content = [UInt8](repeating: 0, count: size)
    var span = content.mutableByteSpan
    try DecompressionContext().decompress(frame.byteSpan, into: &span, name: "frame")
    return content
  }
}

/// A frame parsed only by the rules of FORMAT.md §4.4.
private struct FrameFacts {
  let descriptor: UInt8
  let contentSize: UInt64
  let windowSize: UInt64
  /// Where the last block ends.
  let length: Int

  init?(_ frame: [UInt8]) {
    guard frame.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) else { return nil }
    func number(_ offset: Int, _ width: Int) -> UInt64 {
      (0..<width).reduce(0) { $0 | UInt64(frame[offset + $1]) << (8 * UInt64($1)) }
    }
    descriptor = frame[4]
    var offset = 5
    let isSingleSegment = descriptor & 32 != 0
    var window: UInt64 = 0
    if !isSingleSegment {
      let byte = UInt64(frame[5])
      let base: UInt64 = 1 << (10 + byte / 8)
      window = base + base / 8 * (byte % 8)
      offset = 6
    }
    let code = descriptor >> 6
    guard code > 0 || isSingleSegment else { return nil }
    let width = 1 << Int(code)
    contentSize = number(offset, width) + (code == 1 ? 256 : 0)
    windowSize = isSingleSegment ? contentSize : window
    offset += width
    while offset + 3 <= frame.count {
      let header = number(offset, 3)
      let type = header >> 1 & 3
      guard type != 3 else { return nil }
      offset += 3 + (type == 1 ? 1 : Int(header >> 3))
      if header & 1 == 1 { break }
    }
    length = offset
  }
}
