import TestSupport
import Testing

@Suite("The header's core")
struct PackHeaderTests {
  private let known = bytes(
    hex: """
      8950414b 0d0a1a0a 01000100 00100000 01000000 00000000 07000000 00000000
      0ca94049 5f108ec5 ad6ef708 c86b707a 05b4be16 fddd5d6a 4d1af521 c03b4833
      20212223 24252627 28292a2b 2c2d2e2f 30313233 34353637 38393a3b 3c3d3e3f
      """)

  @Test("a file with a wrong byte in its magic is not a pack", arguments: 0..<8)
  func magic(position: Int) {
    let changed = known.replacing([known[position] ^ 1], at: position)
    #expect(code { () throws(PackError) in _ = try PackHeader.parse(changed.byteSpan) } == .notAPack)
    // Also if nothing follows the byte.
    let cut = Array(changed.prefix(position + 1))
    #expect(code { () throws(PackError) in _ = try PackHeader.parse(cut.byteSpan) } == .notAPack)
  }

  @Test("a core that ends early is truncated, from the empty file on", arguments: 0..<96)
  func truncated(count: Int) {
    let cut = Array(known.prefix(count))
    #expect(code { () throws(PackError) in _ = try PackHeader.parse(cut.byteSpan) } == .truncated)
  }

  @Test(
    "a field that is not known is unsupported",
    arguments: [
      (8, [0]), (8, [2]), (8, [255]), (10, [0, 0]), (10, [2, 0]), (10, [1, 1]), (16, [0, 0]), (16, [3, 0]), (16, [1, 1]),
      (18, [2, 0]), (18, [4, 0]), (18, [8, 0]), (18, [16, 0]), (18, [32, 0]), (18, [64, 0]), (18, [128, 0]), (18, [255, 0]),
    ] as [(Int, [UInt8])])
  func unsupported(offset: Int, value: [UInt8]) {
    let changed = known.replacing(value, at: offset)
    #expect(code { () throws(PackError) in _ = try PackHeader.parse(changed.byteSpan) } == .unsupported)
  }

  @Test(
    "a segment size that is not a power of two in the range is damage",
    arguments: [0, 1, 2048, 4095, 4097, 5000, 65_535, 1_048_575, 1_048_577, 2_097_152, 1 << 31, .max] as [UInt32])
  func segmentSize(_ size: UInt32) {
    var field: [UInt8] = []
    field.append(littleEndian: size)
    let changed = known.replacing(field, at: 12)
    #expect(code { () throws(PackError) in _ = try PackHeader.parse(changed.byteSpan) } == .damagedHeader)
    #expect(!PackHeader.isLegal(segmentSize: size))
  }

  @Test("every power of two from 4096 to 1048576 is a segment size", arguments: 12...20)
  func legalSegmentSize(exponent: Int) throws {
    var header = try PackHeader.parse(known.byteSpan)
    header.segmentSize = 1 << UInt32(exponent)
    #expect(try PackHeader.parse(header.bytes.byteSpan) == header)
  }

  @Test("a reserved byte that is not zero is damage", arguments: 20..<24)
  func reserved(offset: Int) {
    let changed = known.replacing([1], at: offset)
    #expect(code { () throws(PackError) in _ = try PackHeader.parse(changed.byteSpan) } == .damagedHeader)
  }

  @Test("a version above 2^53 - 1 is damage", arguments: [1 << 53, (1 << 53) + 1, 1 << 63, .max] as [UInt64])
  func version(_ version: UInt64) {
    var field: [UInt8] = []
    field.append(littleEndian: version)
    let changed = known.replacing(field, at: 24)
    #expect(code { () throws(PackError) in _ = try PackHeader.parse(changed.byteSpan) } == .damagedHeader)
  }

