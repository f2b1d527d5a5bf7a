import TestSupport
import Testing

@Suite("Tar headers")
struct TarHeaderTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var header: TarHeader
    var testDescription: String {
      let link = header.linkTarget.map { " to \($0.prefix(20))" } ?? ""
      return "\(header.kind) \(header.path.prefix(20)), \(header.path.utf8.count) bytes\(link), size \(header.size)"
    }

    init(_ path: String, _ kind: IndexRecord.Kind = .file, _ size: UInt64 = 0, to target: String? = nil) {
      header = TarHeader(path: path, kind: kind, size: size, linkTarget: target)
    }
  }

  static func x(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }

  static let small: [Case] = [
    Case("a.txt", .file, 5), Case("d", .directory), Case("e.bin"), Case("run", .executable, 3), Case("copy.txt", to: "a.txt"),
    Case("copied-run", .executable, to: "run"),
    // Around the 100 bytes of the name, with and without a place to split.
    Case(x("y", 99), .file, 1), Case(x("y", 100)), Case(x("y", 101)), Case(x("e", 98), .directory), Case(x("e", 99), .directory),
    Case(x("e", 100), .directory), Case(x("p", 60) + "/" + x("p", 60)), Case(x("n", 50) + "/" + x("n", 149)),
    Case("dir/" + x("z", 100)), Case("dir/" + x("z", 101)), Case("dir/" + x("z", 255), .executable, 700),
    Case(x("p", 155) + "/" + x("q", 100)), Case(x("p", 156) + "/" + x("q", 99)), Case(x("p", 200) + "/" + x("q", 99)),
    Case(x("p", 155) + "/" + x("q", 99), .directory), Case(x("p", 155) + "/" + x("q", 100), .directory),
    Case(x("d/", 127) + "a"), Case(x("d/", 128) + "a"), Case(x("d/", 511) + "ab"),
    Case(x("component/", 100) + x("k", 24)), Case(x("component/", 100) + x("k", 23), .directory),
    // Outside ASCII.
    Case("dir/ü.txt", .file, 5), Case("café", .directory), Case(x("ü", 49) + ".t"), Case(x("ü", 50)), Case(x("ü", 51)),
    Case(x("日本", 40) + "/" + x("語", 60) + ".png"), Case(x("é/", 300) + "é"), Case("a" + x("ü", 60), .directory),
    // Links.
    Case("z1", to: "dir/ü.txt"), Case("z3", to: x("p", 60) + "/" + x("p", 60)), Case("z4", to: x("t", 100)),
    Case("z5", to: x("t", 101)), Case("ü", to: "é"), Case(x("l", 101), to: x("t", 101)), Case(x("ü", 400), to: x("é", 500)),
  ]

  static let largeSizes: [UInt64] = [
    0x1_FFFF_FFFF, 0x2_0000_0000, 0x2_0000_0001, 0xF_FFFF_FFFF, 0x10_0000_0000, 0xFF_FFFF_FFFF, 0x100_0000_0000, 1 << 62,
  ]
  static let large = largeSizes.map { Case("big.bin", .file, $0) } + largeSizes.map { Case(x("ü", 80), .executable, $0) }

  @Test("a header has the bytes that the format specifies", arguments: small + large)
  func specified(_ sample: Case) {
    #expect(sample.header.bytes == SpecifiedHeader.bytes(sample.header))
    #expect(sample.header.byteCount == sample.header.bytes.count)
  }

  @Test("headers follow what is there")
  func appended() {
    var bytes: [UInt8] = [1, 2, 3]
    for sample in Self.small + Self.large { sample.header.append(to: &bytes) }
    #expect(bytes == [1, 2, 3] + (Self.small + Self.large).flatMap { SpecifiedHeader.bytes($0.header) })
  }

  @Test("a header without a pax header has the bytes that libarchive writes", arguments: small)
  func likeWholeArchive(_ sample: Case) {
    guard sample.header.byteCount == 512 else { return }
    #expect(sample.header.bytes == WholeArchive([(sample.header, [])], isEnded: false).bytes)
  }

  @Test("headers, contents, padding and 1024 zeros are the archive that libarchive writes")
  func wholeArchive() throws {
    let entries = Self.small.filter { $0.header.byteCount == 512 }.enumerated().map { (number, sample) in
      (sample.header, (0..<sample.header.size).map { UInt8(truncatingIfNeeded: UInt64(number) + $0) })
    }
    var bytes: [UInt8] = []
    for (header, content) in entries {
      header.append(to: &bytes)
      bytes += content
      bytes += [UInt8](repeating: 0, count: (512 - content.count % 512) % 512)
    }
    bytes += [UInt8](repeating: 0, count: TarHeader.endSize)
    #expect(bytes == WholeArchive(entries).bytes)
  }

  @Test("the examples in the format are reproduced")
  func examples() throws {
    func fields(_ sample: Case) throws -> [String] {
      let bytes = sample.header.bytes
      return stride(from: 0, to: bytes.count, by: 512).map { start in
        let block = bytes[start..<start + 512]
        let name = String(decoding: block.prefix(100).prefix { $0 != 0 }, as: UTF8.self)
        let checksum = String(decoding: block.dropFirst(148).prefix(6), as: UTF8.self)
        let size = String(decoding: block.dropFirst(124).prefix(12), as: UTF8.self)
        return [name, size, checksum, String(UnicodeScalar(block[start + 156]))].joined(separator: "|")
      }
    }
    #expect(try fields(Case("a.txt", .file, 5)) == ["a.txt|00000000005 |010141|0"])
    #expect(try fields(Case("d", .directory)) == ["d/|00000000000 |007410|5"])
    #expect(try fields(Case("e.bin")) == ["e.bin|00000000000 |010071|0"])
    #expect(try fields(Case("copy.txt", to: "a.txt")) == ["copy.txt|00000000000 |011646|1"])
    let pax = try fields(Case("dir/ü.txt", .file, 5))
    #expect(pax.first == "PaxHeader|00000000023 |011054|x" && pax.last == "dir/ü.txt|00000000005 |011355|0")
    let big = try fields(Case("big.bin", .file, 1 << 33))
    #expect(big.first == "PaxHeader|00000000023 |011054|x" && big.last == "big.bin|100000000000|010427|0")
    #expect(try fields(Case("big.bin", .file, (1 << 33) - 1)) == ["big.bin|77777777777 |010523|0"])
  }

  @Test("headers of random paths agree with the format")
  func randomPaths() throws {
    var random = SeededGenerator()
    func path() -> String {
      let alphabet = Bool.random(using: &random) ? ["a", "b", "-"] : ["a", "ü", "日", "x"]
      let most = [8, 99, 110, 255, 300, 700].randomElement(using: &random)!
      let count = Int.random(in: 1...most, using: &random)
      let dense = [3, 12, 60, 90].randomElement(using: &random)!
      var text = ""
      for _ in 0..<count {
        let separates = Int.random(in: 0..<dense, using: &random) == 0 && !text.isEmpty && text.last != "/"
        text += separates ? "/" : alphabet.randomElement(using: &random)!
      }
      return text.last == "/" ? text + "e" : text
    }
    for _ in 0..<2000 {
      let kind = [IndexRecord.Kind.file, .executable, .directory].randomElement(using: &random)!
      let target = kind != .directory && Bool.random(using: &random) ? path() : nil
      let size = kind == .directory || target != nil ? 0 : UInt64.random(in: 0...2000, using: &random)
      let sample = TarHeader(path: path(), kind: kind, size: size, linkTarget: target)
      // Compared before the expectation, because a failure would print two kilobytes.
      let isSpecified = sample.bytes == SpecifiedHeader.bytes(sample)
      #expect(isSpecified, "\(sample)")
    }
  }
}
