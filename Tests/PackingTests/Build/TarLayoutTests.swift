import TestSupport
import Testing

@testable import PackBuild
@testable import PackProject

@Suite("The plan of a pack")
struct TarLayoutTests {
  private func entry(_ path: String, _ size: UInt64 = 0, _ kind: IndexRecord.Kind = .file) -> SourceEntry {
    SourceEntry(
      path: path, kind: kind, size: size,
      stamp: FileStamp(
        FileStatus(kind: .file, size: size, mode: 0o644, device: 1, inode: 1, linkCount: 1, modified: 0, changed: 0)))
  }

  private func plan(_ entries: [SourceEntry], originals: [Int32]? = nil, frameSize: Int = 65_536) throws -> TarLayout {
    // In the order given.
    let order = TarLayout.Order(entries: entries, byPath: Array(entries.indices.map(Int32.init)))
    return try TarLayout(order, originals: originals ?? entries.map { _ in -1 }, frameSize: frameSize)
  }

  /// The lengths of the frames of a plan.
  private func frames(_ plan: TarLayout) -> [UInt64] { plan.frames.map { $0.range.upperBound - $0.range.lowerBound } }

  @Test("more frames than a seek table may list are refused before they are listed", arguments: [1 << 33, 1 << 40, 1 << 62])
  func tooManyFrames(_ size: UInt64) throws {
    let error = #expect(throws: PackError.self) { try plan([entry("a", size), entry("b", size)]) }
    #expect(error?.code == .limitExceeded)
  }

