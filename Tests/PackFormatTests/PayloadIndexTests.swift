import TestSupport
import Testing

@Suite("Records of the index")
struct IndexRecordTests {
  private func parse(_ bytes: [UInt8], tarSize: UInt64 = 8192) throws(PackError) -> IndexRecord {
    var cursor = FieldCursor(failure: .damagedPayload)
    let record = try IndexRecord.parse(bytes.byteSpan, cursor: &cursor, tarSize: tarSize)
    guard cursor.offset == bytes.count else { throw PackError(.internalError, "bytes are left") }
    return record
  }

  private func bytes(path: String = "a", kind: UInt8 = 0, size: UInt64 = 5, offset: UInt64 = 512) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(littleEndian: UInt16(path.utf8.count))
    bytes.append(kind)
    bytes.append(littleEndian: size)
    bytes.append(littleEndian: offset)
    return bytes + Array(path.utf8)
  }

  @Test("a truncated record is damage", arguments: 0..<20)
  func cut(count: Int) {
    let cut = Array(bytes().prefix(count))
    #expect(code { () throws(PackError) in _ = try parse(cut) } == .damagedPayload)
  }

  @Test("an unknown type is unsupported, even with a path that is not allowed", arguments: [2, 0x7F, 0x81, 0xFF] as [UInt8])
  func kind(_ kind: UInt8) {
    #expect(code { () throws(PackError) in _ = try parse(bytes(kind: kind)) } == .unsupported)
    #expect(code { () throws(PackError) in _ = try parse(bytes(path: "..", kind: kind)) } == .unsupported)
  }

  @Test("a path of 1024 bytes is accepted, a longer one is beyond the limit")
  func pathLength() throws {
    let longest = String(repeating: String(repeating: "d", count: 63) + "/", count: 15) + String(repeating: "x", count: 64)
    #expect(try parse(bytes(path: longest)).path.count == 1024)
    #expect(code { () throws(PackError) in _ = try parse(bytes(path: longest + "z")) } == .limitExceeded)
  }

  @Test("a path of 64 components is accepted, one of more is beyond the limit, whatever its components are", arguments: ["d", "..", ""])
  func pathDepth(component: String) throws {
    let deepest = String(repeating: "d/", count: 63) + "e"
    #expect(try parse(bytes(path: deepest)).path.count == 127)
    let deeper = Array(repeating: component, count: 65).joined(separator: "/")
    #expect(code { () throws(PackError) in _ = try parse(bytes(path: deeper)) } == .limitExceeded)
  }

  @Test("a path that breaks a rule is refused", arguments: ["", "/", "..", "a/", "/a", "a//b", "a\u{0}b"])
  func path(_ path: String) {
    #expect(code { () throws(PackError) in _ = try parse(bytes(path: path)) } == .illegalPath)
  }

  @Test(
    "sizes and offsets that the tar cannot hold are damage",
    arguments: [
      (0, 0, 512), (0, 1, 0), (0, 1, 511), (0, 1, 513), (0, 6657, 512), (0, 1, 7168), (0, 1, 8192), (0, .max, 512),
      (0, 1, 1 << 63), (0, .max - 511, 512), (0, 1, .max - 511), (1, 1, 512), (1, 0, 512), (1, 1, 0),
    ] as [(UInt8, UInt64, UInt64)])
  func place(kind: UInt8, size: UInt64, offset: UInt64) {
    #expect(code { () throws(PackError) in _ = try parse(bytes(kind: kind, size: size, offset: offset)) } == .damagedPayload)
  }

  @Test("content may fill everything between the first header and the closing 1024 bytes")
  func largestContent() throws {
    #expect(try parse(bytes(size: 6656, offset: 512)).size == 6656)
    #expect(try parse(bytes(size: 1, offset: 6656)).offset == 6656)
    #expect(code { () throws(PackError) in _ = try parse(bytes(size: 1), tarSize: 1024) } == .damagedPayload)
    #expect(code { () throws(PackError) in _ = try parse(bytes(size: 1), tarSize: 0) } == .damagedPayload)
  }

  @Test(
    "the records of the known answer are read and written to the same bytes",
    arguments: [
      ("0500 00 0500000000000000 0002000000000000 612e747874", "a.txt", .file, 5, 512),
      ("0700 00 0000000000000000 0000000000000000 622f632e62696e", "b/c.bin", .file, 0, 0),
      ("0100 01 0000000000000000 0000000000000000 64", "d", .directory, 0, 0),
      ("0300 80 0200000000000000 0006000000000000 72756e", "run", .executable, 2, 1536),
    ] as [(String, String, IndexRecord.Kind, UInt64, UInt64)])
  func knownAnswer(hex: String, path: String, kind: IndexRecord.Kind, size: UInt64, offset: UInt64) throws {
    let known = PackFormatTests.bytes(hex: hex)
    let record = try parse(known)
    #expect(record == IndexRecord(path: Array(path.utf8), kind: kind, size: size, offset: offset))
    var written: [UInt8] = []
    record.append(to: &written)
    #expect(written == known)
  }
}

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

  @Test("a block that is too short or too long for its frame is damage", arguments: [0, 31, 32, 32 + 134_036])
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
