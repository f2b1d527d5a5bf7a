import TestSupport
import Testing

@Suite("Zstd frames")
struct FrameTests {
  /// Returns a frame with one raw block, `hello`, after some empty blocks.
  private func hello(emptyBlocks: Int = 0) -> [UInt8] {
    let start: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x20, 5]
    return start + [UInt8](repeating: 0, count: 3 * emptyBlocks) + [0x29, 0, 0] + Array("hello".utf8)
  }

  private func decompress(_ frame: [UInt8], size: Int = 5) throws(PackError) -> [UInt8] {
    var content = [UInt8](repeating: 0, count: size)
    var target = content.mutableByteSpan
    try DecompressionContext().decompress(frame.byteSpan, into: &target, name: "frame")
    return content
  }

  @Test("a frame that is longer than its content can need is refused, because it may hide data")
  func tooLong() throws {
    // bound(5) is 68 bytes: 14 of the frame and 18 empty blocks.
    #expect(try decompress(hello(emptyBlocks: 18)) == Array("hello".utf8))
    #expect(code { () throws(PackError) in _ = try decompress(hello(emptyBlocks: 19)) } == .damagedPayload)
  }

  @Test("a frame that is truncated, followed by a byte, or declared with another size is refused")
  func length() {
    for count in 0..<hello().count {
      #expect(code { () throws(PackError) in _ = try decompress(Array(hello().prefix(count))) } == .damagedPayload)
    }
    #expect(code { () throws(PackError) in _ = try decompress(hello() + [0]) } == .damagedPayload)
    for size in [0, 1, 4, 6] {
      #expect(code { () throws(PackError) in _ = try decompress(hello(), size: size) } == .damagedPayload)
    }
  }

  @Test(
    "a dictionary, a checksum, a reserved bit or a missing content size is refused",
    arguments: [0x21, 0x22, 0x23, 0x24, 0x28, 0x00] as [UInt8])
  func descriptor(_ descriptor: UInt8) {
    var frame = hello()
    frame[4] = descriptor
    #expect(code { () throws(PackError) in _ = try FrameHeader.parse(frame.byteSpan, name: "frame") } == .damagedPayload)
  }

  @Test(
    "sizes and windows are parsed as in RFC 8878",
    arguments: [
      ([0x20, 5], 5, 5), ([0x60, 0, 0], 256, 256), ([0x60, 255, 255], 65_791, 65_791), ([0xA0, 0, 0, 1, 0], 65_536, 65_536),
      ([0x40, 0, 0, 0], 256, 1024), ([0x40, 7, 0, 0], 256, 1920), ([0x80, 0x50, 0, 0, 16, 0], 1_048_576, 1_048_576),
      ([0xE0, 1, 0, 0, 0, 0, 0, 0, 0x80], (1 << 63) + 1, (1 << 63) + 1),
    ] as [([UInt8], UInt64, UInt64)])
  func header(bytes: [UInt8], contentSize: UInt64, windowSize: UInt64) throws {
    let frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD] + bytes
    let header = try FrameHeader.parse(frame.byteSpan, name: "frame")
    #expect(header.contentSize == contentSize)
    #expect(header.windowSize == windowSize)
  }
}
