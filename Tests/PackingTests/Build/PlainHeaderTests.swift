import PackArchive
import PackFormat
import TestSupport
import Testing

@testable import PackGate

@Suite("Plain headers, known without libarchive")
struct PlainHeaderTests {
  private static let plain = [
    TarHeader(path: "a.txt", kind: .file, size: 5, linkTarget: nil),
    TarHeader(path: "d", kind: .directory, size: 0, linkTarget: nil),
    TarHeader(path: "run", kind: .executable, size: 4096, linkTarget: nil),
    TarHeader(path: "e.bin", kind: .file, size: 0, linkTarget: nil),
    TarHeader(path: "copy", kind: .executable, size: 0, linkTarget: String(repeating: "t", count: 100)),
    TarHeader(path: String(repeating: "n", count: 100), kind: .file, size: (1 << 33) - 1, linkTarget: nil),
    TarHeader(path: String(repeating: "d", count: 99), kind: .directory, size: 0, linkTarget: nil),
    TarHeader(path: String(repeating: "n", count: 60) + "/" + String(repeating: "n", count: 60), kind: .file, size: 1, linkTarget: nil),
    TarHeader(
      path: String(repeating: "p", count: 155) + "/" + String(repeating: "q", count: 99), kind: .directory, size: 0, linkTarget: nil),
  ]

  private static let others = [
    TarHeader(path: String(repeating: "p", count: 156) + "/" + String(repeating: "q", count: 99), kind: .file, size: 1, linkTarget: nil),
    TarHeader(path: String(repeating: "d", count: 100), kind: .directory, size: 0, linkTarget: nil),
    TarHeader(path: "ü", kind: .file, size: 1, linkTarget: nil),
    TarHeader(path: "z", kind: .file, size: 0, linkTarget: "ü"),
    TarHeader(path: "z", kind: .file, size: 0, linkTarget: String(repeating: "t", count: 101)),
    TarHeader(path: "big", kind: .file, size: 1 << 33, linkTarget: nil),
  ]

  private func bytes(_ header: TarHeader) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try TarWriter().appendHeader(header, to: &bytes)
    return bytes
  }

  @Test("are those that libarchive writes, whichever was looked at before")
  func written() throws {
    var plain = PlainHeader()
    for header in Self.plain + Self.plain.reversed() {
      let written = try bytes(header)
      let isKnown = plain.matches(written.span, header)
      #expect(isKnown, "\(header.path)")
    }
  }

  @Test("are refused where any byte differs", arguments: plain)
  func changed(_ header: TarHeader) throws {
    var plain = PlainHeader()
    let written = try bytes(header)
    for index in written.indices {
      var changed = written
      changed[index] ^= 1
      let isKnown = plain.matches(changed.span, header)
      #expect(!isKnown, "byte \(index)")
    }
  }

  @Test("are refused where they are another entry's")
  func otherEntries() throws {
    var plain = PlainHeader()
    for (number, header) in Self.plain.enumerated() {
      for (other, entry) in Self.plain.enumerated() where other != number {
        let written = try bytes(header)
        let isKnown = plain.matches(written.span, entry)
        #expect(!isKnown)
      }
    }
  }

  @Test("are not what an entry has that needs more than one block", arguments: others)
  func notPlain(_ header: TarHeader) throws {
    var plain = PlainHeader()
    let written = try bytes(header)
    let isKnown = plain.matches(written.span, header)
    let end = Array(written.suffix(512))
    let isEndKnown = plain.matches(end.span, header)
    #expect(!isKnown && !isEndKnown)
  }
}

@Suite("What a header seems to say")
struct HeaderFieldsTests {
  private static let headers = [
    TarHeader(path: "a.txt", kind: .file, size: 5, linkTarget: nil),
    TarHeader(path: "d/e", kind: .directory, size: 0, linkTarget: nil),
    TarHeader(path: String(repeating: "n", count: 60) + "/" + String(repeating: "n", count: 60), kind: .file, size: 1, linkTarget: nil),
    TarHeader(path: String(repeating: "y", count: 101), kind: .directory, size: 0, linkTarget: nil),
    TarHeader(path: "dir/ü.txt", kind: .file, size: 0, linkTarget: "ä path=q"),
    TarHeader(path: "z", kind: .file, size: 0, linkTarget: String(repeating: "t", count: 700)),
  ]

  @Test("is what was written, wherever the header lies")
  func written() throws {
    var tar: [UInt8] = []
    var places: [Range<Int>] = []
    for header in Self.headers {
      let start = tar.count
      try TarWriter().appendHeader(header, to: &tar)
      places.append(start..<tar.count)
    }
    for (header, place) in zip(Self.headers, places) {
      let read = HeaderFields(tar.span, at: place.lowerBound)
      let fields = try #require(read)
      #expect(fields.place == place)
      #expect(fields.path == Array(header.path.utf8))
      #expect(fields.linkTarget == Array((header.linkTarget ?? "").utf8))
    }
  }

  @Test("is nothing where a header is cut")
  func cut() throws {
    for header in Self.headers {
      var bytes: [UInt8] = []
      try TarWriter().appendHeader(header, to: &bytes)
      for length in stride(from: 0, to: bytes.count, by: 64) {
        let beginning = Array(bytes[..<length])
        let fields = HeaderFields(beginning.span, at: 0)
        #expect(fields == nil, "\(length) bytes of \(header.path)")
      }
    }
  }

  @Test("comes from any bytes without harm")
  func rubbish() {
    var random = SeededGenerator()
    for _ in 0..<2000 {
      var bytes = random.bytes(1536)
      if Bool.random(using: &random) {
        bytes[156] = UInt8(ascii: "x")
        for index in 124..<135 { bytes[index] = UInt8(ascii: "0") + UInt8.random(in: 0...(index < 132 ? 0 : 7), using: &random) }
        bytes.replaceSubrange(512..<530, with: Array("\(Int.random(in: 0...2000, using: &random)) path=abcdefgh\n0000".utf8.prefix(18)))
      }
      let end = HeaderFields(bytes.span, at: 0)?.place.upperBound ?? 0
      #expect(end <= bytes.count)
    }
  }
}
