import TestSupport
import Testing

@testable import packer_bench

@Suite("Generated corpora")
struct CorpusTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func content(_ kind: CorpusKind, size: Int, count: Int, seed: UInt64) -> [[UInt8]] {
    CorpusPlan(kind, size: size, count: count, seed: seed).files.map { file in
      var bytes: [UInt8] = []
      file.make(in: &bytes)
      return Array(file.path.utf8) + [0] + bytes
    }
  }

  @Test("the same seed gives the same files, another seed others", arguments: CorpusKind.allCases)
  func determinism(_ kind: CorpusKind) {
    let first = content(kind, size: 300_000, count: 40, seed: 7)

    #expect(content(kind, size: 300_000, count: 40, seed: 7) == first)
    #expect(content(kind, size: 300_000, count: 40, seed: 8) != first)
  }

  @Test(
    "a corpus has the requested size, and no path occurs twice",
    arguments: [(CorpusKind.media, 1_100_000_000, 4000), (.texts, 90_000_000, 20_000)])
  func size(_ kind: CorpusKind, _ size: Int, _ count: Int) {
    let files = CorpusPlan(kind, size: size, count: count, seed: 1).files

    let total = files.reduce(0) { $0 + $1.size }
    #expect(abs(total - size) < size / 20)
    #expect(abs(files.count - count) < count / 4)
    #expect(Set(files.map(\.path)).count == files.count)
  }

  @Test("one byte in twenty of media belongs to a duplicate file")
  func duplicates() {
    let size = 1_100_000_000
    var seen: Set<FileRecipe> = []
    var again = 0
    for file in CorpusPlan(.media, size: size, count: 4000, seed: 1).files {
      var recipe = file
      recipe.path = ""
      if !seen.insert(recipe).inserted { again += file.size }
    }

    #expect((0.04...0.07).contains(Double(again) / Double(size)))
  }

  @Test("every file has the size of its recipe", arguments: CorpusKind.allCases)
  func exactSizes(_ kind: CorpusKind) {
    var bytes: [UInt8] = []
    for file in CorpusPlan(kind, size: 400_000, count: 60, seed: 3).files {
      file.make(in: &bytes)
      #expect(bytes.count == file.size, "\(file)")
    }
  }

  @Test("texts compress like natural text, media hardly at all", arguments: [(CorpusKind.texts, 3.5...6.5), (.media, 1.0...1.3)])
  func compression(_ kind: CorpusKind, _ range: ClosedRange<Double>) throws {
    var content: [UInt8] = []
    var bytes: [UInt8] = []
    for file in CorpusPlan(kind, size: 2_000_000, count: 300, seed: 5).files where content.count < 1 << 20 {
      file.make(in: &bytes)
      content += bytes
    }

    let context = try CompressionContext(level: 3)
    var frame = [UInt8](repeating: 0, count: PackFormat.Limits.compressBound(content.count))
    var span = frame.mutableByteSpan
    let count = try context.compress(content.byteSpan, into: &span)

    #expect(range.contains(Double(content.count) / Double(count)))
  }

  @Test("a corpus does not overwrite existing files")
  func occupied() throws {
    try directory.write([1], to: "there/file")

    #expect(throws: PackError.self) {
      try CorpusWriter().write(CorpusPlan(.media, size: 100_000, count: 8, seed: 1), to: directory("there"))
    }
    #expect(directory.names(in: "there") == ["file"])
  }
}
