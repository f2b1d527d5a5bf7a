import PackFormat

/// Where the content of every file lies, in the order of the tar: 16 bytes per record that has content.
///
/// Making it reads the whole index once and checks what only the whole of it can show (FORMAT.md §4.4, §5): the order of the paths,
/// no entry below another one, the sum of the sizes, the content root, and that two ranges are the same or apart.
struct ContentTable: Sendable {
  /// One record with content.
  struct Item: Sendable {
    /// The offset of the content in the tar, in units of 512 bytes: 2^40 bytes of tar are 2^31 units.
    let unit: UInt32
    /// Block and row of the record.
    let location: UInt32
    /// The length of the content in bytes.
    let size: UInt64

    var offset: UInt64 { UInt64(unit) * 512 }
    var range: Range<UInt64> { offset..<offset + size }
    var block: Int { Int(location) / Limits.recordsPerBlock }
    var row: Int { Int(location) % Limits.recordsPerBlock }
  }

  /// Ascending by offset; records that share their content stand together.
  let items: [Item]

  /// - Parameter visitEmpty: receives every record without content, directories included, in the order of the paths.
  init(_ pack: Pack, crew: Crew, visitEmpty: (IndexRecord) throws(PackError) -> Void) throws(PackError) {
    let head = pack.index.head
    let reader = try PackReader(pack)
    let root = try ContentRoot(backend: pack.source.backend)
    let emptyDigest = try pack.source.backend.makeDigest().finish()
    let noDigest = [UInt8](repeating: 0, count: 32)
    var order = EntryPath.TreeOrder()
    var items: [Item] = []
    items.reserveCapacity(Int(head.recordCount))
    var contentSize: UInt64 = 0
    for number in 0..<head.blockCount {
      try crew.checkpoint()
      let block = try reader.block(number)
      for (row, record) in block.records.enumerated() {
        if let problem = order.problem(withNext: record.path.span) {
          throw PackError(.damagedPayload, "entry '\(printable(record.path))' \(problem)")
        }
        let (sum, overflow) = contentSize.addingReportingOverflow(record.size)
        guard !overflow else { throw PackError(.damagedPayload, "the sizes of all entries overflow") }
        contentSize = sum
        try block.withDigest(of: row) { (digest) throws(PackError) in
          try root.add(record, digest: digest)
          let expected = record.kind == .directory ? noDigest : emptyDigest
          guard record.size > 0 || equal(digest, expected.span) else {
            throw PackReader.digestMismatch(String(decoding: record.path, as: UTF8.self))
          }
        }
        if record.size == 0 {
          try visitEmpty(record)
        } else {
          items.append(
            Item(
              unit: UInt32(record.offset / 512), location: UInt32(number * Limits.recordsPerBlock + row),
              size: record.size))
        }
      }
    }
    guard contentSize == head.contentSize else {
      throw PackError(
        .damagedPayload, "the entries add up to \(contentSize) bytes, but the index says \(head.contentSize)")
    }
    guard try root.finish() == head.contentRoot else {
      throw PackError(.damagedPayload, "the entries are not those that the content root names")
    }
    items.sort { ($0.unit, $0.location) < ($1.unit, $1.location) }
    for (left, right) in zip(items, items.dropFirst()) {
      guard left.range == right.range || left.range.upperBound <= right.offset else {
        throw PackError(.damagedPayload, "the content of two entries overlaps at byte \(right.offset) of the tar")
      }
    }
    self.items = items
  }

  /// The items whose content has bytes in `range` of the tar.
  func items(in range: Range<UInt64>) -> ArraySlice<Item> {
    // Ranges are the same or apart, so their ends ascend as their starts do.
    let first = items.partitioningIndex { $0.range.upperBound > range.lowerBound }
    let end = items.partitioningIndex { $0.offset >= range.upperBound }
    return items[first..<max(first, end)]
  }
}

extension Array {
  /// The first index whose element satisfies `predicate`, which must be false before and true behind one place.
  fileprivate func partitioningIndex(_ predicate: (Element) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if predicate(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
