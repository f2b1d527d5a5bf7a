import TestSupport
import Testing

@testable import PackBuild
@testable import PackProject

@Suite("How hard frames are compressed depends on the tree", .bounded)
struct FrameStrengthsTests {
  /// Returns a layout of files of these sizes. The last `copies` of them are identical to the first.
  private func layout(_ sizes: [UInt64], copies: Int = 0) throws -> TarLayout {
    let entries = sizes.enumerated().map { (number, size) in
      SourceEntry(
        path: "\(number)", kind: .file, size: size,
        stamp: FileStamp(
          FileStatus(kind: .file, size: size, mode: 0o644, device: 1, inode: 1, linkCount: 1, modified: 0, changed: 0)))
    }
    let order = TarLayout.Order(entries: entries, byPath: Array(entries.indices.map(Int32.init)))
    return try TarLayout(
      order, originals: entries.indices.map { $0 < entries.count - copies ? -1 : 0 }, frameSize: Limits.defaultFrameSize)
  }

  private func levels(_ layout: TarLayout, _ level: PackLevel = .balanced) -> [Int] {
    let strengths = FrameStrengths(level, for: layout)
    return [strengths.usual, strengths.text, strengths.joined].map(\.level)
  }

  @Test("all frames of a small tree are compressed more")
  func small() throws {
    #expect(try levels(layout([])) == [3, 3, 3])
    #expect(try levels(layout([0])) == [6, 6, 6])
    // Besides a header, and the end of the tar.
    #expect(try levels(layout([(3 << 20) - 512 - 1024])) == [6, 6, 6])
    #expect(try levels(layout([(3 << 20) - 512 - 1024 + 1])) == [3, 3, 3])
  }

  @Test("in larger trees of small files, only text and joined frames are")
  func medium() throws {
    #expect(try levels(layout([UInt64](repeating: 10_000, count: 1000))) == [3, 6, 6])
    #expect(try levels(layout([UInt64](repeating: 10_000, count: 1480))) == [3, 6, 6])
    #expect(try levels(layout([UInt64](repeating: 10_000, count: 1600))) == [3, 3, 3])
  }

  @Test("files that are large on average, or identical, make up for the index")
  func noNeed() throws {
    #expect(try levels(layout([UInt64](repeating: 20_000, count: 500))) == [3, 3, 3])
    #expect(try levels(layout([UInt64](repeating: 10_000, count: 1000), copies: 40)) == [3, 6, 6])
    #expect(try levels(layout([UInt64](repeating: 10_000, count: 1000), copies: 80)) == [3, 3, 3])
  }

  @Test("other levels are as requested", arguments: [(PackLevel.fast, [-1, 1, 1]), (.number(3), [3, 3, 3]), (.smallest, [19, 19, 19])])
  func others(_ level: PackLevel, _ expected: [Int]) throws {
    for sizes in [[], [100], [UInt64](repeating: 10_000, count: 1000), [50_000_000]] as [[UInt64]] {
      #expect(try levels(layout(sizes), level) == expected)
    }
  }

  @Test("a small tree is compressed more than by its level, and the number of threads changes nothing")
  func packs() async throws {
    var random = SeededGenerator(seed: 91)
    let words = (0..<2000).map { _ in String(random.next() % 1_000_000, radix: 36) }
    let project = try SampleProject()
    for number in 0..<60 {
      let text = (0..<8000).map { _ in words[Int(random.next() % 2000)] }.joined(separator: " ")
      try project.add("\(number).txt", Array(text.utf8))
    }
    let plain = try await project.pack { $0.settings.level = .number(3) }
    var packs: Set<[UInt8]> = []
    for jobs in [1, 2, 8] {
      let report = try await project.pack {
        $0.settings.level = .balanced
        $0.jobs = jobs
      }
      #expect(report.packSize < plain.packSize / 100 * 99)
      packs.insert(project.packed)
    }
    #expect(packs.count == 1)
    _ = try await project.verify(against: project.source)
  }
}
