import Foundation
import TestSupport
import Testing

/// A pack whose bytes were changed without the key. A reader must refuse it with the class of error of FORMAT.md §1.4 and §3.4, and leave no tree.
@Suite("A pack that was tampered with", .bounded)
struct TamperTests {
  private let directory: TemporaryDirectory
  private let pack: [UInt8]
  private let layout: SegmentLayout

  init() async throws {
    var random = SeededGenerator(seed: 17)
    var project = try SampleProject()
    project.source = "tree"
    try project.add("a.bin", random.bytes(9000))
    try project.add("b/large.bin", random.bytes(70_000))
    try project.add("b/c.txt", Array("text".utf8))
    try project.add("run.sh", [1, 2], mode: 0o755)
    try await project.pack()
    directory = project.directory
    pack = project.packed
    layout = try SegmentLayout(packSize: UInt64(pack.count), headerSize: 144, segmentSize: 4096)
  }

  /// Returns the error code of a reader for these bytes; nil if it accepts them. A tree, or a part of one, that is left behind is an issue.
  private func refusal(
    _ bytes: [UInt8], jobs: Int = 1, unpacks: Bool = false, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> PackError.Code? {
    let path = try directory.write(bytes, to: "tampered/x.pack")
    defer { try? FileManager.default.removeItem(atPath: directory("tampered")) }
    do throws(PackError) {
      let key = try sampleKey()
      let opened = try Pack(path, key: key, files: FaultyFiles(), backend: CryptoBackends.standard)
      if unpacks {
        try await opened.unpack(to: directory("tampered/out"), jobs: jobs)
      } else {
        try await opened.verify(jobs: jobs)
      }
    } catch {
      #expect(directory.names(in: "tampered") == ["x.pack"], "something was left behind", sourceLocation: sourceLocation)
      return error.code
    }
    return nil
  }

  /// Returns the codes that FORMAT.md §1.4 allows if one bit of the header differs.
  private func expected(headerByte: Int, bit: Int) -> Set<PackError.Code> {
    switch headerByte {
    case 0..<8: [.notAPack]
    case 8, 10, 11, 16, 17: [.unsupported]
    case 12..<16: [.damagedHeader]
    // The critical flags are unsupported; only the MAC protects the others.
    case 18: bit == 0 ? [.damagedHeader] : [.unsupported]
    // The length of the stanzas is too large, or it moves the fields after it.
    case 96: [.damagedHeader, .noUsableKey, .wrongKey]
    case 97 where bit >= 6: [.limitExceeded]
    case 97: [.truncated, .damagedHeader, .noUsableKey]
    case 98, 99: [.limitExceeded]
    case 100, 101: [.noUsableKey]
    case 104..<112: [.wrongKey]
    default: [.damagedHeader]
    }
  }

  @Test("every flipped bit of the header is refused, with the right class of error")
  func headerBits() async throws {
    var count = 0
    for byte in 0..<184 {
      for bit in 0..<8 {
        var bytes = pack
        bytes[byte] ^= 1 << bit
        let code = try await refusal(bytes)
        let isExpected = code.map { expected(headerByte: byte, bit: bit).contains($0) } ?? false
        #expect(isExpected, "byte \(byte), bit \(bit): \(code?.rawValue ?? "accepted")")
        count += 1
      }
    }
    if Effort.isFull { print("tamper: \(count) header bits, all refused") }
  }

  @Test("a flipped bit anywhere in the body is refused")
  func bodyBits() async throws {
    var random = SeededGenerator()
    let count = Effort.number(quick: 60, full: 1000)
    for _ in 0..<count {
      let byte = Int.random(in: 184..<pack.count, using: &random)
      let bit = Int.random(in: 0..<8, using: &random)
      var bytes = pack
      bytes[byte] ^= 1 << bit
      let code = try await refusal(bytes, jobs: Int.random(in: 1...4, using: &random), unpacks: Bool.random(using: &random))
      #expect(code == .authenticationFailed, "byte \(byte), bit \(bit)")
    }
    if Effort.isFull { print("tamper: \(count) body bits in \(pack.count) bytes, seed \(random.seed), all refused") }
  }

  @Test("a forged segment ends the comparison with libarchive, whichever thread waits", arguments: [1, 2, 3, 8])
  func bodyBitsInRelease(_ jobs: Int) async throws {
    // Many frames, so that workers wait for each other.
    var random = SeededGenerator(seed: 23)
    var project = try SampleProject()
    project.output = "many.pack"
    for number in 0..<24 { try project.add("f\(number).bin", random.bytes(60_000)) }
    try await project.pack()
    let pack = project.packed
    for _ in 0..<Effort.number(quick: 25, full: 200) {
      let byte = Int.random(in: 184..<pack.count - 20_000, using: &random)
      var bytes = pack
      bytes[byte] ^= 4
      try project.directory.write(bytes, to: "many.pack")
      var code: PackError.Code?
      do throws(PackError) {
        _ = try await project.verify(jobs: jobs)
      } catch {
        code = error.code
      }
      #expect(code == .authenticationFailed, "byte \(byte)")
    }
  }

  @Test("a pack that ends at a segment boundary is truncated")
  func cutAtEdges() async throws {
    for segment in 0..<layout.segmentCount {
      let edge = Int(layout.packRange(ofSegment: segment).lowerBound)
      #expect(try await refusal(Array(pack[..<edge])) == .truncated, "before segment \(segment)")
    }
  }

  @Test("a pack that ends inside its header is truncated")
  func cutInHeader() async throws {
    for length in 0..<200 {
      #expect(try await refusal(Array(pack[..<length])) == .truncated, "at \(length)")
    }
  }

  @Test("a pack that ends inside a segment is refused")
  func cutAnywhere() async throws {
    var random = SeededGenerator()
    for _ in 0..<Effort.number(quick: 60, full: 1000) {
      let length = Int.random(in: 200..<pack.count, using: &random)
      let code = try await refusal(Array(pack[..<length]), unpacks: Bool.random(using: &random))
      #expect(code == .truncated || code == .authenticationFailed, "at \(length)")
    }
  }

  @Test("appended bytes are refused", arguments: [1, 15, 16, 17, 4096, 5000, 100_000])
  func appended(_ count: Int) async throws {
    let code = try await refusal(pack + [UInt8](repeating: 0, count: count))
    #expect(code == .authenticationFailed || code == .truncated)
    let again = try await refusal(pack + pack.suffix(min(count, pack.count)))
    #expect(again == .authenticationFailed || again == .truncated)
  }

  private func segment(_ index: UInt64) -> ArraySlice<UInt8> {
    let range = layout.packRange(ofSegment: index)
    return pack[Int(range.lowerBound)..<Int(range.upperBound)]
  }

  @Test("swapped segments are refused")
  func swapped() async throws {
    for first in 1..<layout.segmentCount - 2 {
      var bytes = pack
      let (left, right) = (segment(first), segment(first + 1))
      bytes.replaceSubrange(left.startIndex..<right.endIndex, with: right + left)
      #expect(try await refusal(bytes) == .authenticationFailed)
    }
  }

  @Test("repeated and dropped segments are refused")
  func repeatedAndDropped() async throws {
    for index in 1..<layout.segmentCount {
      let range = layout.packRange(ofSegment: index)
      let repeated = Array(pack[..<Int(range.upperBound)]) + segment(index) + pack[Int(range.upperBound)...]
      let code = try await refusal(repeated)
      #expect(code == .authenticationFailed || code == .truncated)
      let dropped = Array(pack[..<Int(range.lowerBound)]) + pack[Int(range.upperBound)...]
      let isLast = index == layout.segmentCount - 1
      #expect(try await refusal(dropped) == (isLast ? .truncated : .authenticationFailed))
    }
  }

  @Test("a body under the header of another pack of the same key is refused")
  func otherHeader() async throws {
    var project = try SampleProject()
    project.output = "other.pack"
    try project.add("a.bin", [1, 2, 3])
    try await project.pack { $0.packVersion = 2 }
    let other = project.packed
    // With the stream header of the other pack, with that of the body, and mixed the other way round.
    #expect(try await refusal(Array(other[..<184]) + pack[184...]) == .authenticationFailed)
    #expect(try await refusal(Array(other[..<144]) + pack[144...]) == .damagedHeader)
    #expect(try await refusal(Array(pack[..<112]) + other[112...]) == .damagedHeader)
  }

  @Test("two versions of a pack of one tree have different keys: header and segments cannot be exchanged")
  func otherVersion() async throws {
    let project = try SampleProject()
    try project.add("a.bin", [UInt8](repeating: 1, count: 20_000))
    try await project.pack()
    let first = project.packed
    try await project.pack { $0.packVersion = 2 }
    let second = project.packed
    #expect(first.count == second.count)
    #expect(try await refusal(Array(second[..<184]) + first[184...]) == .authenticationFailed)
  }

  @Test("a wrong key is reported before anything else is read, with both key ids")
  func wrongKey() async throws {
    let path = try directory.write(Array(pack[..<200]), to: "short.pack")
    let error = #expect(throws: PackError.self) { try Pack.open(path, key: key(filledFrom: 7)) }
    #expect(error?.code == .wrongKey)
    #expect(error?.message.contains(try knownKey().id.description) == true)
    #expect(error?.advice == .giveKey(try knownKey().id))
    #expect(error?.message.contains(try key(filledFrom: 7).id.description) == true)
  }

  @Test("a file that does not start like a pack is refused", arguments: ["", "PK", "#!/bin/sh\n", "\u{89}PAK"])
  func notAPack(_ text: String) async throws {
    let code = try await refusal(Array(text.utf8) + (text.isEmpty ? [] : [UInt8](repeating: 0, count: 300)))
    #expect(code == (text.isEmpty ? .truncated : .notAPack))
  }
}
