import TestSupport
import Testing

@testable import PackGate

@Suite("Tar headers in a pack")
struct HeaderBytesTests {
  private func bytes(_ header: TarHeader) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try TarWriter().appendHeader(header, to: &bytes)
    return bytes
  }

  private func areWritten(_ actual: [UInt8], _ header: TarHeader) throws -> Bool {
    let bytes = HeaderBytes()
    bytes.append(actual)
    return try bytes.areWritten(0..<UInt64(actual.count), for: header)
  }

  private static let plain = TarHeader(path: "a.txt", kind: .file, size: 5, linkTarget: nil)
  private static let long = TarHeader(path: String(repeating: "y", count: 101), kind: .file, size: 0, linkTarget: nil)
  private static let link = TarHeader(path: "z", kind: .file, size: 0, linkTarget: "ü path=q")

  @Test("are refused if any byte was changed that no pax record overrides")
  func changedBytes() throws {
    let written = try bytes(Self.plain)
    for index in written.indices {
      var changed = written
      changed[index] ^= 1
      #expect(try !areWritten(changed, Self.plain), "byte \(index)")
    }
    #expect(try areWritten(written, Self.plain))
  }

  @Test("may have another short name, but no other changed field, if a pax record has the full name")
  func overriddenNames() throws {
    let written = try bytes(Self.long)
    for index in written.indices {
      var changed = written
      changed[index] ^= 1
      let field = index % 512
      let isBlock = index < 512 || index >= written.count - 512
      let isFree = isBlock && (field < 100 || (148..<156).contains(field) || (345..<500).contains(field))
      #expect(try areWritten(changed, Self.long) == isFree, "byte \(index)")
    }
  }

  @Test("must have the right name if only the target of a link looks like a pax record of the name")
  func keyInsideValue() throws {
    var changed = try bytes(Self.link)
    let main = changed.count - 512
    changed[main + 50] = UInt8(ascii: "q")
    #expect(try !areWritten(changed, Self.link))
    #expect(try areWritten(bytes(Self.link), Self.link))
  }

  @Test("are found at whatever offsets the tar is split into pieces", arguments: [1, 7, 512, 1000, 4096])
  func pieces(_ size: Int) throws {
    let headers = [Self.plain, Self.long, Self.link, Self.plain]
    var tar: [UInt8] = []
    var places: [Range<UInt64>] = []
    for header in headers {
      let start = UInt64(tar.count)
      tar += try bytes(header)
      places.append(start..<UInt64(tar.count))
      tar += [UInt8](repeating: 3, count: (Int(header.size) + 511) / 512 * 512)
    }
    let kept = HeaderBytes()
    var given = 0
    for (number, place) in places.enumerated() {
      while given < Int(place.upperBound) {
        kept.append(Array(tar[given..<min(given + size, tar.count)]))
        given += size
      }
      #expect(try kept.areWritten(place, for: headers[number]))
      kept.drop(before: number + 1 < places.count ? places[number + 1].lowerBound : UInt64(tar.count))
    }
  }

  @Test("are dropped in less than quadratic time")
  func manyInOnePiece() {
    let kept = HeaderBytes()
    kept.append([UInt8](repeating: 0, count: 8 << 20))
    let duration = ContinuousClock().measure {
      for number in 0..<16_384 as Range<UInt64> { kept.drop(before: number * 512) }
    }
    #expect(duration < .seconds(2))
  }
}
