import TestSupport
import Testing

@Suite("Frames decompressed over themselves")
struct OverlapTests {
  /// Decompresses a frame at the end of a buffer of `room` bytes. Returns nil if the decoder fails. Expects that bytes around the buffer do not
  /// change.
  private func decompress(_ frame: [UInt8], _ size: Int, room: Int? = nil, by decoder: borrowing DecompressionContext) -> [UInt8]? {
    let room = room ?? DecompressionContext.room(for: size)
    let guarded = 4096
    var bytes = [UInt8](repeating: 0xA5, count: room + 2 * guarded)
    var whole = bytes.mutableByteSpan
    var buffer = whole._mutatingExtracting(guarded..<guarded + room)
    copy(frame.byteSpan, to: &buffer, at: room - frame.count)
    var isDone = true
    do throws(PackError) {
      try decoder.decompress(last: frame.count, of: &buffer, toFirst: size, name: "frame")
    } catch {
      #expect(error.code == .damagedPayload)
      isDone = false
    }
    let isUntouched = bytes[..<guarded].allSatisfy { $0 == 0xA5 } && bytes[(guarded + room)...].allSatisfy { $0 == 0xA5 }
    #expect(isUntouched)
    return isDone ? Array(bytes[guarded..<guarded + size]) : nil
  }

  @Test(
    "have the same content as in a separate buffer",
    arguments: [1, 2, 100, 255, 256, 4096, 65_536, 131_071, 131_072, 131_073, 300_000, 2 << 20]
      + Effort.number(quick: [], full: [1 << 20, (2 << 20) - 1, 8 << 20]))
  func contents(_ size: Int) throws {
    var random = SeededGenerator(seed: UInt64(size))
    let noise = random.bytes(size)
    let half = Array(noise[..<(size / 2)])
    let zeros = [UInt8](repeating: 0, count: size - size / 2)
    let decoder = try DecompressionContext()
    // Noise is stored, zeros are runs, and content that compresses well comes both before and after content that does not.
    for content in [noise, [UInt8](repeating: 7, count: size), half + zeros, zeros + half, noise.map { $0 & 3 }] {
      for level in size > 2 << 20 ? [1] : [1, 3, 19] {
        let frame = try FrameSamples.compress(content, level: level)
        let isSame = decompress(frame, content.count, by: decoder) == content
        #expect(isSame, "level \(level)")
      }
    }
  }

  @Test("a frame with too much at its end fails, and bytes around the buffer do not change")
  func late() throws {
    let decoder = try DecompressionContext()
    let block = 128 << 10
    var random = SeededGenerator(seed: 5)
    // Sixteen runs take four bytes each. The empty blocks after them have only headers.
    let runs = (0..<16).map { _ in (type: 1, size: block, bytes: [9] as [UInt8]) }
    let empty = Array(repeating: (type: 0, size: 0, bytes: [] as [UInt8]), count: 2500)
    let tail = random.bytes(block)
    let raw = (type: 0, size: block, bytes: tail)
    let size = 17 * block
    let expected = [UInt8](repeating: 9, count: 16 * block) + tail
    for blocks in [runs + [raw], runs + empty + [raw], [raw] + empty + runs] {
      let bytes = FrameSamples.frame(size, blocks)
      for room in [DecompressionContext.room(for: size), size, size + 100, size + block, size + 2 * block] {
        if let content = decompress(bytes, size, room: room, by: decoder) {
          #expect(content == expected || content == tail + expected[..<(16 * block)])
        }
      }
    }
    #expect(decompress(FrameSamples.frame(size, runs + [raw]), size, by: decoder) == expected)
    #expect(decompress(FrameSamples.frame(size, runs + [raw]), size, room: size, by: decoder) == nil)
  }

  @Test("a valid frame that cannot be decompressed over itself is read anyway, and a damaged one is not")
  func notInPlace() throws {
    let block = 128 << 10
    var random = SeededGenerator(seed: 6)
    let tail = random.bytes(block)
    let runs = (0..<16).map { _ in (type: 1, size: block, bytes: [9] as [UInt8]) }
    // Between the runs and the end there are more headers than fit into the margin.
    let empty = Array(repeating: (type: 0, size: 0, bytes: [] as [UInt8]), count: 50_000)
    let size = 17 * block
    let strange = FrameSamples.frame(size, runs + empty + [(type: 0, size: block, bytes: tail)])
    let usual = try FrameSamples.compress(tail, level: 3)
    #expect(decompress(strange, size, by: try DecompressionContext()) == nil)

    var damaged = strange
    damaged[9] |= 0b110
    for (first, isSound) in [(strange, true), (damaged, false)] {
      let (reader, _) = try FrameSamples.reader(of: [(first, size), (usual, block)])
      for number in [0, 1, 0] {
        var code: PackError.Code?
        do throws(PackError) {
          try reader.load(number, 0..<(number == 1 ? block : size))
        } catch {
          code = error.code
        }
        #expect(code == (number == 1 || isSound ? nil : .damagedPayload))
        guard code == nil else { continue }
        let expected = number == 1 ? tail : [UInt8](repeating: 9, count: 16 * block) + tail
        #expect(try reader.withContent(0..<expected.count) { [UInt8](copying: $0) } == expected)
      }
    }
  }

  @Test("a frame with a wrong size, or with garbage after a valid header, is refused")
  func lies() throws {
    let decoder = try DecompressionContext()
    var random = SeededGenerator()
    let content = random.bytes(70_000).map { $0 & 15 }
    let good = try FrameSamples.compress(content, level: 3)
    for size in [0, 1, 69_999, 70_001, 140_000] {
      #expect(decompress(good, size, room: 300_000, by: decoder) == nil)
    }
    #expect(decompress(Array(good.dropLast()), content.count, by: decoder) == nil)
    #expect(decompress(good + [0], content.count, by: decoder) == nil)
    for _ in 0..<2000 {
      var changed = good
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        changed[Int.random(in: 9..<changed.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      _ = decompress(changed, content.count, by: decoder)
    }
  }
}
