import Testing

@testable import PackCrypto

@Suite("packs that must not open")
struct RefusalTests {
  static func threeSegments(_ backend: Backend) throws -> [UInt8] {
    try KnownAnswer.pack(KnownAnswer.largePayload, KnownAnswer.header(), backend.value)
  }

  @Test("another key is refused before anything is decrypted, and both ids are named", arguments: Backend.all)
  func wrongKey(_ backend: Backend) throws {
    let file = try Self.threeSegments(backend)
    let result = KnownAnswer.open(file, backend.value, key: bytes(1...0x20))
    let other = try KnownAnswer.key(backend.value, bytes(1...0x20)).id
    #expect(result.error?.code == .wrongKey)
    #expect(
      result.error?.message == "pack was made with key e545120e613dd715, but the key given is \(other)")
    #expect(result.payload.isEmpty)
  }

  @Test("a change of any bit of any byte before the first segment is refused", arguments: Backend.all)
  func header(_ backend: Backend) throws {
    let file = try KnownAnswer.pack(KnownAnswer.payload, KnownAnswer.header(), backend.value)
    for index in 0..<184 {
      for bit in 0..<8 {
        var changed = file
        changed[index] ^= 1 << bit
        let result = KnownAnswer.open(changed, backend.value)
        #expect(result.error != nil, "byte \(index), bit \(bit)")
        #expect(result.payload.isEmpty)
        // Salt, MAC and Tink's header contain no fields, so only the key can detect a change.
        if (64..<96).contains(index) || index >= 112 {
          #expect(result.error?.code == .damagedHeader, "byte \(index), bit \(bit)")
        } else if (104..<112).contains(index) {
          #expect(result.error?.code == .wrongKey)
        }
      }
    }
  }

  @Test("key stanzas above the limit are refused before they are read", arguments: Backend.all)
  func stanzaLimit(_ backend: Backend) throws {
    let file = try KnownAnswer.pack(KnownAnswer.payload, KnownAnswer.header(), backend.value)
    for size in [Limits.stanzaBytes + 1, .max] {
      var changed = Array(file[0..<96])
      changed.append(littleEndian: size)
      changed += [UInt8](repeating: 0, count: Int(Limits.stanzaBytes) + 1 + 72)
      let error = KnownAnswer.open(changed, backend.value).error
      #expect(error?.code == .limitExceeded && error?.message.contains("\(size)") == true)
    }
  }

  @Test("a stream header under a valid MAC is still checked", arguments: Backend.all)
  func streamHeader(_ backend: Backend) throws {
    let file = try KnownAnswer.pack(KnownAnswer.payload, KnownAnswer.header(), backend.value)
    for index in [144, 145, 176, 177, 183] {
      var changed = file
      changed[index] ^= 1
      let error = KnownAnswer.open(changed, backend.value).error
      #expect(error?.code == .damagedHeader)
      #expect(error?.advice == .fetchAgain)
      #expect(error?.message.contains("stream header") == true)
    }
  }

  @Test("a header that ends early is truncated", arguments: [0, 8, 95, 96, 100, 111, 143, 144, 183])
  func shortHeader(_ count: Int) throws {
    let file = try Self.threeSegments(Backend.all[0])
    let key = try KnownAnswer.key(CryptoBackends.standard)
    let error = failure { () throws(PackError) in
      _ = try HeaderAuthentication.open(file.byteSpan.extracting(0..<count), key: key)
    }
    #expect(error?.code == .truncated)
  }

  @Test("swapped segments are refused", arguments: Backend.all)
  func swapped(_ backend: Backend) throws {
    let payload = KnownAnswer.pattern(16_000)
    let file = try KnownAnswer.pack(payload, KnownAnswer.header(), backend.value)
    let first = 144 + 4096..<144 + 2 * 4096
    let second = 144 + 2 * 4096..<144 + 3 * 4096
    var changed = file
    changed.replaceSubrange(first, with: file[second])
    changed.replaceSubrange(second, with: file[first])
    try expectRefusal(of: changed, segment: 1, backend)
  }

  @Test("a segment in the place of another is refused", arguments: Backend.all)
  func repeated(_ backend: Backend) throws {
    let file = try KnownAnswer.pack(KnownAnswer.pattern(16_000), KnownAnswer.header(), backend.value)
    var changed = file
    changed.replaceSubrange(144 + 2 * 4096..<144 + 3 * 4096, with: file[144 + 4096..<144 + 2 * 4096])
    try expectRefusal(of: changed, segment: 2, backend)
  }

  @Test("a pack cut at a segment's end is refused at its new last segment", arguments: Backend.all)
  func truncated(_ backend: Backend) throws {
    let file = try Self.threeSegments(backend)
    try expectRefusal(of: Array(file[..<(144 + 2 * 4096)]), segment: 1, backend)
  }

  @Test("a segment that was the last one only after a cut is recognized, and no plaintext of it stays", arguments: Backend.all)
  func cutRecognized(_ backend: Backend) throws {
    let file = Array(try Self.threeSegments(backend)[..<(144 + 2 * 4096)])
    let key = try KnownAnswer.key(backend.value)
    let opened = try HeaderAuthentication.open(file.byteSpan, key: key, backend: backend.value)
    let layout = try SegmentLayout(packSize: UInt64(file.count), headerSize: 144, segmentSize: 4096)
    let cipher = try SegmentCipher(schedule: opened.schedule, layout: layout, backend: backend.value)
    for (flippedBytes, wasMiddle) in [(0, true), (1, false)] {
      var segment = Array(file[(144 + 4096)...])
      for index in 0..<flippedBytes { segment[index] ^= 1 }
      var scratch = [UInt8](repeating: 0xAA, count: 4080)
      var span = scratch.mutableByteSpan
      #expect(cipher.wasSealedAsMiddle(segment: 1, segment.byteSpan, scratch: &span) == wasMiddle)
      #expect(scratch == [UInt8](repeating: 0, count: 4080))
    }
  }

  @Test("a pack that continues after its last segment is refused", arguments: Backend.all)
  func extended(_ backend: Backend) throws {
    let file = try KnownAnswer.pack(KnownAnswer.pattern(8120), KnownAnswer.header(), backend.value)
    try #require(file.count == 144 + 2 * 4096)
    try expectRefusal(of: file + [UInt8](repeating: 0, count: 17), segment: 1, backend)
  }

  @Test("a segment of another pack under the same key is refused", arguments: Backend.all)
  func spliced(_ backend: Backend) throws {
    var file = try Self.threeSegments(backend)
    let other = try KnownAnswer.pack(KnownAnswer.largePayload, KnownAnswer.header(version: 8), backend.value)
    let range = 144 + 4096..<144 + 2 * 4096
    file.replaceSubrange(range, with: other[range])
    try expectRefusal(of: file, segment: 1, backend)
  }

  @Test("a changed byte of a segment is refused, its tag included", arguments: Backend.all)
  func changed(_ backend: Backend) throws {
    let file = try KnownAnswer.pack(KnownAnswer.payload, KnownAnswer.header(), backend.value)
    for index in 184..<file.count {
      var changed = file
      changed[index] ^= 0x80
      try expectRefusal(of: changed, segment: 0, backend)
    }
  }

  private func expectRefusal(of file: [UInt8], segment: Int, _ backend: Backend) throws {
    let result = KnownAnswer.open(file, backend.value)
    #expect(result.error?.code == .authenticationFailed)
    #expect(result.error?.message.hasPrefix("segment \(segment) of ") == true)
    #expect(result.rejected.allSatisfy { $0 == 0 }, "nothing unauthenticated is returned")
  }
}