  @Test("entries of different names are ordered by extension, then by path, as bytes")
  func order() {
    let paths = [
      "z", "b/README", "A.PNG", "a.png", "x.tar.gz", ".gitignore", "end.", "dir.d/file", "b.gz", "a/.hidden.txt", "Z.txt", "é.txt",
    ]
    let ordered = TarLayout.order(paths.map { entry($0) } + [entry("empty.png", 0, .directory)]).entries.map(\.path)
    #expect(
      ordered == [
        ".gitignore", "b/README", "dir.d/file", "empty.png", "end.", "z", "b.gz", "x.tar.gz", "A.PNG", "a.png", "Z.txt",
        "a/.hidden.txt", "é.txt",
      ])
  }

  @Test("entries with the same name and size are placed together, where the first of them would be, and the index follows the paths")
  func namesakes() {
    let paths = ["c/z.js", "b/a.js", "a/m.js", "b/m.js", "d/a.js", "c/m.js", "a/z.JS"]
    let order = TarLayout.order(paths.map { entry($0) })
    #expect(
      order.entries.map(\.path) == ["a/m.js", "b/m.js", "c/m.js", "a/z.JS", "b/a.js", "d/a.js", "c/z.js"])
    #expect(order.byPath.map { order.entries[Int($0)].path } == paths.sorted())
  }

  @Test("what a game loads at its launch is in front, in small frames of its own, whatever else the order names")
  func launch() throws {
    let found = ["a.js", "b.js", "c.png", "d.png", "e.png"].map { entry($0, 200_000) }
    let order = TarLayout.order(found, by: LoadOrder(launch: ["c.png", "gone.js", "b.js"], later: ["e.png"]))
    #expect(order.entries.map(\.path) == ["c.png", "b.js", "e.png", "a.js", "d.png"])
    #expect(order.byPath.map { order.entries[Int($0)].path } == found.map(\.path))
    let plan = try TarLayout(order, originals: found.map { _ in -1 }, frameSize: LoadOrder.laterFrameSize)
    #expect(plan.frames.map(\.items) == [0..<1, 1..<2, 2..<5])
    #expect(plan.frames.map(\.kind) == [.launch, .launch, .usual])
    // Small enough for one frame with what follows, but not read with it.
    let small = TarLayout.order(["a.js", "b.js"].map { entry($0, 10) }, by: LoadOrder(launch: ["b.js"], later: []))
    #expect(try TarLayout(small, originals: [-1, -1], frameSize: 65_536).frames.map(\.kind) == [.launch, .usual])
    let whole = TarLayout.order(["a.js"].map { entry($0, 10) }, by: LoadOrder(launch: ["a.js"], later: []))
    #expect(try TarLayout(whole, originals: [-1], frameSize: 65_536).frames.map(\.kind) == [.launch])
  }

  @Test("entries with the same name and different sizes stay with the others of their directory")
  func series() {
    let found = [("a/1.png", 10), ("a/2.png", 20), ("b/1.png", 11), ("b/2.png", 20), ("c/1.png", 10), ("c/3.png", 5)]
    let order = TarLayout.order(found.map { entry($0.0, UInt64($0.1)) })
    #expect(order.entries.map(\.path) == ["a/1.png", "c/1.png", "a/2.png", "b/2.png", "b/1.png", "c/3.png"])
  }

  @Test("a font is placed beside itself with another header")
  func fonts() {
    let order = TarLayout.order(["f/a.eot", "f/a.svg", "f/a.ttf", "f/a.woff", "f/b.EOT", "f/b.ttf"].map { entry($0) })
    #expect(order.entries.map(\.path) == ["f/a.svg", "f/a.eot", "f/a.ttf", "f/b.EOT", "f/b.ttf", "f/a.woff"])
  }

  @Test("the order does not depend on the order of discovery")
  func orderIsTotal() {
    let entries = (0..<200).map { entry("d\($0 % 7)/f\($0).\(["a", "B", "b", ""][$0 % 4])") }
    let expected = TarLayout.order(entries).entries.map(\.path)
    var random = SeededGenerator()
    for _ in 0..<5 { #expect(TarLayout.order(entries.shuffled(using: &random)).entries.map(\.path) == expected) }
  }

  @Test("the extension of a path is as the format defines it")
  func extensions() {
    let cases: [String: String] = [
      "A.PNG": "png", "x.tar.gz": "gz", ".gitignore": "", "README": "", "end.": "", "a.b/c": "", "a/.x": "", "a/.x.Y": "y",
      "Ä.Ä": "Ä", "a..": "",
    ]
    for (path, expected) in cases {
      #expect(TarOrder.fileExtension(of: path) == Array(expected.utf8), "\(path)")
    }
  }

  @Test("frames are cut as in the format's worked example")
  func workedExample() throws {
    let sizes: [UInt64] = [512, 60_416, 2_560, 65_024, 0, 200_192, 512]
    let entries = zip(["a", "b", "c", "d", "e", "f", "g"], sizes).map { entry($0, $1) }
    #expect(try frames(plan(entries)) == [65_024, 65_536, 512, 65_536, 65_536, 65_536, 4_096, 2_048])
  }

  @Test("a tree without entries is one frame of 1024 zeros")
  func empty() throws {
    let none: [SourceEntry] = []
    #expect(try frames(plan(none)) == [1024])
  }

  @Test("an entry as long as a frame is one frame; one block more is cut")
  func exactFrame() throws {
    #expect(try frames(plan([entry("a", 65_024)])) == [65_536, 1024])
    #expect(try frames(plan([entry("a", 65_025)])) == [65_536, 512, 1024])
    #expect(try frames(plan([entry("a", 131_072 - 512)])) == [65_536, 65_536, 1024])
  }

  @Test("the closing 1024 bytes join the last frame only if they fit")
  func closingBytes() throws {
    #expect(try frames(plan([entry("a", 64_000)])) == [65_536])
    #expect(try frames(plan([entry("a", 64_001)])) == [65_024, 1024])
  }

  @Test("frames are contiguous, none is empty or too long, and each lists its items", arguments: [65_536, 1 << 20, 8 << 20])
  func coverage(_ frameSize: Int) throws {
    var entries = (0..<300).map { entry("f\($0)", UInt64($0 * $0 * 37 % 300_000)) }
    entries.append(entry("ü" + String(repeating: "n", count: 300), 100_000))
    entries.append(entry("dir", 0, .directory))
    let plan = try plan(entries, frameSize: frameSize)
    var end: UInt64 = 0
    for frame in plan.frames {
      #expect(frame.range.lowerBound == end && !frame.range.isEmpty && frame.range.count <= frameSize)
      for number in plan.items.indices {
        let touches = !(plan.items[number].start..<plan.items[number].end).clamped(to: frame.range).isEmpty
        #expect(touches == frame.items.contains(number))
      }
      end = frame.range.upperBound
    }
    #expect(end == plan.tarSize)
  }

  @Test("a file with the content of an earlier one takes only a header")
  func links() throws {
    let plan = try plan([entry("a", 5000), entry("b", 5000), entry("c", 1)], originals: [-1, 0, -1])
    #expect(plan.items.map(\.start) == [0, 5632, 6144] as [UInt64])
    #expect(plan.duplicateFiles == 1 && plan.duplicateBytes == 5000)
    #expect(plan.header(of: plan.items[1]).linkTarget == "a" && plan.header(of: plan.items[1]).size == 0)
  }
}