  @Test(
    "for several faults, the first in the format's order is reported",
    arguments: [
      ([(8, 2), (10, 2), (12, 1)], .unsupported), ([(12, 1), (16, 2), (18, 2)], .damagedHeader),
      ([(18, 2), (20, 1)], .unsupported), ([(0, 0), (8, 2)], .notAPack),
    ] as [([(Int, UInt8)], PackError.Code)])
  func order(faults: [(Int, UInt8)], expected: PackError.Code) {
    var changed = known
    for (offset, value) in faults { changed[offset] = value }
    #expect(code { () throws(PackError) in _ = try PackHeader.parse(changed.byteSpan) } == expected)
  }

  @Test("the version may be 0, 1, and 2^53 - 1", arguments: [0, 1, (1 << 53) - 2, (1 << 53) - 1] as [UInt64])
  func legalVersion(_ version: UInt64) throws {
    var header = try PackHeader.parse(known.byteSpan)
    header.packVersion = version
    #expect(try PackHeader.parse(header.bytes.byteSpan).packVersion == version)
  }

  @Test("any minor version and the ignorable flags are accepted and kept")
  func tolerated() throws {
    for minor in [0, 1, 255] as [UInt8] {
      for flags in [0, 1, 0x0100, 0xFF00, 0xFF01] as [UInt16] {
        var field: [UInt8] = [minor]
        var changed = known.replacing(field, at: 9)
        field = []
        field.append(littleEndian: flags)
        changed = changed.replacing(field, at: 18)
        let header = try PackHeader.parse(changed.byteSpan)
        #expect(header.minor == minor)
        #expect(header.flags == flags)
        #expect(header.hasDeterministicSalt == (flags & 1 == 1))
        #expect(header.bytes == changed)
      }
    }
  }

  @Test("the core of the known answer is read, and written again to the same bytes")
  func knownAnswer() throws {
    let header = try PackHeader.parse(known.byteSpan)
    #expect(header.segmentSize == 4096)
    #expect(header.packVersion == 7)
    #expect(!header.hasDeterministicSalt)
    #expect(header.packID.hex == "0ca940495f108ec5ad6ef708c86b707a05b4be16fddd5d6a4d1af521c03b4833")
    #expect(header.salt == Array(0x20...0x3F))
    #expect(header.bytes == known)
  }

