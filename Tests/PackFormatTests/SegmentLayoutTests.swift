import TestSupport
import Testing

@Suite("Where segments lie")
struct SegmentLayoutTests {
  @Test("a file without room for a header and one tag is truncated", arguments: [0, 1, 144, 184, 199])
  func tooShort(packSize: UInt64) {
    #expect(
      code { () throws(PackError) in _ = try SegmentLayout(packSize: packSize, headerSize: 144, segmentSize: 4096) }
        == .truncated)
  }

  @Test("a file of more than 2^40 bytes is beyond the limit, one of 2^40 is not")
  func largest() throws {
    #expect(try SegmentLayout(packSize: 1 << 40, headerSize: 144, segmentSize: 4096).packSize == 1 << 40)
    for size in [(1 << 40) + 1, .max] as [UInt64] {
      #expect(
        code { () throws(PackError) in _ = try SegmentLayout(packSize: size, headerSize: 144, segmentSize: 4096) }
          == .limitExceeded)
      #expect(
        code { () throws(PackError) in _ = try SegmentLayout(payloadSize: size, headerSize: 144, segmentSize: 4096) }
          == .limitExceeded)
    }
  }

  @Test("the largest payload makes a pack of 2^40 bytes, and one byte more is beyond the limit")
  func largestPayload() throws {
    let largest = try SegmentLayout(packSize: 1 << 40, headerSize: 144, segmentSize: 65_536).payloadSize
    #expect(try SegmentLayout(payloadSize: largest, headerSize: 144, segmentSize: 65_536).packSize == 1 << 40)
    #expect(
      code { () throws(PackError) in
        _ = try SegmentLayout(payloadSize: largest + 1, headerSize: 144, segmentSize: 65_536)
      } == .limitExceeded)
  }

  @Test(
    "payload lengths around the edges give the sizes of the format's table",
    arguments: [
      (0, 1, 200), (1, 1, 201), (4039, 1, 4239), (4040, 1, 4240), (4041, 2, 4257), (8119, 2, 8335), (8120, 2, 8336),
      (8121, 3, 8353), (10_000, 3, 10_232),
    ] as [(UInt64, UInt64, UInt64)])
  func table(payload: UInt64, segments: UInt64, packSize: UInt64) throws {
    let layout = try SegmentLayout(payloadSize: payload, headerSize: 144, segmentSize: 4096)
    #expect(layout.segmentCount == segments)
    #expect(layout.packSize == packSize)
    let back = try SegmentLayout(packSize: packSize, headerSize: 144, segmentSize: 4096)
    #expect(back == layout)
    #expect(back.payloadSize == payload)
  }

  @Test("the segments of the worked example are where the format says")
  func workedExample() throws {
    let layout = try SegmentLayout(payloadSize: 10_000, headerSize: 144, segmentSize: 4096)
    #expect((0..<3).map { layout.packRange(ofSegment: $0) } == [184..<4240, 4240..<8336, 8336..<10_232])
    #expect((0..<3).map { layout.payloadRange(ofSegment: $0) } == [0..<4040, 4040..<8120, 8120..<10_000])
    #expect([0, 4039, 4040, 8119, 8120, 9999].map { layout.segment(holding: $0) } == [0, 0, 1, 1, 2, 2])
  }

  @Test("segments cover the payload and the body, for any size of either")
  func tiling() throws {
    var random = SeededGenerator()
    for _ in 0..<400 {
      let segmentSize: UInt32 = 1 << UInt32.random(in: 12...20, using: &random)
      let capacity = UInt64(segmentSize) - 16
      let segments = UInt64.random(in: 0...20, using: &random)
      // Near an edge as often as anywhere else.
      let edge = Int64(segments * capacity) - 40 + Int64.random(in: -2...2, using: &random)
      let payload =
        Bool.random(using: &random) ? UInt64(max(0, edge)) : UInt64.random(in: 0...20 * capacity, using: &random)
      let headerSize = Int.random(in: 144...16_516, using: &random)
      let layout = try SegmentLayout(payloadSize: payload, headerSize: headerSize, segmentSize: segmentSize)

      #expect(layout.payloadSize == payload)
      #expect(try SegmentLayout(packSize: layout.packSize, headerSize: headerSize, segmentSize: segmentSize) == layout)
      #expect(layout.segmentCount == max(1, (payload + 40 + capacity - 1) / capacity))
      var packEnd = UInt64(headerSize) + 40
      var payloadEnd: UInt64 = 0
      for index in 0..<layout.segmentCount {
        let pack = layout.packRange(ofSegment: index)
        let plain = layout.payloadRange(ofSegment: index)
        #expect(pack.lowerBound == packEnd)
        #expect(plain.lowerBound == payloadEnd)
        #expect(pack.count == plain.count + 16)
        #expect(pack.count <= Int(segmentSize))
        #expect(!plain.isEmpty || payload == 0)
        if !plain.isEmpty {
          #expect(layout.segment(holding: plain.lowerBound) == index)
          #expect(layout.segment(holding: plain.upperBound - 1) == index)
        }
        packEnd = pack.upperBound
        payloadEnd = plain.upperBound
      }
      #expect(packEnd == layout.packSize)
      #expect(payloadEnd == payload)
    }
  }
}

extension SegmentLayoutTests {
  @Test("a last segment with only a tag is truncated, unless it is the only segment", arguments: [1, 2, 3])
  func lastSegment(full: UInt64) throws {
    for rest in 1...17 as ClosedRange<UInt64> {
      let layout = try SegmentLayout(packSize: 144 + full * 4096 + rest, headerSize: 144, segmentSize: 4096)
      #expect(code { () throws(PackError) in try layout.checkLastSegment() } == (rest < 17 ? .truncated : nil))
    }
    let only = try SegmentLayout(packSize: 200, headerSize: 144, segmentSize: 4096)
    #expect(code { () throws(PackError) in try only.checkLastSegment() } == nil)
  }
}
