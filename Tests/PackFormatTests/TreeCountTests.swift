import TestSupport
import Testing

@Suite("Counting what a tree takes on a disk")
struct TreeCountTests {
  private static let block: UInt64 = 4096

  /// Counts files of these sizes and, where the size is nil, empty directories.
  private func count(_ entries: [(String, UInt64?)]) throws(PackError) -> TreeCount {
    var count = TreeCount()
    let sorted = entries.sorted { precedes(Array($0.0.utf8).byteSpan, Array($1.0.utf8).byteSpan) }
    for (path, size) in sorted {
      try count.add(path: Array(path.utf8).byteSpan, kind: size == nil ? .directory : .file, size: size ?? 0)
    }
    return count
  }

  @Test("an empty tree is one directory")
  func empty() throws {
    let count = try count([])
    #expect((count.files, count.directories) == (0, 1))
    #expect((count.installSize, count.diskSize) == (Self.block, Self.block))
  }

  @Test("files are rounded up to blocks, and directories that no record names are counted once")
  func implied() throws {
    let count = try count([
      ("a", 0), ("b", 1), ("c", 4096), ("d", 4097), ("x/y/one", 1), ("x/y/two", 1), ("x/z", nil), ("x-y", 1), ("xy/y/one", 1),
    ])
    #expect((count.files, count.directories) == (8, 6))
    #expect(count.installSize == (6 + 0 + 1 + 1 + 2 + 1 + 1 + 1 + 1) * Self.block)
    #expect(count.diskSize == count.installSize)
  }

  @Test("a directory whose names do not fit in one block takes three times their bytes, and one more block")
  func manyNames() throws {
    // 12 bytes for each name, so 338 fit in 4060 bytes.
    func names(_ count: Int) -> [(String, UInt64?)] { (0..<count).map { (String(1000 + $0), 0) } }
    #expect(try count(names(338)).diskSize == Self.block)
    #expect(try count(names(339)).diskSize == 4 * Self.block)
    #expect(try count(names(339).map { ("below/" + $0.0, $0.1) }).diskSize == 5 * Self.block)
    // Directories are names too, and a directory after another starts from nothing.
    #expect(try count(names(339).map { ($0.0, nil) }).diskSize == (4 + 339) * Self.block)
    #expect(try count(names(200).map { ("a/" + $0.0, 0) } + names(200).map { ("b/" + $0.0, 0) }).diskSize == 3 * Self.block)
    #expect(try count(names(339)).installSize == Self.block)
  }

  @Test("a large file takes blocks that map it", arguments: [(1 << 20, 0), (1 << 20 + 1, 1), (8 << 20, 2), (64 << 20, 9)])
  func mapped(size: Int, more: UInt64) throws {
    let count = try count([("large", UInt64(size))])
    #expect(count.diskSize == count.installSize + more * Self.block)
  }

  @Test("sizes that no disk has do not overflow")
  func huge() throws {
    let count = try count((0..<10).map { ("\($0)", UInt64.max) })
    #expect(count.installSize == .max && count.diskSize == .max)
  }

  @Test("the largest number of directories is accepted, one more is refused", arguments: [true, false])
  func limit(areImplied: Bool) throws {
    var count = TreeCount()
    func add(_ number: Int) throws(PackError) {
      let path = areImplied ? "\(100_000 + number)/file" : "\(100_000 + number)"
      try count.add(path: Array(path.utf8).byteSpan, kind: areImplied ? .file : .directory, size: 0)
    }
    for number in 1..<Limits.directories { try add(number) }
    #expect(count.directories == UInt64(Limits.directories))
    #expect { try add(Limits.directories) } throws: { ($0 as? PackError)?.code == .limitExceeded }
  }
}
