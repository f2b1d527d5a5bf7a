import TestSupport
import Testing

@Suite("The head of the index")
struct IndexHeadTests {
  private let known = bytes(
    hex: """
      50495831 05000000 00160000 00000000 0c000000 00000000 00160000 00000000
      45dd28c9 a17fe3a6 a94d2139 8b547ecc e1bdf84e ef1dc2f4 fce8c8e2 50794a04
      """)

  @Test("a truncated head is damage", arguments: 0..<64)
  func cut(count: Int) {
    let cut = Array(known.prefix(count))
    #expect(code { () throws(PackError) in _ = try IndexHead.parse(cut.byteSpan) } == .damagedPayload)
  }

  @Test("another magic, or a reserved byte that is not zero, is damage", arguments: [0, 1, 2, 3, 12, 13, 14, 15])
  func fixed(position: Int) {
    let changed = known.replacing([known[position] ^ 1], at: position)
    #expect(code { () throws(PackError) in _ = try IndexHead.parse(changed.byteSpan) } == .damagedPayload)
  }

  @Test("2^20 records are accepted, one more is beyond the limit")
  func records() throws {
    let most = known.replacing([0, 0, 16, 0], at: 4)
    #expect(try IndexHead.parse(most.byteSpan).blockCount == 8192)
    for count in [[1, 0, 16, 0], [255, 255, 255, 255]] as [[UInt8]] {
      let more = known.replacing(count, at: 4)
      #expect(code { () throws(PackError) in _ = try IndexHead.parse(more.byteSpan) } == .limitExceeded)
    }
  }

  @Test("content of 64 GiB is accepted, a byte more is beyond the limit")
  func contentSize() throws {
    let most = known.replacing([0, 0, 0, 0, 16, 0, 0, 0], at: 16)
    #expect(try IndexHead.parse(most.byteSpan).contentSize == 64 << 30)
    for size in [[1, 0, 0, 0, 16, 0, 0, 0], [255, 255, 255, 255, 255, 255, 255, 255]] as [[UInt8]] {
      let more = known.replacing(size, at: 16)
      #expect(code { () throws(PackError) in _ = try IndexHead.parse(more.byteSpan) } == .limitExceeded)
    }
  }

  @Test("a head that is damaged and beyond the limit is reported as damaged")
  func damageBeforeLimit() {
    let both = known.replacing([255, 255, 255, 255], at: 4).replacing([1], at: 12)
    #expect(code { () throws(PackError) in _ = try IndexHead.parse(both.byteSpan) } == .damagedPayload)
  }

  @Test("the head of the known answer is read and written to the same bytes")
  func knownAnswer() throws {
    let head = try IndexHead.parse(known.byteSpan)
    #expect(head.recordCount == 5)
    #expect(head.largestFrame == 5632)
    #expect(head.contentSize == 12)
    #expect(head.tarSize == 5632)
    #expect(head.bytes == known)
  }

  @Test(
    "128 records make one block, one more makes two",
    arguments: [(0, []), (1, [1]), (127, [127]), (128, [128]), (129, [128, 1]), (256, [128, 128]), (300, [128, 128, 44])]
      as [(UInt32, [Int])])
  func blocks(records: UInt32, counts: [Int]) {
    let head = IndexHead(
      recordCount: records, largestFrame: 0, contentSize: 0, tarSize: 0, contentRoot: [UInt8](repeating: 0, count: 32))
    #expect((0..<head.blockCount).map { head.recordCount(inBlock: $0) } == counts)
  }
}

@Suite("The directory of the index")
struct IndexDirectoryTests {
  private func head(_ records: Int) -> IndexHead {
    IndexHead(
      recordCount: UInt32(records), largestFrame: 0, contentSize: 0, tarSize: 0,
      contentRoot: [UInt8](repeating: 0, count: 32))
  }

  private func directory(_ blocks: [(UInt32, String)], records: Int, blocksSize: UInt64? = nil) throws(PackError)
    -> IndexDirectory
  {
    let bytes = IndexDirectory.bytes(for: blocks.map { (length: $0.0, firstPath: Array($0.1.utf8)) })
    return try IndexDirectory(
      parsing: bytes, head: head(records), blocksSize: blocksSize ?? blocks.reduce(0) { $0 + UInt64($1.0) })
  }

  @Test("paths that are not in strictly ascending order are damage", arguments: ["a", "Z", ""])
  func order(second: String) {
    #expect(
      code { () throws(PackError) in _ = try directory([(5000, "a"), (100, second)], records: 129) } == .damagedPayload)
  }

  @Test("more or fewer blocks than the records need are damage", arguments: [0, 1, 128, 257, 300])
  func count(records: Int) {
    #expect(
      code { () throws(PackError) in _ = try directory([(5000, "a"), (5000, "b")], records: records) } == .damagedPayload)
  }

  @Test("a block that is too short or too long for its frame is damage", arguments: [0, 32 + 133_922])
  func length(_ length: UInt32) {
    #expect(code { () throws(PackError) in _ = try directory([(length, "a")], records: 1) } == .damagedPayload)
  }

  @Test("blocks that do not add up to their frame are damage", arguments: [0, 99, 101] as [UInt64])
  func sum(blocksSize: UInt64) {
    #expect(
      code { () throws(PackError) in _ = try directory([(100, "a")], records: 1, blocksSize: blocksSize) }
        == .damagedPayload)
  }

  @Test("a truncated directory is damage, and so is one with an extra byte")
  func cut() {
    let whole = IndexDirectory.bytes(for: [(length: 5000, firstPath: Array("a".utf8)), (length: 100, firstPath: Array("bc".utf8))])
    for count in 0..<whole.count {
      #expect(
        code { () throws(PackError) in
          _ = try IndexDirectory(parsing: Array(whole.prefix(count)), head: head(129), blocksSize: 5100)
        } == .damagedPayload)
    }
    #expect(
      code { () throws(PackError) in
        _ = try IndexDirectory(parsing: whole + [0], head: head(129), blocksSize: 5100)
      } == .damagedPayload)
  }

  @Test("the block of a path is the last one that starts at or before it")
  func lookup() throws {
    var random = SeededGenerator()
    for count in [1, 2, 3, 10, 100] {
      let paths = Set((0..<count).map { _ in random.bytes(Int.random(in: 1...4, using: &random)).hex }).sorted()
      let directory = try directory(paths.map { (5000, $0) }, records: 128 * paths.count)
      #expect(directory.count == paths.count)
      for block in paths.indices {
        #expect(directory.range(ofBlock: block) == UInt64(5000 * block)..<UInt64(5000 * (block + 1)))
      }
      for _ in 0..<200 {
        let path = Bool.random(using: &random) ? paths.randomElement(using: &random)! : random.bytes(3).hex
        #expect(directory.block(holding: Array(path.utf8).byteSpan) == paths.lastIndex { $0 <= path })
      }
    }
    #expect(try directory([], records: 0).block(holding: [97].byteSpan) == nil)
  }
}
