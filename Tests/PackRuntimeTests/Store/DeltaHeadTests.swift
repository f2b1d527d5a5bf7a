import TestSupport
import Testing

@Suite("The head of a delta")
struct DeltaHeadTests {
  /// Returns a head with one window for a list and one for contents.
  private static func sample() -> DeltaHead {
    var head = DeltaHead(
      bases: [[UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32)], target: Array(0..<32), listSize: 75, contentSize: 1300)
    head.copies = (
      [.init(gap: 40, place: 5, length: 35)], [.init(gap: 500, place: 2000, length: 200), .init(gap: 0, place: 9, length: 100)]
    )
    head.extras = [5..<45, 12..<19, 19..<20]
    head.windows = [
      .init(compressedSize: 20, size: 40, prefix: .extended(0..<1)), .init(compressedSize: 300, size: 1000, prefix: .extended(1..<3)),
    ]
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

  @Test("no base, one that is named twice, and more than four, are refused")
  func bases() {
    func roots(_ numbers: [UInt8]) -> [[UInt8]] { numbers.map { [UInt8](repeating: $0, count: 32) } }
    #expect(refusal { $0.bases = [] } == .damagedPayload)
    #expect(refusal { $0.bases = roots([1, 2, 1]) } == .damagedPayload)
    #expect(refusal { $0.bases = roots([1, 2, 3, 4]) } == nil)
    #expect(refusal { $0.bases = roots([1, 2, 3, 4, 5]) } == .limitExceeded)
  }

  @Test("a copy has 32 bytes to 1 MiB, and lies in its stream")
  func copies() {
    for (length, code) in [(31, .damagedPayload), (32, nil), (1 << 20, nil), (1 << 20 + 1, .damagedPayload)] as [(UInt32, PackError.Code?)]
    {
      let found = refusal { head in
        head.copies.contents = [.init(gap: 1000, place: 0, length: length)]
        head.contentSize = 1000 + UInt64(length)
      }
      #expect(found == code, "\(length)")
    }
    #expect(refusal { $0.copies.list[0].gap = 41 } == .damagedPayload)
    #expect(refusal { $0.copies.contents[0].gap = 1001 } == .damagedPayload)
    for (place, code) in [((1 << 53) - 100, .damagedPayload), ((1 << 53) - 101, nil)] as [(UInt64, PackError.Code?)] {
      let found = refusal { head in
        // A step is less than 2^52.
        head.copies.contents[0].place = (1 << 52) - 1
        head.copies.contents[1].place = place
      }
      #expect(found == code, "\(place)")
    }
  }

  @Test("there are at most 2^19 copies", arguments: [0, 1])
  func manyCopies(_ more: Int) {
    let found = refusal { head in
      head.copies.contents = [DeltaHead.Copy](repeating: .init(gap: 0, place: 0, length: 32), count: (1 << 19) - 1 + more)
      head.contentSize = UInt64(32 * head.copies.contents.count + 1000)
    }
    #expect(found == (more == 0 ? nil : .limitExceeded))
  }

  @Test("windows have 2 MiB, and the last one what is left")
  func windowSizes() {
    #expect(DeltaHead.windowSizes(of: 0) == [])
    #expect(DeltaHead.windowSizes(of: 2 << 20) == [2 << 20])
    #expect(DeltaHead.windowSizes(of: 2 << 20 + 1) == [2 << 20, 1])
    #expect(Self.sample().listWindows == 1 && Self.sample().listLiterals == 40 && Self.sample().contentLiterals == 1000)
  }

  @Test("the frame of a window is not longer than its literals allow, and all fill the payload as far as the head")
  func windows() {
    let bound = Limits.compressBound(1000)
    #expect(refusal(windowBytes: UInt64(20 + bound)) { $0.windows[1].compressedSize = bound } == nil)
    #expect(refusal(windowBytes: UInt64(21 + bound)) { $0.windows[1].compressedSize = bound + 1 } == .damagedPayload)
    #expect(refusal(windowBytes: 319) { _ in } == .damagedPayload)
    // More windows than there are.
    #expect(refusal { $0.contentSize = UInt64(131_072) << 21 } == .limitExceeded)
  }

  @Test("a window has at most 4 MiB of extra ranges, and at most 1024 of them, none of them empty")
  func prefix() {
    #expect(refusal { $0.extras[2] = 19..<(4 << 20) + 12 } == nil)
    #expect(refusal { $0.extras[2] = 19..<(4 << 20) + 13 } == .limitExceeded)
    #expect(refusal { $0.extras[2] = 19..<19 } == .damagedPayload)
    func many(_ count: Int) -> PackError.Code? {
      refusal { head in
        head.extras = (0..<count).map { UInt64(2 * $0)..<UInt64(2 * $0 + 1) }
        head.windows = [
          .init(compressedSize: 20, size: 40, prefix: count == 0 ? .extended(0..<0) : .extended(0..<count)),
          .init(compressedSize: 300, size: 1000, prefix: .derived),
        ]
      }
    }
    #expect(many(0) == .damagedPayload)
    #expect(many(1024) == nil)
    #expect(many(1025) == .limitExceeded)
  }

  @Test("a list has at most 16 MiB")
  func list() {
    #expect(refusal { $0.listSize = 16 << 20 + 1 } == .limitExceeded)
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
