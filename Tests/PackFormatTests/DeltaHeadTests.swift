import TestSupport
import Testing

@Suite("The head of a delta")
struct DeltaHeadTests {
  /// Returns a head with one window for a list and one for contents.
  private static func sample() -> DeltaHead {
    var head = DeltaHead(bases: [[UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32)], target: Array(0..<32), listSize: 40)
    head.pieces = [
      .init(content: 9, offset: 0, length: 40), .init(content: 0, offset: 5, length: 7), .init(content: 0, offset: 12, length: 1),
      .init(content: 3, offset: 1, length: 300),
    ]
    head.windows = [.init(compressedSize: 20, size: 40, pieces: 0..<1), .init(compressedSize: 300, size: 1000, pieces: 1..<4)]
    head.moved = [.init(record: 0, content: 4), .init(record: 3, content: 1)]
    head.new = [7, 2, 8]
    head.repeated = [.init(record: 1, source: 2), .init(record: 9, source: 0)]
    return head
  }

  private func parse(_ bytes: [UInt8], minor: UInt8 = 0, windowBytes: UInt64 = 320) throws(PackError) -> DeltaHead {
    try DeltaHead(parsing: bytes.byteSpan, minor: minor, windowBytes: windowBytes)
  }

  /// Returns the code with which a changed head is refused, or nil.
  private func refusal(windowBytes: UInt64 = 320, _ change: (inout DeltaHead) -> Void) -> PackError.Code? {
    var head = Self.sample()
    change(&head)
    return code { () throws(PackError) in _ = try parse(head.bytes, windowBytes: windowBytes) }
  }

  @Test("a head that ends anywhere, or goes on, is damage")
  func cut() throws {
    let bytes = Self.sample().bytes
    for size in 0..<bytes.count {
      #expect(code { () throws(PackError) in _ = try parse(Array(bytes.prefix(size))) } == .damagedPayload, "\(size) bytes")
    }
    #expect(code { () throws(PackError) in _ = try parse(bytes + [0]) } == .damagedPayload)
    #expect(try parse(bytes + [0, 9], minor: 1) == Self.sample())
  }

  @Test("no base, and more than four, are refused")
  func bases() {
    let root = [UInt8](repeating: 1, count: 32)
    #expect(refusal { $0.bases = [] } == .damagedPayload)
    #expect(refusal { $0.bases = [[UInt8]](repeating: root, count: 4) } == nil)
    #expect(refusal { $0.bases = [[UInt8]](repeating: root, count: 5) } == .limitExceeded)
  }

  @Test("a window has 1 byte to 1 MiB, and a frame that is not longer than that allows")
  func windows() {
    #expect(refusal { $0.windows[1].size = 0 } == .damagedPayload)
    #expect(refusal { $0.windows[1].size = 1 << 20 } == nil)
    #expect(refusal { $0.windows[1].size = 1 << 20 + 1 } == .limitExceeded)
    let bound = Limits.compressBound(1000)
    #expect(refusal(windowBytes: UInt64(20 + bound)) { $0.windows[1].compressedSize = bound } == nil)
    #expect(refusal(windowBytes: UInt64(21 + bound)) { $0.windows[1].compressedSize = bound + 1 } == .damagedPayload)
    #expect(refusal(windowBytes: 319) { _ in } == .damagedPayload)
  }

  @Test("a prefix has at most 3 MiB, and at most 1024 ranges, none of them empty")
  func prefix() {
    #expect(refusal { $0.pieces[3].length = 3 << 20 - 8 } == nil)
    #expect(refusal { $0.pieces[3].length = 3 << 20 - 7 } == .limitExceeded)
    #expect(refusal { $0.pieces[3].length = 0 } == .damagedPayload)
    func many(_ count: Int) -> PackError.Code? {
      refusal { head in
        head.pieces = (0..<count).map { .init(content: UInt32($0), offset: 0, length: 1) }
        head.windows = [.init(compressedSize: 20, size: 40, pieces: 0..<count), .init(compressedSize: 300, size: 1000, pieces: 0..<0)]
      }
    }
    #expect(many(1024) == nil)
    #expect(many(1025) == .limitExceeded)
  }

