import TestSupport
import Testing

@Suite("Frames read in parts", .bounded)
struct PartialFrameTests {
  private static let block = 128 << 10

  private struct Sample {
    var name: String
    var frame: [UInt8]
    var content: [UInt8]

    /// A reader of the frame, and of another one that makes the tar complete.
    func reader() throws -> (FrameReader, FrameSamples.Memory, other: [UInt8]) {
      let other = [UInt8](repeating: 5, count: 2048 - content.count % 512)
      let frames = [(frame, content.count), (try FrameSamples.compress(other, level: 1), other.count)]
      let (reader, memory) = try FrameSamples.reader(of: frames)
      return (reader, memory, other)
    }
  }

  private func samples() throws -> [Sample] {
    var random = SeededGenerator(for: "frames read in parts")
    let block = Self.block
    let noise = random.bytes(2 * block + 1000)
    let text = noise.map { $0 & 15 | 64 }
    var samples: [Sample] = []
    var mixed = Array(noise[..<(block + 5)]) + text[..<(block + 7)]
    mixed += [UInt8](repeating: 0, count: block) + noise[block...]
    let contents: [(String, [UInt8])] = [
      ("one byte", [7]), ("a few bytes", Array(noise[..<100])), ("noise", noise), ("a block of noise", Array(noise[..<block])),
      ("text", text), ("runs", [UInt8](repeating: 7, count: 3 * block)), ("mixed", mixed),
    ]
    for (name, content) in contents {
      for level in [1, 19] {
        samples.append(Sample(name: "\(name) at \(level)", frame: try FrameSamples.compress(content, level: level), content: content))
      }
    }
    let pieces: [(type: Int, size: Int, bytes: [UInt8])] = [
      (0, 1, [3]), (0, 0, []), (1, block, [9]), (0, 1000, Array(noise[..<1000])), (1, 0, [1]), (1, 1, [4]), (0, 0, []), (1, 0, [2]),
      (0, 0, []),
    ]
    let content: [UInt8] = [3] + [UInt8](repeating: 9, count: block) + Array(noise[..<1000]) + [4]
    samples.append(Sample(name: "small blocks and empty ones", frame: FrameSamples.frame(content.count, pieces), content: content))
    // Windows of 1 KiB, which are also the most that a block may have.
    let small = (0..<20).map { number in (type: 0, size: 1024, bytes: Array(noise[(1024 * number)...].prefix(1024))) }
    samples.append(Sample(name: "small windows", frame: FrameSamples.frame(20_480, window: 0, small), content: Array(noise[..<20_480])))
    return samples
  }

  private func bytes(_ reader: FrameReader, _ part: Range<Int>, of number: Int = 0) throws(PackError) -> [UInt8] {
    try reader.load(number, part)
    return try reader.withContent(part) { [UInt8](copying: $0) }
  }

  private func code(_ body: () throws(PackError) -> Void) -> PackError.Code? {
    do throws(PackError) {
      try body()
      return nil
    } catch {
      return error.code
    }
  }

  @Test("have the same bytes as frames read whole, wherever they are cut, and no byte is decoded twice")
  func cuts() throws {
    var random = SeededGenerator(for: "cuts")
    for sample in try samples() {
      let size = sample.content.count
      var cuts = [1, size / 2, size - 1, size]
      for edge in stride(from: Self.block, to: size, by: Self.block) { cuts += [edge - 1, edge, edge + 1] }
      for _ in 0..<Effort.number(quick: 3, full: 40) { cuts.append(Int.random(in: 1...size, using: &random)) }
      for cut in Set(cuts) where 0 < cut && cut <= size {
        let (reader, memory, _) = try sample.reader()
        #expect(try bytes(reader, cut / 2..<cut) == Array(sample.content[cut / 2..<cut]), "\(sample.name), \(cut)")
        // Up to the end of a block.
        let limit = cut == size ? size : min(size, cut + Self.block)
        #expect(reader.decodedBytes <= limit, "\(sample.name), \(cut): \(reader.decodedBytes) bytes were decoded")
        let middle = (cut + size) / 2
        #expect(try bytes(reader, 0..<middle) == Array(sample.content[..<middle]), "\(sample.name), \(cut)")
        #expect(try bytes(reader, 0..<size) == sample.content, "\(sample.name), \(cut)")
        #expect(reader.decodedBytes <= size, "\(sample.name), \(cut): \(reader.decodedBytes) bytes were decoded")
        // Parts of raw blocks are read again if they are not in order.
        let times = sample.frame.count > sample.content.count ? 2 : 1
        #expect(memory.count <= times * sample.frame.count + 40, "\(sample.name), \(cut): \(memory.count) bytes were read")
      }
    }
  }

