import PackArchive
import PackFormat
import TestSupport
import Testing

@testable import PackerKit

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