  @Test("a window ends where the list does, and a list has at most 16 MiB")
  func list() {
    #expect(refusal { $0.listSize = 39 } == .damagedPayload)
    #expect(refusal { $0.listSize = 1040 } == nil)
    #expect(refusal { $0.listSize = 1041 } == .damagedPayload)
    #expect(refusal { $0.listSize = 0 } == nil)
    #expect(refusal { $0.listSize = 16 << 20 + 1 } == .limitExceeded)
    #expect(Self.sample().listWindows == 1)
  }

  @Test("a repeated record names a new content that is there")
  func repeated() {
    #expect(refusal { $0.repeated[0].source = 3 } == .damagedPayload)
  }

  @Test("what was written is read, and written the same")
  func roundTrip() throws {
    let bytes = Self.sample().bytes
    #expect(try parse(bytes) == Self.sample())
    #expect(try parse(bytes).bytes == bytes)
  }

  @Test("a head that parses is written to the same bytes")
  func oneEncoding() throws {
    var random = SeededGenerator()
    let bytes = Self.sample().bytes
    for _ in 0..<20_000 {
      var changed = bytes
      changed[Int.random(in: 97..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      let read = try? DeltaHead(parsing: changed.byteSpan, minor: 0, windowBytes: 320)
      if let read { #expect(read.bytes == changed) }
    }
  }

  @Test("the trailer names a head that fits the payload, and has its magic")
  func trailer() throws {
    let trailer = DeltaHead.trailer(headSize: 12)
    #expect(try DeltaHead.headSize(trailer: trailer.byteSpan, payloadSize: 20) == 12)
    func refusal(_ trailer: [UInt8], _ payloadSize: UInt64) -> PackError.Code? {
      code { () throws(PackError) in _ = try DeltaHead.headSize(trailer: trailer.byteSpan, payloadSize: payloadSize) }
    }
    #expect(refusal(trailer, 19) == .damagedPayload)
    #expect(refusal(DeltaHead.trailer(headSize: 0), 20) == .damagedPayload)
    #expect(refusal(Array(trailer.dropFirst()), 7) == .damagedPayload)
    for place in 4..<8 {
      var other = trailer
      other[place] ^= 1
      #expect(refusal(other, 20) == .damagedPayload)
    }
  }
}

@Suite("Numbers of variable length")
struct VarintTests {
  private func read(_ bytes: [UInt8]) -> (value: UInt64?, end: Int) {
    var offset = 0
    let value = Varint.read(bytes.byteSpan, at: &offset)
    return (value, offset)
  }

  @Test(
    "a number without an end, of more bytes than it needs, or of 2^53 or more is refused",
    arguments: [
      [], [0x80], [0x80, 0x00], [0xFF, 0x80, 0x00], [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x1F],
      [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10], [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01],
    ] as [[UInt8]])
  func refused(_ bytes: [UInt8]) {
    #expect(read(bytes).value == nil)
  }

  @Test(
    "a number is read back from the fewest bytes", arguments: [0, 1, 127, 128, 16_383, 16_384, 1 << 32, 1 << 49, (1 << 53) - 1] as [UInt64])
  func roundTrip(_ value: UInt64) {
    var bytes: [UInt8] = []
    Varint.append(value, to: &bytes)
    let bits = max(1, 64 - value.leadingZeroBitCount)
    #expect(bytes.count == (bits + 6) / 7)
    #expect(read(bytes + [0x80]).value == value)
    #expect(read(bytes + [0x80]).end == bytes.count)
  }

  @Test("signed numbers alternate", arguments: [(0, 0), (-1, 1), (1, 2), (-2, 3), (1_000_000, 2_000_000)] as [(Int64, UInt64)])
  func signed(_ value: Int64, _ unsigned: UInt64) {
    #expect(Varint.signed(unsigned) == value)
    var (bytes, expected): ([UInt8], [UInt8]) = ([], [])
    Varint.append(signed: value, to: &bytes)
    Varint.append(unsigned, to: &expected)
    #expect(bytes == expected)
  }
}