  @Test("a reader goes on with a frame after it has decoded a block of an index, and starts again after another frame")
  func interleaved() throws {
    var random = SeededGenerator(for: "parts in turns")
    let index = (0..<9000).map { UInt8(truncatingIfNeeded: $0 / 7) }
    let indexFrame = try FrameSamples.compress(index, level: 3)
    for sample in try samples() {
      let (reader, _, other) = try sample.reader()
      for _ in 0..<Effort.number(quick: 8, full: 50) {
        let ends = [0, 1].map { _ in Int.random(in: 0..<sample.content.count, using: &random) }.sorted()
        #expect(try bytes(reader, ends[0]..<ends[1] + 1) == Array(sample.content[ends[0]...ends[1]]), "\(sample.name), \(ends)")
        var block = [UInt8](repeating: 0, count: index.count)
        var target = block.mutableByteSpan
        try reader.decoder.decompress(indexFrame.byteSpan, into: &target, name: "index")
        #expect(block == index)
        if Int.random(in: 0..<4, using: &random) == 0 { #expect(try bytes(reader, 10..<500, of: 1) == Array(other[10..<500])) }
      }
    }
  }

  @Test(
    "of a frame in which nothing shrank, only the headers of its blocks and the wanted bytes are read", arguments: [nil, 0x48] as [UInt8?])
  func raw(window: UInt8?) throws {
    var random = SeededGenerator(for: "raw blocks")
    let content = random.bytes(4 * Self.block + 777)
    let blocks = stride(from: 0, to: content.count, by: Self.block).map { start in
      let bytes = Array(content[start...].prefix(Self.block))
      return (type: 0, size: bytes.count, bytes: bytes)
    }
    let sample = Sample(name: "", frame: FrameSamples.frame(content.count, window: window, blocks), content: content)
    let (reader, memory, other) = try sample.reader()
    let part = 4 * Self.block - 10..<content.count - 1
    #expect(try bytes(reader, part) == Array(content[part]))
    #expect(memory.count < part.count + 40)
    // Consecutive parts are read once, and what was checked is not checked again.
    for step in 0..<20 {
      let before = memory.count
      let next = 50_000 + 7000 * step..<50_000 + 7000 * (step + 1)
      #expect(try bytes(reader, next) == Array(content[next]))
      #expect(memory.count - before == next.count)
    }
    #expect(try bytes(reader, 0..<other.count, of: 1) == other)
    let before = memory.count
    #expect(try bytes(reader, part) == Array(content[part]))
    #expect(memory.count - before == part.count)
    #expect(reader.decodedBytes == other.count)
    #expect(try bytes(reader, 0..<content.count) == content)
  }

  @Test("a frame that is as long as one of raw blocks, but is none, is decoded, whatever is at the places of their headers")
  func almostRaw() throws {
    var random = SeededGenerator(for: "almost raw")
    let block = Self.block
    var noise = random.bytes(2 * block)
    let run = (type: 1, size: block, bytes: [2] as [UInt8])
    // As long as the bytes that the run saves.
    let fill = Array(repeating: (type: 0, size: 0, bytes: [] as [UInt8]), count: (block - 5) / 3) + [(type: 1, size: 0, bytes: [3])]
    // In the first frame, the content of the second block has what the second header of raw blocks would be, at its place.
    noise.replaceSubrange(block - 4..<block - 1, with: [0, 0, 0x10])
    let raw = [noise[..<block], noise[block...]].map { (type: 0, size: block, bytes: Array($0)) }
    typealias Blocks = [(type: Int, size: Int, bytes: [UInt8])]
    let all: [Blocks] = [[run] + raw + fill, [run] + fill + raw, [raw[0], run] + fill + [raw[1]], raw + [run] + fill]
    for blocks in all {
      let content = blocks.flatMap { $0.type == 1 ? [UInt8](repeating: $0.bytes[0], count: $0.size) : $0.bytes }
      let frame = FrameSamples.frame(3 * block, blocks)
      #expect(frame.count == 9 + 3 * (block + 3) && content.count == 3 * block)
      for part in [block + 100..<block + 200, 10..<20, 2 * block + 7..<2 * block + 900, block - 5..<2 * block + 5] {
        let (reader, _, _) = try Sample(name: "", frame: frame, content: content).reader()
        #expect(try bytes(reader, part) == Array(content[part]), "\(part)")
        #expect(try bytes(reader, 0..<content.count) == content)
      }
    }
  }

  @Test("a frame that is damaged behind a part is refused when it is read further, also again, and the reader stays usable")
  func damage() throws {
    let block = Self.block
    let raw = (type: 0, size: block, bytes: [UInt8](repeating: 1, count: block))
    let run = (type: 1, size: block, bytes: [2] as [UInt8])
    let size = 3 * block
    // The first block is read early. Frames that say they are longer or shorter than their blocks differ only at the end.
    let frames: [(String, [UInt8])] = [
      ("too little content", FrameSamples.frame(size, [raw, run])), ("too much content", FrameSamples.frame(size, [raw, run, run, run])),
      ("a byte behind it", FrameSamples.frame(size, [raw, run, run]) + [0]),
      ("no end", FrameSamples.frame(size, [raw, run, run, run]).dropLast(4)),
      ("cut in a block", FrameSamples.frame(size, [raw, run, raw]).dropLast()),
      ("a reserved type", FrameSamples.frame(size, [raw, run, (3, 9, [UInt8](repeating: 0, count: 9))])),
      ("a block that does not decode", FrameSamples.frame(size, [raw, (2, 9, [UInt8](repeating: 0xFF, count: 9)), run])),
      ("a compressed block of nothing", FrameSamples.frame(size, [raw, (2, 0, []), run, run])),
      ("a large block", FrameSamples.frame(size, [raw, (1, block + 1, [2]), (1, block - 1, [2])])),
      ("another block behind the last", FrameSamples.frame(size, [raw, run, run]) + [1, 0, 0]),
    ]
    for (name, frame) in frames {
      let sample = Sample(name: name, frame: frame, content: [UInt8](repeating: 1, count: size))
      let (reader, _, other) = try sample.reader()
      for part in [0..<size, block..<block + 1, 2 * block..<size] {
        #expect(try bytes(reader, 0..<10) == [UInt8](repeating: 1, count: 10), "\(name)")
        let isLater = part.upperBound == size
        let code = code { () throws(PackError) in try reader.load(0, part) }
        // What is wrong with the end is found at the end.
        if isLater || reader.number == nil { #expect(code == .damagedPayload, "\(name), \(part)") }
        if isLater { #expect(reader.number == nil) }
      }
      #expect(try bytes(reader, 0..<other.count, of: 1) == other)
      #expect(code { () throws(PackError) in try reader.load(0, 0..<size) } == .damagedPayload, "\(name)")
      #expect(try bytes(reader, 5..<block) == [UInt8](repeating: 1, count: block - 5), "\(name)")
    }
  }

  @Test("a header that lies is refused with the first part", arguments: [4, 5, 6, 8])
  func header(place: Int) throws {
    let run = (type: 1, size: Self.block, bytes: [2] as [UInt8])
    var frame = FrameSamples.frame(3 * Self.block, [run, run, run])
    // A checksum, another size, and a window that is larger than the content.
    if place == 8 { frame = FrameSamples.frame(3 * Self.block, window: 0x50, [run, run, run]) } else { frame[place] ^= 4 }
    let (reader, _, _) = try Sample(name: "", frame: frame, content: [UInt8](repeating: 2, count: 3 * Self.block)).reader()
    #expect(code { () throws(PackError) in try reader.load(0, 0..<1) } == .damagedPayload)
  }

  @Test("all changes of a frame are refused or accepted as by a reader of whole frames")
  func changes() throws {
    var random = SeededGenerator()
    let content = random.bytes(Self.block + 3000).map { $0 & 15 }
    let good = try FrameSamples.compress(content, level: 3)
    for _ in 0..<Effort.number(quick: 100, full: 20_000) {
      var frame = good
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        frame[Int.random(in: 0..<frame.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      let sample = Sample(name: "", frame: frame, content: content)
      let (whole, _, _) = try sample.reader()
      let expected = code { () throws(PackError) in try whole.load(0, 0..<content.count) }
      let (reader, _, _) = try sample.reader()
      _ = code { () throws(PackError) in try reader.load(0, 0..<100) }
      #expect(code { () throws(PackError) in try reader.load(0, 0..<content.count) } == expected)
      if expected == nil {
        let right = try whole.withContent(0..<content.count) { [UInt8](copying: $0) }
        #expect(try reader.withContent(0..<content.count) { [UInt8](copying: $0) } == right)
      }
    }
  }
}
