import Foundation
import TestSupport
import Testing

@testable import PackBase
@testable import PackReading

@Suite("Batches of index records", .bounded)
struct RecordBatchTests {
  /// Creates a pack with files of the same name in many directories: their records are spread over the index.
  private func makePack(_ directory: TemporaryDirectory) async throws -> Pack {
    var files: [String: SampleTree.File] = [:]
    for number in 0..<400 {
      files["d\(number)/a.txt"] = .init(Array("a \(number)".utf8) + [UInt8](repeating: UInt8(number & 0xFF), count: 900))
      files["d\(number)/b.txt"] = .init(Array("b \(number % 50)".utf8), isExecutable: number % 3 == 0)
    }
    files["large.bin"] = .init((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 5) })
    return try open(try await TestSupport.makePack(SampleTree(files), in: directory))
  }

  private func table(_ pack: Pack, blocks: IndexCache? = nil) async throws -> ContentTable {
    try await WorkerPool.value { (pool) throws(PackError) in
      try ContentTable(pack, reader: try PackReader(pack, blocks: blocks), pool: pool)
    }
  }

  @Test("records are those of the index, for any capacity", arguments: [0, 1, 5000, 20_000, RecordBatch.capacity])
  func records(capacity: Int) async throws {
    let directory = try TemporaryDirectory()
    let pack = try await makePack(directory)
    let reader = try PackReader(pack)
    let table = try await table(pack)
    var frame = 0
    var batches = 0
    while frame < pack.table.dataFrameCount {
      let batch = try RecordBatch(of: table, from: frame, in: pack.table, capacity: capacity, reader: reader)
      #expect(batch.frames.lowerBound == frame && !batch.frames.isEmpty)
      for number in batch.frames {
        let place = pack.table[number].tarRange
        for index in table.items(in: place.lowerBound..<place.upperBound + 1).indices {
          let item = table.items[index]
          let block = try reader.block(item.block)
          try batch.withRecord(of: index, in: table, reader: reader) { (path, kind, digest) throws(PackError) in
            let isSame =
              block.withPath(of: item.row) { equal($0, path) } && block.withDigest(of: item.row) { equal($0, digest) }
              && block.kind(of: item.row) == kind && block.size(of: item.row) == item.size && block.offset(of: item.row) == item.offset
            #expect(isSame)
          }
        }
      }
      frame = batch.frames.upperBound
      batches += 1
    }
    #expect(capacity < 20_000 ? batches > 2 : batches >= 1)
    #expect(capacity == RecordBatch.capacity ? batches == 1 : true)
  }

  /// Changes one byte of the digests in the first block of the index, as an attacker with the key can: the affected segments are sealed again.
  private func changeIndex(of pack: Pack, digest: [UInt8]) throws {
    let bytes = (0..<32).map { UInt8($0) }
    let start = try PackStart(pack.source.path, files: FaultyFiles())
    let opened = try HeaderAuthentication.open(start.bytes.byteSpan, key: try PackKey(bytes: bytes.byteSpan), backend: pack.source.backend)
    let cipher = try SegmentCipher(schedule: opened.schedule, layout: pack.layout, backend: pack.source.backend)
    let place = pack.table.indexBlocks.offset + 8
    let number = pack.layout.segment(holding: place)
    let range = pack.layout.packRange(ofSegment: number)
    var file = try #require(try? Data(contentsOf: URL(fileURLWithPath: pack.source.path)))
    var plain = [UInt8](repeating: 0, count: range.count - 16)
    var target = plain.mutableByteSpan
    try cipher.open(segment: number, [UInt8](file[Int(range.lowerBound)..<Int(range.upperBound)]).byteSpan, into: &target)
    let digestStart = try #require(plain.indices.first { plain[$0...].starts(with: digest) })
    plain[digestStart] ^= 1
    var sealed = [UInt8](repeating: 0, count: range.count)
    var output = sealed.mutableByteSpan
    try cipher.seal(segment: number, plain.byteSpan, into: &output)
    file.replaceSubrange(Int(range.lowerBound)..<Int(range.upperBound), with: sealed)
    // In place, because the pack stays open.
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: pack.source.path))
    try handle.write(contentsOf: file)
    try handle.close()
  }

  @Test("a block that is read again must be the one that was checked against the content root")
  func changed() async throws {
    let directory = try TemporaryDirectory()
    let pack = try await makePack(directory)
    let (remembering, forgetting) = (IndexCache(pack.index, capacity: 0, remembers: true), IndexCache(pack.index, capacity: 0))
    let table = try await table(pack, blocks: remembering)
    let before = try PackReader(pack, blocks: forgetting).block(0).withDigest(of: 0) { [UInt8](copying: $0) }
    try changeIndex(of: pack, digest: before)
    // The changed segments can be opened, so only this check finds the change.
    #expect(try PackReader(pack, blocks: forgetting).block(0).withDigest(of: 0) { [UInt8](copying: $0) } != before)
    let reader = try PackReader(pack, blocks: remembering)
    #expect(code { () throws(PackError) in _ = try RecordBatch(of: table, from: 0, in: pack.table, reader: reader) } == .sourceChanged)
  }

  @Test("frames are handed out once each, in order, each with its records", arguments: [1, 2, 7])
  func queue(workers: Int) async throws {
    let directory = try TemporaryDirectory()
    let pack = try await makePack(directory)
    let table = try await table(pack)
    let claimed = Monitor<[Int]>([])
    try await WorkerPool.run(workers) { pool in
      FrameQueue(table, pack.table, pool: pool)
    } work: { (_, queue) throws(PackError) in
      let reader = try PackReader(pack)
      while let (number, records) = try queue.claim(reader: reader) {
        #expect(records.frames.contains(number))
        claimed.withLock { $0.append(number) }
      }
    }
    #expect(claimed.withLock { $0.sorted() } == Array(0..<pack.table.dataFrameCount))
  }

  @Test("the index cache stays within its limit, and its blocks are correct", arguments: [0, 15_000, 40_000, 1 << 20])
  func cache(capacity: Int) async throws {
    let directory = try TemporaryDirectory()
    let pack = try await makePack(directory)
    let cache = IndexCache(pack.index, capacity: capacity)
    let reader = try PackReader(pack, blocks: cache)
    let plain = try PackReader(pack)
    var random = SeededGenerator()
    for _ in 0..<200 {
      let number = Int.random(in: 0..<pack.index.head.blockCount, using: &random)
      let block = try reader.block(number)
      #expect(block.number == number)
      #expect(block.path(of: 0) == (try plain.block(number)).path(of: 0))
      #expect(cache.size <= capacity)
    }
    #expect(capacity == 0 ? cache.size == 0 : cache.size > 0)
  }
}
