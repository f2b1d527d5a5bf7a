import TestSupport
import Testing

@Suite("The level at which a frame is compressed")
struct FrameCompressorTests {
  private var random = SeededGenerator(seed: 31)

  private func text(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    var number = 0
    while bytes.count < count {
      bytes += Array("line \(number * 7919 % 1000) of a text that shrinks\n".utf8)
      number += 1
    }
    return Array(bytes[..<count])
  }

  private func frame(_ content: [UInt8], _ strength: CompressionStrength, byContext: Bool) throws -> [UInt8] {
    var frame = [UInt8](repeating: 0, count: Limits.compressBound(content.count))
    var target = frame.mutableByteSpan
    let size =
      byContext
      ? try CompressionContext(strength).compress(content.byteSpan, into: &target)
      : try FrameCompressor(FrameStrengths(usual: strength)).compress(content.byteSpan, into: &target)
    return Array(frame[..<size])
  }

  private func isCompressed(_ content: [UInt8], at level: Int, as expected: Int) throws -> Bool {
    try frame(content, CompressionStrength(level: level), byContext: false)
      == frame(content, CompressionStrength(level: expected), byContext: true)
  }

  @Test("a frame that shrinks is compressed at the requested level", arguments: [1, 2, 3, 9, 10, 19])
  func shrinking(_ level: Int) throws {
    #expect(try isCompressed(text(1 << 20), at: level, as: level))
  }

  @Test("a frame that shrinks a lot is compressed with the strength for text, and no other frame is", arguments: [-1, 3])
  mutating func texts(level: Int) throws {
    let usual = CompressionStrength(level: level, hashLog: 16, chainLog: 13)
    let forText = CompressionStrength(level: abs(level), hashLog: 17, chainLog: 14)
    let noise = random.bytes(20 << 10)
    // Two thirds of this are noise.
    let mixture = (0..<40).flatMap { _ in noise.shuffled(using: &random) + text(10 << 10) }
    for (content, expected) in [(text(1 << 20), forText), (mixture, usual), (text(100_000), usual)] {
      var compressed = [UInt8](repeating: 0, count: Limits.compressBound(content.count))
      var target = compressed.mutableByteSpan
      let size = try FrameCompressor(FrameStrengths(usual: usual, text: forText)).compress(content.byteSpan, into: &target)
      #expect(try Array(compressed[..<size]) == frame(content, expected, byContext: true))
    }
  }

  @Test("a frame that does not shrink is compressed at a cheap level", arguments: [(3, 3), (4, 1), (9, 1), (10, 6), (19, 6)])
  mutating func incompressible(_ level: Int, _ expected: Int) throws {
    #expect(try isCompressed(random.bytes(1 << 20), at: level, as: expected))
  }

  @Test("a frame that shrinks only outside the samples is compressed at the requested level", arguments: [3, 9, 10, 19])
  mutating func hiddenText(_ level: Int) throws {
    let noise = random.bytes(64 << 10)
    #expect(try isCompressed(noise + text(400 << 10) + noise + text(400 << 10) + noise, at: level, as: level))
  }

  @Test("small frames are compressed without samples", arguments: [0, 1, 1000, 100_000])
  mutating func small(_ size: Int) throws {
    #expect(try isCompressed(random.bytes(size), at: 3, as: 3))
  }

  @Test("a frame depends only on its content, not on earlier frames")
  mutating func independent() throws {
    let compressor = try FrameCompressor(FrameStrengths(usual: CompressionStrength(level: 3, hashLog: 16, chainLog: 13)))
    var frames: [[UInt8]] = []
    let contents = [text(500_000), random.bytes(500_000), text(300_000)]
    for content in contents + contents.reversed() {
      var frame = [UInt8](repeating: 0, count: Limits.compressBound(content.count))
      var target = frame.mutableByteSpan
      let size = try compressor.compress(content.byteSpan, into: &target)
      frames.append(Array(frame[..<size]))
    }
    #expect(frames[0] == frames[5] && frames[1] == frames[4] && frames[2] == frames[3])
  }

  @Test("in a joined frame, content repeats at any distance, and samples are not asked")
  mutating func joined() throws {
    let noise = random.bytes(3_000_000)
    let content = noise + random.bytes(1_000_000) + noise
    let usual = CompressionStrength(level: 3, hashLog: 16, chainLog: 13)
    let compressor = try FrameCompressor(
      FrameStrengths(usual: usual, joined: CompressionStrength(level: 3, hashLog: 18, chainLog: 14, windowLog: 23)))
    var sizes: [FrameKind: Int] = [:]
    for kind in [FrameKind.usual, .joined] {
      var frame = [UInt8](repeating: 0, count: Limits.compressBound(content.count))
      var target = frame.mutableByteSpan
      sizes[kind] = try compressor.compress(content.byteSpan, kind, into: &target)
    }
    #expect(sizes[.usual] ?? 0 > 6_990_000)
    #expect(sizes[.joined] ?? .max < 4_100_000)
  }
}
