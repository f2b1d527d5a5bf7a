import TestSupport
import Testing

@testable import PackGate

@Suite("Tar headers in a pack")
struct HeaderBytesTests {
  private func areWritten(_ actual: [UInt8], _ header: TarHeader) -> Bool {
    let bytes = HeaderBytes()
    bytes.append(actual)
    return bytes.areWritten(0..<UInt64(actual.count), for: header)
  }

  private static let plain = TarHeader(path: "a.txt", kind: .file, size: 5, linkTarget: nil)
  private static let long = TarHeader(path: String(repeating: "y", count: 101), kind: .file, size: 0, linkTarget: nil)
  private static let link = TarHeader(path: "z", kind: .file, size: 0, linkTarget: "ü path=q")

  @Test("are refused if any byte was changed", arguments: [plain, long, link])
  func changedBytes(_ header: TarHeader) {
    let written = header.bytes
    for index in written.indices {
      var changed = written
      changed[index] ^= 1
      #expect(!areWritten(changed, header), "byte \(index)")
    }
    #expect(areWritten(written, header))
  }

  @Test("are found at whatever offsets the tar is split into pieces", arguments: [1, 7, 512, 1000, 4096])
  func pieces(_ size: Int) {
    let headers = [Self.plain, Self.long, Self.link, Self.plain]
    var tar: [UInt8] = []
    var places: [Range<UInt64>] = []
    for header in headers {
      let start = UInt64(tar.count)
      tar += header.bytes
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
      #expect(kept.areWritten(place, for: headers[number]))
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
