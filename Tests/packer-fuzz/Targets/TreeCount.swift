extension FuzzTarget {
  /// The count of what a tree takes on a disk.
  ///
  /// The input is a list of entries: a byte with flags, a size in units of 1000 bytes, and a path after its length. Bit 0 of the flags makes a
  /// directory. Bits 1 to 7 are the number of bytes that the path shares with the previous one.
  static let treeCount = FuzzTarget(
    "tree-count", largestInput: 8192, files: ["Sources/PackFormat/TreeCount.swift"],
    seeds: {
      func seed(_ name: String, _ entries: [(shared: UInt8, isDirectory: Bool, size: UInt8, rest: String)]) -> FuzzSeed {
        FuzzSeed(name, entries.flatMap { [$0.shared << 1 | ($0.isDirectory ? 1 : 0), $0.size] + lengthAndBytes(Array($0.rest.utf8)) })
      }
      return [
        seed("none", []), seed("file", [(0, false, 5, "a")]),
        seed("implied", [(0, false, 1, "a/b/c"), (4, false, 1, "d"), (2, true, 0, "e"), (0, false, 9, "a-b"), (0, true, 0, "b")]),
        seed("deep", [(0, false, 0, String(repeating: "d/", count: 63) + "e"), (100, false, 0, "f/g")]),
        seed("names", (0..<60).map { (0, $0 % 7 == 0, UInt8($0), "\($0)" + String(repeating: "n", count: 90)) }),
      ]
    },
    run: { (input) throws(BrokenPromise) in
      var feed = ByteFeed(input)
      var entries: [[UInt8]: (kind: IndexRecord.Kind, size: UInt64)] = [:]
      var previous: [UInt8] = []
      while !feed.isEmpty, entries.count < 512 {
        let flags = feed.byte()
        let size = UInt64(feed.byte()) * 1000
        previous = previous.prefix(Int(flags >> 1)) + feed.piece()
        guard EntryPath.securityProblem(of: previous.byteSpan) == nil else { continue }
        entries[previous] = flags & 1 == 1 ? (.directory, 0) : (.file, size * size)
      }
      try check(entries)
    })

  /// Compares the count with one by sets of whole paths.
  private static func check(_ entries: [[UInt8]: (kind: IndexRecord.Kind, size: UInt64)]) throws(BrokenPromise) {
    var order = EntryPath.TreeOrder()
    var count = TreeCount()
    /// The names in each directory.
    var directories: [[UInt8]: Set<[UInt8]>] = [[]: []]
    var blocks: UInt64 = 0
    var maps: UInt64 = 0
    for path in entries.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      guard let entry = entries[path], order.problem(withNext: path.byteSpan) == nil else { continue }
      try required("counting") { () throws(PackError) in try count.add(path: path.byteSpan, kind: entry.kind, size: entry.size) }
      let components = path.split(separator: UInt8(ascii: "/")).map(Array.init)
      for depth in components.indices {
        directories[Array(components[..<depth].joined(separator: [UInt8(ascii: "/")])), default: []].insert(components[depth])
      }
      if entry.kind == .directory { directories[path, default: []].formUnion([]) }
      blocks += (entry.size + 4095) / 4096
      if entry.size > 1 << 20 { maps += entry.size / (8 << 20) + 1 }
    }
    var more: UInt64 = 0
    for names in directories.values {
      let size = names.reduce(0) { $0 + 8 + ($1.count + 3) / 4 * 4 }
      if size > 4060 { more += UInt64(3 * size + 4095) / 4096 }
    }
    try hold(count.directories == UInt64(directories.count), "directories are counted wrongly")
    try hold(count.installSize == (blocks + UInt64(directories.count)) * 4096, "the install size is wrong")
    try hold(count.diskSize == count.installSize + (maps + more) * 4096, "the size on a disk is wrong")
  }
}
