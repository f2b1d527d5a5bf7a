import Testing

@Suite("Sizes as people write them")
struct ByteCountTests {
  @Test(
    "a text that is not a size, or is beyond 64 bits, is refused",
    arguments: [
      "", " ", "x", "-1", "+1", "1.5 MB", "1e3", "MB", "1 TB", "1 M B", "1MiBx", "18446744073709551616",
      "17179869184 GiB", "99999999999999999999 B", "٣", "1\u{A0}MB", " 1",
    ])
  func refused(text: String) {
    #expect(ByteCount(parsing: text) == nil)
  }

  @Test(
    "a number with or without a unit is read",
    arguments: [
      ("0", 0), ("1", 1), ("7 B", 7), ("64K", 65_536), ("64k", 65_536), ("1 MiB", 1_048_576), ("1MiB", 1_048_576),
      ("35 MB", 35_000_000), ("2 kB", 2000), ("3GB", 3_000_000_000), ("1 g", 1 << 30), ("18446744073709551615", .max),
      ("17179869183 GiB", 17_179_869_183 << 30),
    ] as [(String, UInt64)])
  func taken(text: String, bytes: UInt64) {
    #expect(ByteCount(parsing: text) == ByteCount(bytes))
  }

  @Test(
    "a size is shown in decimal units, rounded half up",
    arguments: [
      (0, "0 B"), (1, "1 B"), (999, "999 B"), (1000, "1.0 kB"), (1049, "1.0 kB"), (1050, "1.1 kB"), (1_000_000, "1.0 MB"),
      (3_144_350, "3.1 MB"), (1_000_000_000, "1.0 GB"), (.max, "18446744073.7 GB"), (999_949, "999.9 kB"),
    ] as [(UInt64, String)])
  func shown(bytes: UInt64, text: String) {
    #expect("\(ByteCount(bytes))" == text)
  }

  @Test(
    "a size that rounds up to the next unit is shown in it",
    arguments: [(999_950, "1.0 MB"), (999_999_999, "1.0 GB")] as [(UInt64, String)])
  func roundedIntoNextUnit(bytes: UInt64, text: String) {
    #expect("\(ByteCount(bytes))" == text)
  }

  @Test("counts compare by their bytes")
  func comparison() {
    #expect(ByteCount(1) < ByteCount(2))
    #expect(!(ByteCount(2) < ByteCount(2)))
  }
}

@Suite("Reading fields")
struct FieldCursorTests {
  @Test("an incomplete field is refused with the reader's code, and the cursor does not move", arguments: [0, 1, 3])
  func missing(count: Int) {
    let bytes = [UInt8](repeating: 1, count: count)
    var cursor = FieldCursor(failure: .damagedPayload)
    #expect(code { () throws(PackError) in _ = try cursor.uint32("field", in: bytes.byteSpan) } == .damagedPayload)
    #expect(cursor.offset == 0)
    #expect(code { () throws(PackError) in _ = try cursor.range("field", count: count + 1, in: bytes.byteSpan) } == .damagedPayload)
    #expect(code { () throws(PackError) in _ = try cursor.range("field", count: count, in: bytes.byteSpan) } == nil)
    #expect(cursor.offset == count)
  }

  @Test("integers are little-endian, and are read as they were appended")
  func integers() throws {
    var bytes: [UInt8] = [9]
    bytes.append(littleEndian: UInt16(0x0102))
    bytes.append(littleEndian: UInt32(0x0304_0506))
    bytes.append(littleEndian: UInt64(0x0708_090A_0B0C_0D0E))
    #expect(bytes == [9, 2, 1, 6, 5, 4, 3, 14, 13, 12, 11, 10, 9, 8, 7])
    var cursor = FieldCursor(failure: .damagedPayload)
    #expect(try cursor.uint8("a", in: bytes.byteSpan) == 9)
    #expect(try cursor.uint16("b", in: bytes.byteSpan) == 0x0102)
    #expect(try cursor.uint32("c", in: bytes.byteSpan) == 0x0304_0506)
    #expect(try cursor.uint64("d", in: bytes.byteSpan) == 0x0708_090A_0B0C_0D0E)
    #expect(cursor.offset == bytes.count)
  }

  @Test("bytes are shown in lower-case hex")
  func hex() {
    #expect([UInt8]([0, 9, 0xAB, 0xFF]).hex == "0009abff")
    #expect([UInt8]().hex == "")
  }

  @Test("a path in a message contains nothing that could disturb a terminal")
  func printablePath() {
    #expect(printable(Array("a\u{1B}[2J\u{202E}é\u{9B}".utf8)) == "a\\u{1b}[2J\\u{202e}é\\u{9b}")
    #expect(printable([0x61, 0xFF]) == "a\u{FFFD}")
  }

  @Test(
    "the bound on compressed sizes is that of the zstd library",
    arguments: [(0, 64), (1, 64), (5, 68), (131_071, 131_582), (131_072, 131_584), (8 << 20, 8_421_376)])
  func compressBound(count: Int, bound: Int) {
    #expect(Limits.compressBound(count) == bound)
  }
}
