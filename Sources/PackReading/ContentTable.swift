/// The place of every file's content, in the order of the tar: 16 bytes per record that has content.
///
/// Creating it reads the whole index once and checks what only a full pass can check (FORMAT.md §4.4, §5): the order of the paths, that no entry is
/// below another one, the sum of the sizes, the number of directories, the content root, and that any two content ranges are either identical or disjoint.
package struct ContentTable: Sendable {
  /// One record with content.
  package struct Item: Sendable {
    /// The offset of the content in the tar (below 2^40) in bits 24 to 63; below them the number of the record (below 2^20). So items are sorted by it.
    fileprivate let place: UInt64
    /// The length of the content in bytes (below 2^40) in bits 0 to 47; the length of the path from bit 48 on.
    private let lengths: UInt64

    fileprivate init(offset: UInt64, number: Int, size: UInt64, pathLength: Int) {
      place = offset << 24 | UInt64(number)
      lengths = UInt64(pathLength) << 48 | size
    }

    /// The length of the content in bytes.
    package var size: UInt64 { lengths & (1 << 48 - 1) }
    /// The length of the path in bytes.
    var pathLength: Int { Int(lengths >> 48) }

    package var offset: UInt64 { place >> 24 }
    package var range: Range<UInt64> { offset..<offset + size }
    /// The end of the content including its padding.
    package var paddedEnd: UInt64 { (offset + size + 511) / 512 * 512 }
    /// The number of the record in the index.
    package var number: Int { Int(place & (1 << 24 - 1)) }
    package var block: Int { number / Limits.recordsPerBlock }
    package var row: Int { number % Limits.recordsPerBlock }
  }

  /// Ascending by offset; records that share their content are adjacent.
  let items: [Item]
  /// What the tree makes on a disk.
  package let count: TreeCount
  /// The numbers of the index blocks that have records without content.
  private let blocksWithEmpty: [Int32]

  /// - Parameter reader: reads the index; the blocks it keeps are those that were checked here.
  init(_ pack: Pack, reader: PackReader, pool: WorkerPool) throws(PackError) {
    let head = pack.index.head
    let root = try ContentRoot(backend: pack.source.backend)
    var order = EntryPath.TreeOrder()
    var items: [Item] = []
    items.reserveCapacity(Int(head.recordCount))
    var contentSize: UInt64 = 0
    var count = TreeCount()
    var blocksWithEmpty: [Int32] = []
    for number in 0..<head.blockCount {
      try pool.checkpoint()
      let block = try reader.block(number, order: &order)
      var hasEmpty = false
      for row in 0..<block.count {
        let size = block.size(of: row)
        let kind = block.kind(of: row)
        let (sum, overflow) = contentSize.addingReportingOverflow(size)
        guard !overflow else { throw PackError(.damagedPayload, "the sizes of all entries overflow") }
        contentSize = sum
        try block.withDigest(of: row) { (digest) throws(PackError) in
          try block.withPath(of: row) { (path) throws(PackError) in
            try root.add(path: path, kind: kind, size: size, digest: digest)
            try count.add(path: path, kind: kind, size: size)
          }
        }
        if size == 0 {
          hasEmpty = true
        } else {
          items.append(
            Item(
              offset: block.offset(of: row), number: block.number(of: row),
              size: size, pathLength: block.withPath(of: row) { $0.count }))
        }
      }
      if hasEmpty { blocksWithEmpty.append(Int32(number)) }
    }
    guard contentSize == head.contentSize else {
      throw PackError(
        .damagedPayload, "the entries add up to \(contentSize) bytes, but the index says \(head.contentSize)")
    }
    guard try root.finish() == head.contentRoot else {
      throw PackError(.damagedPayload, "the entries do not match the content root")
    }
    items.sort { $0.place < $1.place }
    for (left, right) in zip(items, items.dropFirst()) {
      guard left.range == right.range || left.range.upperBound <= right.offset else {
        throw PackError(.damagedPayload, "the content of two entries overlaps at byte \(right.offset) of the tar")
      }
    }
    self.items = items
    self.count = count
    self.blocksWithEmpty = blocksWithEmpty
  }

  /// Calls `body` with the path, kind and number of every record without content, including directories, in the order of the paths.
  ///
  /// - Parameter reader: a reader with the cache that the table was made with, so that the records are those that were checked.
  func forEachEmpty(
    reader: PackReader, pool: WorkerPool, _ body: (Span<UInt8>, IndexRecord.Kind, Int) throws(PackError) -> Void
  ) throws(PackError) {
    for number in blocksWithEmpty {
      try pool.checkpoint()
      let block = try reader.block(Int(number), isKept: false)
      for row in 0..<block.count where block.size(of: row) == 0 {
        try block.withPath(of: row) { (path) throws(PackError) in
          try body(path, block.kind(of: row), block.number(of: row))
        }
      }
    }
  }

  /// Returns the items whose content has bytes in `range` of the tar.
  package func items(in range: Range<UInt64>) -> ArraySlice<Item> {
    // Ranges are identical or disjoint, so their ends ascend like their starts.
    let first = items.partitioningIndex { $0.range.upperBound > range.lowerBound }
    let end = items.partitioningIndex { $0.offset >= range.upperBound }
    return items[first..<max(first, end)]
  }

  /// Returns the items of ``items(in:)``, grouped by content, in an order in which a reader reads each block of the index once.
  ///
  /// A content that continues from the previous frame stays first, because it must wait for the worker of that frame. A content that continues in the
  /// next frame stays last.
  func groups(in range: Range<UInt64>) -> [ArraySlice<Item>] {
    var groups: [ArraySlice<Item>] = []
    var rest = items(in: range)
    while let first = rest.first {
      groups.append(rest.prefix { $0.offset == first.offset })
      rest = rest.dropFirst(groups[groups.count - 1].count)
    }
    func isWhole(_ group: ArraySlice<Item>) -> Bool {
      group[group.startIndex].range.clamped(to: range) == group[group.startIndex].range
    }
    let first = groups.first.map(isWhole) ?? true ? 0 : 1
    let end = groups.last.map(isWhole) ?? true ? groups.count : groups.count - 1
    if first < end {
      groups[first..<end].sort { $0[$0.startIndex].number < $1[$1.startIndex].number }
    }
    return groups
  }

  /// Calls `body` with every part of `range` that is neither content nor the padding after it: headers, and the end of the tar.
  ///
  /// - Parameter body: also receives the items whose content starts at the end of the part. That content may start directly after `range`.
  package func forEachGap(
    in range: Range<UInt64>, _ body: (Range<UInt64>, ArraySlice<Item>) throws(PackError) -> Void
  ) throws(PackError) {
    // A content that ended before `range` may have its padding in it.
    let earliest = range.lowerBound > 511 ? range.lowerBound - 511 : 0
    var position = range.lowerBound
    var rest = items(in: earliest..<range.upperBound + 1)
    while let first = rest.first {
      let group = rest.prefix { $0.offset == first.offset }
      rest = rest.dropFirst(group.count)
      if first.offset > position { try body(position..<first.offset, group) }
      position = max(position, first.paddedEnd)
    }
    if position < range.upperBound { try body(position..<range.upperBound, []) }
  }
}
