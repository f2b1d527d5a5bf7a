import TestSupport
import Testing

@Suite("Records of the index")
struct RecordColumnsTests {
  private static let known = [
    IndexRecord(path: Array("a.txt".utf8), kind: .file, size: 5, offset: 512),
    IndexRecord(path: Array("b/c.bin".utf8), kind: .file, size: 0, offset: 0),
    IndexRecord(path: Array("d".utf8), kind: .directory, size: 0, offset: 0),
    IndexRecord(path: Array("run".utf8), kind: .executable, size: 2, offset: 1536),
  ]

  private func parse(_ bytes: [UInt8], count: Int = 1, exactly: Bool = true, tarSize: UInt64 = 8192) throws(PackError) -> [IndexRecord] {
    let columns = try RecordColumns(parsing: bytes, count: count, exactly: exactly, name: "index block 0")
    for row in 0..<count { try columns.check(row, tarSize: tarSize) }
    return (0..<count).map { row in
      IndexRecord(
        path: Array(bytes[columns.path(row)]), kind: IndexRecord.Kind(rawValue: columns.type(row))!, size: columns.size(row),
        offset: columns.offset(row))
    }
  }

  /// The columns of one record.
  private func bytes(path: String = "a", type: UInt8 = 0, size: UInt64 = 5, step: UInt64 = 2) -> [UInt8] {
    var bytes = Array(path.utf8) + [0, type]
    bytes.append(littleEndian: size)
    bytes.append(littleEndian: step)
    return bytes
  }

  private func code(_ bytes: [UInt8], count: Int = 1, exactly: Bool = true, tarSize: UInt64 = 8192) -> PackError.Code? {
    PackFormatTests.code { () throws(PackError) in _ = try parse(bytes, count: count, exactly: exactly, tarSize: tarSize) }
  }

  @Test("columns that are cut anywhere are damage")
  func cut() {
    let whole = RecordColumns.bytes(for: Self.known)
    for count in 0..<whole.count { #expect(code(Array(whole.prefix(count)), count: 4, exactly: false) == .damagedPayload) }
    for other in [3, 5, 128] { #expect(code(whole, count: other) == .damagedPayload) }
  }

  @Test("bytes after the columns are damage, unless additions are allowed")
  func additions() throws {
    let whole = RecordColumns.bytes(for: Self.known)
    #expect(code(whole + [0], count: 4) == .damagedPayload)
    #expect(try parse(whole + [0, 1], count: 4, exactly: false) == Self.known)
  }

  @Test("an unknown type is unsupported, even with a path that is not allowed", arguments: [2, 0x7F, 0x81, 0xFF] as [UInt8])
  func type(_ type: UInt8) {
    #expect(code(bytes(type: type)) == .unsupported)
    #expect(code(bytes(path: "..", type: type)) == .unsupported)
  }

  @Test("a path of 1024 bytes is accepted, a longer one is beyond the limit")
  func pathLength() throws {
    let longest = String(repeating: String(repeating: "d", count: 63) + "/", count: 15) + String(repeating: "x", count: 64)
    #expect(try parse(bytes(path: longest))[0].path.count == 1024)
    #expect(code(bytes(path: longest + "z")) == .limitExceeded)
    #expect(code(bytes(path: String(repeating: "z", count: 70_000))) == .limitExceeded)
  }

  @Test("a path of 64 components is accepted, one of more is beyond the limit, whatever its components are", arguments: ["d", "..", ""])
  func pathDepth(component: String) throws {
    let deepest = String(repeating: "d/", count: 63) + "e"
    #expect(try parse(bytes(path: deepest))[0].path.count == 127)
    #expect(code(bytes(path: Array(repeating: component, count: 65).joined(separator: "/"))) == .limitExceeded)
  }

  @Test("a path that breaks a rule is refused", arguments: ["", "/", "..", "a/", "/a", "a//b"])
  func path(_ path: String) {
    #expect(code(bytes(path: path)) == .illegalPath)
  }

  @Test(
    "sizes and places that the tar cannot hold are damage",
    arguments: [
      (0, 0, 2), (0, 1, 0), (0, 1, 1), (0, 6657, 2), (0, 1, 28), (0, 1, 32), (0, .max, 2), (0, 1, .max), (0, 1, .max - 1), (0, 1, 1 << 55),
      (0, 1, 1 << 56), (0, .max - 511, 2), (1, 1, 2), (1, 0, 2), (1, 1, 0),
    ] as [(UInt8, UInt64, UInt64)])
  func place(type: UInt8, size: UInt64, step: UInt64) {
    #expect(code(bytes(type: type, size: size, step: step)) == .damagedPayload)
  }

  @Test("content may fill everything between the first header and the closing 1024 bytes")
  func largestContent() throws {
    #expect(try parse(bytes(size: 6656))[0].size == 6656)
    #expect(try parse(bytes(size: 1, step: 26))[0].offset == 6656)
    #expect(code(bytes(size: 1), tarSize: 1024) == .damagedPayload)
    #expect(code(bytes(size: 1), tarSize: 0) == .damagedPayload)
  }

  @Test("the records of the known answer are read and written to the same bytes")
  func knownAnswer() throws {
    let known = PackFormatTests.bytes(
      hex: "612e74787400 622f632e62696e00 6400 72756e00 00000180" + "05000002" + String(repeating: "00", count: 28) + "02000000"
        + String(repeating: "00", count: 28))
    #expect(RecordColumns.bytes(for: Self.known) == known)
    #expect(try parse(known, count: 4) == Self.known)
  }

  @Test("random records are read as they were written, wherever their contents are")
  func roundTrip() throws {
    var random = SeededGenerator()
    for count in [1, 2, 7, 128] {
      let records = (0..<count).map { row in
        let size = [0, 1, 511, 512, 513, 1 << 20, 1 << 33].randomElement(using: &random)! as UInt64
        return IndexRecord(
          path: Array("f\(1000 + row)".utf8), kind: .file, size: size,
          offset: size == 0 ? 0 : 512 * UInt64.random(in: 1..<1 << 30, using: &random))
      }
      #expect(try parse(RecordColumns.bytes(for: records), count: count, tarSize: 1 << 40) == records)
    }
  }

  @Test("records of the same content have one digest, but empty records have none")
  func copies() throws {
    var records = Self.known
    records[3].offset = 512
    records[3].size = 5
    let columns = try RecordColumns(parsing: RecordColumns.bytes(for: records), count: 4, exactly: true, name: "index block 0")
    #expect((0..<4).map { columns.original(of: $0) } == [0, 1, 2, 0])
  }
}
