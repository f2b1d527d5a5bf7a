import TestSupport
import Testing

@Suite("The seek table")
struct SeekTableTests {
  typealias Sizes = [(compressed: UInt32, content: UInt32)]

  private static let smallest: Sizes = [(19, 1024), (8, 0), (72, 0)]

  private func parse(_ bytes: [UInt8], framesSize: UInt64) throws(PackError) -> SeekTable {
    let footer = bytes.suffix(SeekTable.footerSize)
    let size = try SeekTable.size(footer: Array(footer).byteSpan)
    guard size == bytes.count else { throw PackError(.internalError, "the test gave \(bytes.count) bytes for \(size)") }
    return try SeekTable(parsing: bytes.byteSpan, payloadSize: framesSize + UInt64(bytes.count))
  }

  private func parse(_ sizes: Sizes) throws(PackError) -> SeekTable {
    try parse(SeekTable.bytes(for: sizes), framesSize: sizes.reduce(0) { $0 + UInt64($1.compressed) })
  }

  @Test("a footer that is not a seek table's is damage", arguments: 0..<9)
  func footer(position: Int) throws {
    var footer = Array(SeekTable.bytes(for: Self.smallest).suffix(9))
    footer[position] ^= 0x80
    let result = code { () throws(PackError) in _ = try SeekTable.size(footer: footer.byteSpan) }
    // The first four bytes are the count. With a changed low byte it is valid, with a changed high byte it is beyond the limit.
    #expect(result == (position == 0 || position == 1 ? nil : position < 4 ? .limitExceeded : .damagedPayload))
  }

  @Test("131072 frames are accepted, one more is beyond the limit")
  func frameLimit() throws {
    var footer: [UInt8] = []
    footer.append(littleEndian: UInt32(131_072))
    footer += [0, 0xB1, 0xEA, 0x92, 0x8F]
    #expect(try SeekTable.size(footer: footer.byteSpan) == 1_048_593)
    footer[0] = 1
    #expect(code { () throws(PackError) in _ = try SeekTable.size(footer: footer.byteSpan) } == .limitExceeded)
  }

  @Test("a table with another magic or length is damage", arguments: 0..<8)
  func start(position: Int) {
    var bytes = SeekTable.bytes(for: Self.smallest)
    bytes[position] ^= 1
    #expect(code { () throws(PackError) in _ = try parse(bytes, framesSize: 99) } == .damagedPayload)
  }

  @Test(
    "frames in another order or number, or of impossible sizes, are damage",
    arguments: [
      [], [(19, 1024)], [(19, 1024), (8, 0)], [(8, 0), (72, 0), (8, 0)], [(19, 1024), (19, 1024), (72, 0)],
      [(19, 1024), (8, 0), (19, 1024)], [(8, 0), (19, 1024), (8, 0), (72, 0)], [(19, 1024), (7, 0), (72, 0)],
      [(19, 1024), (8, 0), (0, 0)], [(0, 1024), (8, 0), (72, 0)], [(1092, 1024), (8, 0), (72, 0)],
      [(19, 512), (8, 0), (72, 0)], [(19, 1025), (8, 0), (72, 0)],
    ] as [Sizes])
  func shape(sizes: Sizes) {
    #expect(code { () throws(PackError) in _ = try parse(sizes) } == .damagedPayload)
  }

  @Test("sizes that do not add up to the place of the table are damage", arguments: [0, 98, 100] as [UInt64])
  func sum(framesSize: UInt64) {
    let bytes = SeekTable.bytes(for: Self.smallest)
    #expect(code { () throws(PackError) in _ = try parse(bytes, framesSize: framesSize) } == .damagedPayload)
  }

  @Test("a frame of 8 MiB is accepted, a larger one is beyond the limit")
  func frameSize() throws {
    #expect(try parse([(100, 8 << 20), (8, 0), (72, 0)]).largestFrame == 8 << 20)
    #expect(code { () throws(PackError) in _ = try parse([(100, (8 << 20) + 512), (8, 0), (72, 0)]) } == .limitExceeded)
    #expect(code { () throws(PackError) in _ = try parse([(100, .max - 511), (8, 0), (72, 0)]) } == .limitExceeded)
  }

  @Test("a table that is damaged and beyond a limit is reported as damaged: order, number and sums come first")
  func damageBeforeLimit() {
    let bytes = SeekTable.bytes(for: [(100, (8 << 20) + 512), (8, 0), (72, 0)])
    #expect(code { () throws(PackError) in _ = try parse(bytes, framesSize: 99) } == .damagedPayload)
    #expect(
      code { () throws(PackError) in _ = try parse([(8, 0), (100, (8 << 20) + 512), (8, 0), (72, 0)]) }
        == .damagedPayload)
  }

  @Test("the table of the known answer is read and written to the same bytes")
  func knownAnswer() throws {
    let known = bytes(
      hex: "5e2a4d18 21000000 13000000 00040000 08000000 00000000 48000000 00000000 03000000 00 b1ea928f")
    let table = try parse(known, framesSize: 99)
    #expect(table.dataFrameCount == 1)
    #expect(table.frameCount == 3)
    #expect(table.tarSize == 1024)
    #expect(table.largestFrame == 1024)
    #expect(table.indexBlocks.offset == 19)
    #expect(table.indexHead.offset == 27)
    #expect(table.indexHead.compressedSize == 72)
    #expect(SeekTable.bytes(for: Self.smallest) == known)
  }

  @Test("frames are found as if by adding up from the start", arguments: [1, 2, 63, 64, 65, 127, 128, 129, 1000])
  func lookup(dataFrames: Int) throws {
    var random = SeededGenerator(for: "lookup in \(dataFrames) frames")
    var sizes: Sizes = (0..<dataFrames).map { _ in
      let content = 512 * UInt32.random(in: 1...200, using: &random)
      return (UInt32.random(in: 1...content, using: &random), content)
    }
    // A tar has at least 1024 bytes.
    sizes[0].content += 512
    sizes += [(9, 0), (8, 0), (72, 0)]
    let table = try parse(sizes)
    var offset: UInt64 = 0
    var tarOffset: UInt64 = 0
    for (index, size) in sizes.enumerated() {
      let frame = table[index]
      #expect(frame.index == index)
      #expect(frame.offset == offset)
      #expect(frame.compressedSize == size.compressed)
      #expect(frame.tarRange == tarOffset..<tarOffset + UInt64(size.content))
      if size.content > 0 {
        #expect(table.frame(holding: tarOffset) == index)
        #expect(table.frame(holding: tarOffset + UInt64(size.content) - 1) == index)
        #expect(table.frame(holding: tarOffset + UInt64.random(in: 0..<UInt64(size.content), using: &random)) == index)
      }
      offset += UInt64(size.compressed)
      tarOffset += UInt64(size.content)
    }
    #expect(table.tarSize == tarOffset)
    #expect(table.largestFrame == sizes.map(\.content).max())
    #expect(table.dataFrameCount == dataFrames)
  }
}
