import TestSupport

extension FuzzTarget {
  /// The index: head, directory and blocks, uncompressed.
  ///
  /// The input is a byte of flags, the head, and then, each after its length, the directory and blocks: the number of records and their columns. Bit 0 of the flags sets a
  /// minor version above 0. With bit 1, numbers and directory are computed from the blocks, so that the records are read.
  static let index = FuzzTarget(
    "index", largestInput: 8192,
    files: [
      "Sources/PackFormat/PayloadIndex.swift", "Sources/PackFormat/RecordColumns.swift", "Sources/PackReading/Payload/IndexReader.swift",
      "Sources/PackFormat/EntryPath.swift",
    ],
    seeds: {
      func records(_ paths: [String]) -> [UInt8] {
        let records = paths.enumerated().map { (number, path) in
          let isDirectory = path.hasSuffix("/")
          return IndexRecord(
            path: Array(isDirectory ? String(path.dropLast()).utf8 : path.utf8),
            kind: isDirectory ? .directory : number % 2 == 0 ? .file : .executable,
            size: isDirectory ? 0 : 100, offset: isDirectory ? 0 : UInt64(512 + 1024 * number))
        }
        return [UInt8(records.count)] + RecordColumns.bytes(for: records)
      }
      func seed(_ name: String, flags: UInt8 = 2, _ blocks: [[UInt8]], head: IndexHead? = nil, directory: [UInt8] = []) -> FuzzSeed {
        let head = head ?? IndexHead(recordCount: 0, largestFrame: 0, contentSize: 100, tarSize: 0, contentRoot: Array(0..<32))
        return FuzzSeed(name, [flags] + head.bytes + lengthAndBytes(directory) + blocks.flatMap(lengthAndBytes))
      }
      let many = (0..<140).map { "level/\(String(1000 + $0))" }
      let first = records(["a"])
      return [
        seed("three", [records(["a", "b/c", "d/"])]), seed("minor", flags: 3, [records(["a", "b/c"]) + [0]]), seed("none", []),
        seed("two-blocks", [records(Array(many.prefix(128))), records(Array(many.suffix(12)))]),
        seed("unicode", [records(["ä/ö", "日本語/ファイル"])]),
        seed("paths", [records([".", "..", "._a", ".pack", "a/../b", "a\\b", "a\u{7}", "a\u{202E}b", "e\u{301}", "\u{9B}"])]),
        seed("long-component", [records([String(repeating: "x", count: 256)])]),
        seed("longest", [records([String(repeating: "x/", count: 600) + "x"])]),
        seed("reserved", [records([".pack/a"])]), seed("dots", [records(["a/./b"])]), seed("dots-first", [records(["../a"])]),
        seed("metadata", [records(["a/._b"])]), seed("bidi", [records(["a\u{2066}"])]), seed("control", [records(["\u{85}a"])]),
        seed("below-another", [records(["a", "a-b", "a/b"])]), seed("long", [records([String(repeating: "d/", count: 400) + "x"])]),
        seed(
          "by-hand", flags: 0, [first],
          head: IndexHead(recordCount: 1, largestFrame: 65_536, contentSize: 100, tarSize: 65_536, contentRoot: Array(0..<32)),
          directory: IndexDirectory.bytes(for: [(UInt32(32 + (try Sealing.frame(Array(first.dropFirst()))).count), [0x61])])),
      ]
    },
    run: { (input) throws(BrokenPromise) in
      try IndexInput(input).run()
    })
}

/// The index in an input.
private struct IndexInput {
  private let isGrown: Bool
  private var head: [UInt8]
  private var directory: [UInt8]
  /// The columns of each block, and the number of records that the last one shall have.
  private var blocks: [[UInt8]] = []
  private var lastCount = 1
  private let followsBlocks: Bool
  /// The size of the tar, which is never read.
  private static let tarSize: UInt32 = 65_536

  init(_ input: [UInt8]) {
    var feed = ByteFeed(input)
    let flags = feed.byte()
    isGrown = flags & 1 != 0
    followsBlocks = flags & 2 != 0
    head = feed.piece(IndexHead.size)
    directory = feed.piece()
    while !feed.isEmpty, blocks.count < 8 {
      let piece = feed.piece()
      lastCount = min(max(1, Int(piece.first ?? 1)), Limits.recordsPerBlock)
      blocks.append(Array(piece.dropFirst()))
    }
  }