  @Test("whatever bytes are read as a core are written again to the same bytes")
  func oneEncoding() throws {
    var random = SeededGenerator()
    var taken = 0
    for _ in 0..<5000 {
      var bytes = known
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        bytes[Int.random(in: 8..<96, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      guard let header = try? PackHeader.parse(bytes.byteSpan) else { continue }
      taken += 1
      #expect(header.bytes == bytes)
    }
    #expect(taken > 0)
  }
}

@Suite("Key stanzas")
struct KeyStanzasTests {
  private static let derive = bytes(hex: "01000800 e545120e 613dd715")

  @Test(
    "stanzas with a wrong length or wrong content are damage",
    arguments: [
      "01", "0100", "010008", "01000800", "01000800 e545120e 613dd7", "01000700 e545120e 613dd7",
      "01000900 e545120e 613dd715 00", "01000000", "01000800 e545120e 613dd715 01", "01000800 e545120e 613dd715 0200ff",
      "01000800 e545120e 613dd715 01000800 e545120e 613dd715", "0900ffff 00", "01000800 e545120e 613dd715 09000100",
    ])
  func damaged(hex: String) {
    let stanzas = bytes(hex: hex)
    #expect(code { () throws(PackError) in _ = try KeyStanzas.parse(stanzas.byteSpan) } == .damagedHeader)
  }

  @Test("stanzas without DERIVE give no usable key", arguments: ["", "09000000", "02000100 00", "03000000 04000000"])
  func noUsableKey(hex: String) {
    let stanzas = bytes(hex: hex)
    #expect(code { () throws(PackError) in _ = try KeyStanzas.parse(stanzas.byteSpan) } == .noUsableKey)
  }

  @Test("unknown stanzas are ignored, before and after the known one")
  func unknown() throws {
    let stanzas = bytes(hex: "02000100 aa") + Self.derive + bytes(hex: "ffff0000")
    let parsed = try KeyStanzas.parse(stanzas.byteSpan)
    #expect(parsed.keyID.description == "e545120e613dd715")
    #expect(parsed.unknown.map(\.type) == [2, 0xFFFF])
  }

  private static let wraps = [
    KeyStanzas.Wrap(.x25519, for: KeyID(bytes(hex: "00ff000000000001")), content: [UInt8](repeating: 3, count: 80)),
    KeyStanzas.Wrap(.symmetric, for: KeyID(bytes(hex: "ff00000000000000")), content: [UInt8](repeating: 2, count: 60)),
    KeyStanzas.Wrap(.x25519, for: KeyID(bytes(hex: "00ff000000000000")), content: [UInt8](repeating: 1, count: 80)),
  ]

  @Test("stanzas for recipients are written behind DERIVE, by type and key id, and unknown ones last")
  func order() throws {
    var stanzas = try KeyStanzas.parse((bytes(hex: "09000100aa") + Self.derive).byteSpan)
    stanzas.wraps = Self.wraps
    let parsed = try KeyStanzas.parse(stanzas.bytes.byteSpan)
    #expect(stanzas.bytes.starts(with: Self.derive + bytes(hex: "02004400 ff00000000000000")))
    #expect(stanzas.bytes.suffix(5) == bytes(hex: "09000100aa")[...])
    #expect(parsed.wraps == [Self.wraps[1], Self.wraps[2], Self.wraps[0]])
    #expect(parsed.bytes == stanzas.bytes && parsed.unknown.map(\.type) == [9])
  }

  @Test("a stanza of a recipient's type with another length is unknown", arguments: [0, 8, 67, 69, 87, 89])
  func otherLength(_ count: Int) throws {
    for type in [2, 3] as [UInt16] {
      var stanzas = Self.derive
      stanzas.append(littleEndian: type)
      stanzas.append(littleEndian: UInt16(count))
      stanzas += [UInt8](repeating: 7, count: count)
      let parsed = try KeyStanzas.parse(stanzas.byteSpan)
      #expect(parsed.wraps.isEmpty && parsed.unknown.map(\.type) == [type] && parsed.bytes == stanzas)
    }
  }

  @Test("two stanzas of one type for one key are damage, and two types for one key are none")
  func twins() throws {
    var stanzas = try KeyStanzas.parse(Self.derive.byteSpan)
    stanzas.wraps = Self.wraps + [Self.wraps[0]]
    let twice = stanzas.bytes
    #expect(code { () throws(PackError) in _ = try KeyStanzas.parse(twice.byteSpan) } == .damagedHeader)
    stanzas.wraps = [
      Self.wraps[0], KeyStanzas.Wrap(.symmetric, for: Self.wraps[0].keyID, content: [UInt8](repeating: 2, count: 60)),
    ]
    #expect(try KeyStanzas.parse(stanzas.bytes.byteSpan).recipientIDs.count == 2)
  }

  @Test("the stanza that a writer makes is the known answer")
  func writer() throws {
    let parsed = try KeyStanzas.parse(Self.derive.byteSpan)
    #expect(KeyStanzas(keyID: parsed.keyID).bytes == Self.derive)
  }
}

@Suite("Pack names")
struct PackNameTests {
  @Test(
    "a name that is too long, empty, or contains other characters is refused",
    arguments: ["", ".a", "_a", "-a", "a b", "ä", "a/b", "a\n", "a\u{0}", "\u{212A}", String(repeating: "x", count: 65)])
  func refused(_ text: String) {
    #expect(code { () throws(PackError) in _ = try PackName(text) } == .usage)
  }

  @Test(
    "letters, digits, dots, underscores and hyphens are accepted",
    arguments: ["a", "0", "Z", "a.b_c-d", "9-", String(repeating: "x", count: 64)])
  func taken(_ text: String) throws {
    #expect(try PackName(text).text == text)
  }
}
