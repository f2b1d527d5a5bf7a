import Foundation
import TestSupport
import Testing

@testable import PackReading

@Suite("What a reader keeps", .bounded)
struct SegmentCacheTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  /// Makes a pack of two files that do not compress, the second one larger, and opens it.
  private func pack() async throws -> Pack {
    var random = SeededGenerator(seed: 5)
    let tree = SampleTree(["a.bin": .init(random.bytes(300_000)), "b.bin": .init(random.bytes(3_000_000))])
    return try PackRuntimeTests.open(try await makePack(tree, in: directory))
  }

  /// Changes one byte of the pack's file in place.
  private func damage(_ pack: Pack, at offset: UInt64) throws {
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: pack.source.path))
    defer { try? file.close() }
    try file.seek(toOffset: offset)
    let byte = try #require(try file.read(upToCount: 1)?.first)
    try file.seek(toOffset: offset)
    try file.write(contentsOf: [byte ^ 1])
  }

  private func bytes(_ reader: SegmentReader, _ range: Range<UInt64>) throws(PackError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0xEE, count: Int(range.count))
    var target = bytes.mutableByteSpan
    try reader.read(at: range.lowerBound, into: &target)
    return bytes
  }

  @Test("a segment that could not be opened is not kept, nor is the one before it")
  func segment() async throws {
    let pack = try await pack()
    let reader = try SegmentReader(pack.source)
    let first = pack.layout.payloadRange(ofSegment: 0)
    let second = pack.layout.payloadRange(ofSegment: 1)
    let right = try bytes(reader, first.lowerBound + 10..<first.lowerBound + 50)
    #expect(try bytes(reader, first.lowerBound + 10..<first.lowerBound + 50) == right, "from the cache")
    try damage(pack, at: pack.layout.packRange(ofSegment: 1).lowerBound + 7)
    for _ in 0..<2 {
      let code = code { () throws(PackError) in _ = try bytes(reader, second.lowerBound + 5..<second.lowerBound + 9) }
      #expect(code == .authenticationFailed)
    }
    #expect(try bytes(reader, first.lowerBound + 10..<first.lowerBound + 50) == right)
  }

  @Test("bytes up to the end of the payload can be read, and none beyond it", arguments: [0, 1] as [UInt64])
  func end(excess: UInt64) async throws {
    let pack = try await pack()
    let reader = try SegmentReader(pack.source)
    let size = pack.layout.payloadSize
    let code = code { () throws(PackError) in _ = try bytes(reader, size - 10..<size + excess) }
    #expect(code == (excess > 0 ? .damagedPayload : nil))
  }

  @Test("a frame is read again after another one could not be read")
  func frame() async throws {
    let pack = try await pack()
    let reader = try PackReader(pack)
    // The frames after the last file belong to the index.
    let last = try reader.entry(at: "b.bin")
    let sizes = (0...pack.table.frame(holding: last.offset + last.size - 1)).map { pack.table[$0].size }
    let small = try #require(sizes.indices.min { sizes[$0] < sizes[$1] })
    let large = try #require(sizes.indices.max { sizes[$0] < sizes[$1] })
    try #require(sizes[small] < sizes[large])
    _ = try reader.load(small)
    let right = try reader.withFrame { [UInt8](copying: $0) }
    let segment = pack.layout.segment(holding: pack.table[large].offset + UInt64(pack.table[large].compressedSize) / 2)
    try damage(pack, at: pack.layout.packRange(ofSegment: segment).lowerBound + 7)
    #expect(code { () throws(PackError) in _ = try reader.load(large) } == .authenticationFailed)
    _ = try reader.load(small)
    #expect(try reader.withFrame { [UInt8](copying: $0) } == right)
  }
}