  func run() throws(BrokenPromise) {
    try checkHead(head)
    var head = head
    var directory = directory
    var stored: [[UInt8]] = []
    var items: [(length: UInt32, firstPath: [UInt8])] = []
    for (number, block) in blocks.enumerated() {
      let count = number == blocks.count - 1 ? lastCount : Limits.recordsPerBlock
      let frame = try required("compressing") { () throws(PackError) in try Sealing.frame(block) }
      stored.append(frame + [UInt8](repeating: UInt8(number), count: 32 * Self.digestCount(of: block, count: count)))
      items.append((UInt32(stored[number].count), Array(block.prefix { $0 != 0 })))
    }
    let recordCount = UInt32(blocks.isEmpty ? 0 : (blocks.count - 1) * Limits.recordsPerBlock + lastCount)
    if followsBlocks {
      directory = IndexDirectory.bytes(for: items)
      head =
        IndexHead(
          recordCount: recordCount, largestFrame: Self.tarSize, contentSize: 100, tarSize: UInt64(Self.tarSize),
          contentRoot: [UInt8](repeating: 3, count: 32)
        ).bytes
    }
    let compressed =
      directory.isEmpty && followsBlocks ? [] : try required("compressing") { () throws(PackError) in try Sealing.frame(directory) }
    let blocksFrame = Sealing.skippable(stored.flatMap { $0 })
    // If the input ends within the head, the bytes that follow are read as the rest of it.
    let headContent = head + compressed
    let headFrame = Sealing.skippable(headContent)
    let table = SeekTable.bytes(
      for: [(100, Self.tarSize), (UInt32(blocksFrame.count), 0), (UInt32(headFrame.count), 0)])
    let payload = [UInt8](repeating: 0, count: 100) + blocksFrame + headFrame + table
    let source = MemorySource(payload)
    guard
      let (parsed, reader) = try accepted({ () throws(PackError) in
        let parsed = try SeekTable(parsing: table.byteSpan, payloadSize: UInt64(payload.count))
        return (parsed, try IndexReader(source: source, table: parsed, minor: isGrown ? 1 : 0))
      })
    else { return }
    try hold(headContent.starts(with: reader.head.bytes), "a head is written differently than it was read")
    try hold(reader.head.tarSize == parsed.tarSize, "a head disagrees with its seek table")
    try checkDirectory(directory, reader.head, blocksSize: UInt64(blocksFrame.count - 8))
    let decoder = try required("a decoder") { () throws(PackError) in try DecompressionContext() }
    var order = EntryPath.TreeOrder()
    var previous: [UInt8]?
    for number in 0..<reader.head.blockCount {
      let block = try accepted { () throws(PackError) in
        try reader.block(number, source: source, decoder: decoder, order: &order)
      }
      guard let block else { return }
      try check(block, number, reader, &previous)
    }
  }

  private func check(_ block: IndexBlock, _ number: Int, _ reader: IndexReader, _ previous: inout [UInt8]?) throws(BrokenPromise) {
    try hold(block.count == reader.head.recordCount(inBlock: number), "block \(number) has a different number of records than in the head")
    for row in 0..<block.count {
      let record = block.record(row)
      if let previous {
        try hold(previous.lexicographicallyPrecedes(record.path), "paths are out of order")
        try hold(!record.path.starts(with: previous + [0x2F]), "a path is below a path of another entry")
      }
      previous = record.path
      try hold(EntryPath.securityProblem(of: record.path.byteSpan) == nil, "a path was accepted that is not allowed in a pack")
      try hold(Self.isPlain(record.path), "the path \(record.path) was accepted")
      try hold(record.kind != .directory || record.size == 0, "a directory has content")
      try hold(
        record.size <= UInt64(Self.tarSize) && record.offset <= UInt64(Self.tarSize) - record.size, "content is outside of the tar")
      try hold(reader.block(holding: record.path.byteSpan) == number, "a path is searched in another block")
      try hold(block.row(of: record.path.byteSpan) == row, "a path is not found in its block")
      let entry = block.entry(row)
      try hold(Array(entry.path.utf8) == record.path && entry.size == record.size, "an entry differs from its record")
    }
    if blocks.indices.contains(number), !isGrown, followsBlocks {
      let written = RecordColumns.bytes(for: (0..<block.count).map { block.record($0) })
      try hold(written == blocks[number], "records are written differently than they were read")
    }
  }

  private func checkHead(_ bytes: [UInt8]) throws(BrokenPromise) {
    guard let head = try accepted({ () throws(PackError) in try IndexHead.parse(bytes.byteSpan) }) else { return }
    try hold(head.bytes == bytes, "a head is written differently than it was read")
    try hold(head.recordCount <= UInt32(Limits.records), "a head has too many records")
  }

  private func checkDirectory(_ bytes: [UInt8], _ head: IndexHead, blocksSize: UInt64) throws(BrokenPromise) {
    guard head.recordCount > 0 else { return }
    guard
      let directory = try accepted({ () throws(PackError) in
        try IndexDirectory(parsing: bytes, head: head, blocksSize: blocksSize)
      })
    else { return }
    var feed = ByteFeed(bytes)
    var items: [(length: UInt32, firstPath: [UInt8])] = []
    for block in 0..<directory.count {
      let length = UInt32(feed.number(width: 4))
      items.append((length, feed.piece()))
      try hold(directory.range(ofBlock: block).count == Int(length), "block \(block) has a different length than in the directory")
      let path = items[block].firstPath
      try hold(directory.block(block, startsWith: path.byteSpan), "block \(block) starts with another path")
    }
    try hold(IndexDirectory.bytes(for: items) == bytes, "a directory is written differently than it was read")
  }

  /// Returns whether a path passes a second, simple check of the format's rules.
  private static func isPlain(_ path: [UInt8]) -> Bool {
    let parts = path.split(separator: 0x2F, omittingEmptySubsequences: false).map(Array.init)
    return !path.contains { $0 < 0x20 || $0 == 0x5C || $0 == 0x7F } && String(validating: path, as: UTF8.self) != nil
      && parts.allSatisfy { (1...255).contains($0.count) && $0 != [0x2E] && $0 != [0x2E, 0x2E] && !$0.starts(with: [0x2E, 0x5F]) }
      && parts[0] != Array(".pack".utf8) && path.count <= 1024
  }

  /// Returns the number of digests that these columns need.
  private static func digestCount(of block: [UInt8], count: Int) -> Int {
    guard let columns = try? RecordColumns(parsing: block, count: count, exactly: false, name: "a block") else { return count }
    return (0..<count).count { columns.size($0) > 0 && columns.original(of: $0) == $0 }
  }
}
